"""Puts a workload, a platform and a policy together, and gives a schedule."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.errors import UsageError
from headway.platform import Platform
from headway.policies.spec import Spec, parse_spec
from headway.schedule import Schedule
from headway.workload import Workload

Progress = Callable[[int, int], None]
Notify = Callable[[str], None]


def simulate(
    workload: Workload,
    platform: Platform | int,
    policy: str | Spec | object,
    *,
    seed: int = 0,
    progress: Progress | None = None,
    notify: Notify | None = None,
) -> Schedule:
    """Run ``workload`` on ``platform`` under ``policy`` and return the schedule.

    ``platform`` may be a number of processors, ``policy`` a text, or a policy of your own: a function of the
    view, or an object with a method ``decide(view)``. ``progress`` is told (finished jobs, all jobs) now and
    then, ``notify`` gets one line when a policy is compiled for the first time on this machine.
    """
    from headway.engine.drive import Jobs, counts, run
    from headway.policies.prepare import Arrivals, prepare

    machine = Platform.procs(platform) if isinstance(platform, int) else platform
    spec = parse_spec(policy)
    if len(machine.clusters) > 1:
        raise UsageError(
            f"{spec.name} schedules one cluster and this platform has {len(machine.clusters)}; "
            "give a platform of one cluster"
        )
    procs = machine.total_procs
    kept = workload.fit_to(procs)
    wall, cpu = time.perf_counter(), time.process_time()
    order = np.argsort(kept.submit, kind="stable")
    submit, size, walltime, runtime = (
        kept.columns[name][order] for name in ("submit", "procs", "walltime", "runtime")
    )
    extra = {name: kept.columns[name][order] for name in visible(spec) if name in kept}
    arrivals = Arrivals(submit, size, walltime, np.minimum(runtime, walltime), extra)
    prepared = prepare(spec, arrivals, procs)
    if prepared.setup.drive is None:
        warm(prepared.setup.hook, spec, notify)
    wall_run, cpu_run = time.perf_counter(), time.process_time()
    jobs = Jobs(submit, size, walltime, runtime, prepared.plan, kept.columns["job"][order])
    state = run(jobs, prepared.setup, progress)
    timing = {
        "wall_seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "simulation_wall_seconds": time.perf_counter() - wall_run,
        "simulation_cpu_seconds": time.process_time() - cpu_run,
    }
    columns = final_runs(state, order)
    return Schedule(
        workload=kept,
        platform=machine,
        policy=str(spec),
        **columns,
        promise_kind=prepared.promise_kind,
        capacity=procs,
        own={} if prepared.own is None else prepared.own(state),
        provenance={
            "seed": seed,
            **({"policy_source": prepared.source} if prepared.source else {}),
            **counts(state),
            "timing": timing,
        },
    )


def visible(spec: Spec) -> tuple[str, ...]:
    """Columns that a policy may look at besides submit, procs and walltime."""
    if not spec.uses_own:
        return ("urgent",)
    from headway.policies.own.view import PUBLIC

    return PUBLIC


def final_runs(state: Any, order: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Start, end, reason, kill and promise of each job's last run, in file order."""
    from headway.engine.tables import AT_WALLTIME, PROMISE, R_END, R_ENDED, R_START, R_WHY, RUN

    run = state.jobs[RUN]
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))

    def in_file_order(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return values[place]

    return {
        "start": in_file_order(state.runs[R_START, run]),
        "end": in_file_order(state.runs[R_END, run]),
        "why": in_file_order(state.runs[R_WHY, run]).astype(np.uint8),
        "killed": in_file_order(state.runs[R_ENDED, run]) == AT_WALLTIME,
        "promise": in_file_order(state.jobs[PROMISE]),
    }


def warm(hook: Callable[..., None], spec: Spec, notify: Notify | None) -> None:
    """Compile what this policy needs; say so when it is not in the cache."""
    from headway.engine.drive import compiled_hook, compiled_loop, is_cached

    if notify is not None and not is_cached(hook):
        notify(f"compiling {spec.name}, once for this machine ...")
    compiled_loop()
    compiled_hook(hook)
