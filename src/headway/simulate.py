"""Run a workload on a platform under a policy, and get a schedule."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headway.engine.compiled import compiled_hook, compiled_loop
from headway.engine.driver import run
from headway.engine.outages import ChangingMachine
from headway.engine.setup import Jobs
from headway.errors import UsageError
from headway.outcome import Ran, result_of
from headway.plain import Notify, Progress
from headway.platform import Platform
from headway.policies.prepare import Arrivals, Prepared, Sets
from headway.policies.spec import Spec, parse_spec
from headway.result import Result
from headway.workload import Workload
from headway.workload.cancelled import ended_only, ran_only
from headway.workload.impossible import refuse_impossible


def simulate(
    workload: Workload,
    platform: Platform | int,
    policy: str | Spec | object,
    *,
    seed: int = 0,
    progress: Progress | None = None,
    notify: Notify | None = None,
) -> Result:
    """Run ``workload`` on ``platform`` under ``policy`` and return the schedule.

    ``platform`` may be a number of processors, ``policy`` a text, or a policy of your own: a function of the
    view, or an object with a method ``decide(view)``. ``progress`` is called with (finished jobs, all jobs)
    from time to time. ``notify`` is called with one line if the workload has no jobs of the kind that the
    policy is for.
    """
    ran = run_policy(workload, platform, policy, progress, notify)
    return result_of(ran, {"seed": seed, **ran.provenance})


def run_policy(
    workload: Workload,
    platform: Platform | int,
    policy: str | Spec | object,
    progress: Progress | None = None,
    notify: Notify | None = None,
) -> Ran:
    """The simulation itself, as the engine's tables; :func:`simulate` makes a schedule of them."""
    machine = Platform.procs(platform) if isinstance(platform, (int, np.integer)) else platform
    if not isinstance(machine, Platform):
        raise UsageError(
            f"{platform!r:.60} is not a platform; give a number of processors, or headway.Platform.load(file)"
        )
    if not isinstance(workload, Workload):
        raise UsageError(f"{workload!r:.60} is not a workload; read a log with headway.read(file)")
    workload = ended_only(workload)
    placed = parse_spec(policy).policy.to_run(machine, workload)
    kept = placed.fitting(workload if placed.takes_cancelled else ran_only(workload), machine)
    if "follows" in kept:
        from headway.workload.transform.feedback import with_known_leaders

        kept = with_known_leaders(kept)
    refuse_impossible(kept)
    wall, cpu = time.perf_counter(), time.thread_time()
    order, submit, size, walltime, runtime, length, numbers = kept.in_order
    columns = kept.columns
    extra = {name: columns[name][order] for name in placed.columns if name in columns}
    if placed.in_file_order:
        extra["file_place"] = order
    arrivals = Arrivals(
        submit,
        size,
        walltime,
        length,
        extra,
        machine,
        origin=kept.header.unix_start or 0,
        labels=dict(kept.labels),
    )
    prepare = placed.prepare if "follows" not in kept else placed.prepare_joining
    prepared = prepare(arrivals, machine.clusters[0].procs)
    if notify is not None and prepared.remark:
        notify(prepared.remark)
    if prepared.setup.drive is None or prepared.hooks:
        warm(prepared)
    wall_run, cpu_run = time.perf_counter(), time.thread_time()
    jobs = Jobs(submit, size, walltime, runtime, prepared.plan, numbers)
    changing = changing_machine(machine, submit)
    if changing is not None:
        prepared = replace(
            prepared,
            setup=replace(prepared.setup, machine=changing),
            sets=lambda state: Sets(changing.processors(state)),
        )
    submissions = placed.submissions(kept, order)
    once = prepared.again is None and prepared.setup.drive is None
    state = run(jobs, prepared.setup.with_submissions(submissions, again=not once), progress)
    while prepared.again is not None and (setup := prepared.again(state)) is not None:
        state = run(jobs, setup.with_submissions(submissions), progress)
    timing = {
        "wall_seconds": time.perf_counter() - wall,
        "cpu_seconds": time.thread_time() - cpu,
        "simulation_wall_seconds": time.perf_counter() - wall_run,
        "simulation_cpu_seconds": time.thread_time() - cpu_run,
    }
    return Ran(placed, prepared, state, machine, kept, jobs, order, submissions, changing, timing)


def changing_machine(platform: Platform, submit: NDArray[np.int64]) -> ChangingMachine | None:
    """The machine as the engine has it, where its processors come and go; ``submit`` is in order of time."""
    if platform.outages is None:
        return None
    first, last = (int(submit[0]), int(submit[-1])) if len(submit) else (0, 0)
    procs = platform.total_procs
    return ChangingMachine(platform.outages.on(procs, last), procs, first)


def warm(prepared: Prepared) -> None:
    """Load what this policy needs, or compile it."""
    if prepared.loop is None:
        compiled_loop(prepared.setup.memory)
    for hook, memory in prepared.hooks or ((prepared.setup.hook, prepared.setup.memory),):
        compiled_hook(hook, memory)
