"""Run a workload on a platform under a policy, and get a schedule."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from headway.engine.compiled import compiled_hook, compiled_loop
from headway.engine.driver import run
from headway.engine.outages import ChangingMachine
from headway.engine.setup import Jobs
from headway.engine.submissions import Submissions
from headway.engine.tables import State
from headway.errors import UsageError
from headway.outcome import Ran, result_of
from headway.plain import Notify, Progress
from headway.platform import Platform
from headway.policies.policy import Policy
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
    return begin(workload, platform, policy, notify).run(progress)


@dataclass(frozen=True)
class Begun:
    """A simulation that is ready to run: here, or on a GPU beside others."""

    policy: Policy
    prepared: Prepared
    platform: Platform
    workload: Workload
    jobs: Jobs
    order: NDArray[np.int64]
    submissions: Submissions | None
    changing: ChangingMachine | None
    since: tuple[float, float]
    """Wall and CPU time when it was begun."""

    @property
    def runs_beside_others(self) -> bool:
        """Whether one run of the engine, with nothing but its tables, is all of it."""
        return self.prepared.again is None and self.submissions is None and self.changing is None

    def run(self, progress: Progress | None = None) -> Ran:
        """Run it here, to the end."""
        prepared, jobs, submissions = self.prepared, self.jobs, self.submissions
        if prepared.setup.drive is None or prepared.hooks:
            warm(prepared)
        wall_run, cpu_run = time.perf_counter(), time.thread_time()
        once = prepared.again is None and prepared.setup.drive is None
        state = run(jobs, prepared.setup.with_submissions(submissions, again=not once), progress)
        while prepared.again is not None and (setup := prepared.again(state)) is not None:
            state = run(jobs, setup.with_submissions(submissions), progress)
        return self.ended(state, wall_run, cpu_run)

    def ended(self, state: State, wall_run: float, cpu_run: float) -> Ran:
        """What it came to; the simulation proper began at these times of the wall and of the CPU."""
        timing = {
            "wall_seconds": time.perf_counter() - self.since[0],
            "cpu_seconds": time.thread_time() - self.since[1],
            "simulation_wall_seconds": time.perf_counter() - wall_run,
            "simulation_cpu_seconds": time.thread_time() - cpu_run,
        }
        tables = self.policy, self.prepared, state, self.platform, self.workload, self.jobs, self.order
        return Ran(*tables, self.submissions, self.changing, timing)


def begin(
    workload: Workload, platform: Platform | int, policy: str | Spec | object, notify: Notify | None = None
) -> Begun:
    """Prepare a simulation: its jobs, its machine and what its policy needs of the engine."""
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
    jobs = Jobs(submit, size, walltime, runtime, prepared.plan, numbers)
    changing = changing_machine(machine, submit)
    if changing is not None:
        prepared = replace(
            prepared,
            setup=replace(prepared.setup, machine=changing),
            sets=lambda state: Sets(changing.processors(state)),
        )
    submissions = placed.submissions(kept, order)
    return Begun(placed, prepared, machine, kept, jobs, order, submissions, changing, (wall, cpu))


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
