"""Puts a workload, a platform and a policy together, and gives a schedule."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.platform import Platform
from headway.policies.spec import Spec, parse_spec
from headway.result import Result
from headway.schedule.moves import Moves
from headway.workload import LedgerEntry, Workload

if TYPE_CHECKING:
    from headway.engine.outages import ChangingMachine
    from headway.engine.submissions import Submissions
    from headway.engine.tables import State
    from headway.policies.policy import Policy
    from headway.policies.prepare import Prepared

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
) -> Result:
    """Run ``workload`` on ``platform`` under ``policy`` and return the schedule.

    ``platform`` may be a number of processors, ``policy`` a text, or a policy of your own: a function of the
    view, or an object with a method ``decide(view)``. ``progress`` is told (finished jobs, all jobs) now and
    then, ``notify`` gets one line when a policy is compiled for the first time on this machine, and when the
    workload has nothing that the policy is for.
    """
    from headway.engine.drive import Jobs, counts
    from headway.engine.driver import run
    from headway.engine.tables import RUN
    from headway.outcome import as_run, outcome, select_jobs, take_nodes, take_places, with_lost
    from headway.policies.prepare import Arrivals, Sets

    machine = Platform.procs(platform) if isinstance(platform, int) else platform
    placed = parse_spec(policy).policy.on(machine, workload)
    placed.refuse_outages(machine)
    placed.refuse_feedback(workload)
    spec, pools = placed.spec, placed.pools(machine)
    kept = with_known_leaders(placed.fitting(workload, machine))
    wall, cpu = time.perf_counter(), time.thread_time()
    order = order_of_submission(kept.submit)
    submit, size, walltime, runtime = (
        kept.columns[name][order] for name in ("submit", "procs", "walltime", "runtime")
    )
    extra = {name: kept.columns[name][order] for name in placed.columns if name in kept}
    if placed.in_file_order:
        extra["file_place"] = order
    arrivals = Arrivals(
        submit,
        size,
        walltime,
        np.minimum(runtime, walltime),
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
        warm(prepared, spec, notify)
    wall_run, cpu_run = time.perf_counter(), time.thread_time()
    jobs = Jobs(submit, size, walltime, runtime, prepared.plan, kept.columns["job"][order])
    changing = changing_machine(machine, submit)
    if changing is not None:
        prepared = replace(
            prepared,
            setup=replace(prepared.setup, machine=changing),
            sets=lambda state: Sets(changing.processors(state)),
        )
    submissions = submissions_of(placed, kept, order)
    once = prepared.again is None and prepared.setup.drive is None
    state = run(jobs, prepared.setup.with_submissions(submissions, again=not once), progress)
    while prepared.again is not None and (setup := prepared.again(state)) is not None:
        state = run(jobs, setup.with_submissions(submissions), progress)
    if submissions is not None:
        order = order[submissions.jobs_by_column()]
        kept = as_submitted(kept, submissions, order)
    timing = {
        "wall_seconds": time.perf_counter() - wall,
        "cpu_seconds": time.thread_time() - cpu,
        "simulation_wall_seconds": time.perf_counter() - wall_run,
        "simulation_cpu_seconds": time.thread_time() - cpu_run,
    }
    sets = None if prepared.sets is None else prepared.sets(state)
    columns = outcome(state, order, tuple(prepared.groups), prepared.lead, prepared.nodes, sets)
    columns |= as_run(state, order, kept.runtime)
    if changing is not None:
        machine = machine.with_outages(changing.happened(state))
    if changing is not None or prepared.on_nodes is not None:
        kept = with_lost(columns, kept, state, order)
    if prepared.on_nodes is not None:
        take_nodes(columns, state, order, prepared.on_nodes(state))
    columns.pop("entries", None)
    ran, notes = np.ones(len(order), np.bool_), {}
    ran[order] = state.jobs[RUN] >= 0
    if prepared.notes is not None:
        place_of = np.argsort(order, kind="stable")
        noted = prepared.notes(state, kept.columns["job"][order])
        notes = {name: column[place_of][ran] for name, column in noted.items()}
    if not ran.all():
        reasons = {int(order[job]): reason(prepared, state, job, submissions) for job in gone(state)}
        kept = without_refused(kept, reasons)
        columns = select_jobs(columns, ran)
    if columns.get("pieces") is not None and columns["pieces"].is_resumed:
        runtime, walltime = columns.get("runtime", kept.runtime), columns.get("walltime", kept.walltime)
        columns["waiting"] = columns["end"] - kept.submit - np.minimum(runtime, walltime)
    take_places(columns, [cluster.name for cluster in machine.clusters], prepared.sites, placed.is_grid)
    if prepared.moves is not None:
        made = prepared.moves(state)
        columns["moves"] = Moves(**{**made, "job": (np.cumsum(ran) - 1)[order[made["job"]]]})
    groups = {} if placed.is_grid else prepared.groups
    return Result(
        workload=kept,
        platform=machine,
        policy=str(spec),
        **columns,
        promise_kind=prepared.promise_kind,
        capacity=sum(pool.procs for pool in pools),
        groups=groups if prepared.sites is None else prepared.sites.groups,
        own={} if prepared.own is None else prepared.own(state),
        notes=notes,
        provenance={
            "seed": seed,
            **({"policy_source": prepared.source} if prepared.source else {}),
            **counts(state),
            "timing": timing,
        },
    )


def order_of_submission(submit: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of the jobs in order of submission, then of the file: the order that most logs have."""
    sorted_already = bool((submit[1:] >= submit[:-1]).all())
    return np.arange(len(submit)) if sorted_already else np.argsort(submit, kind="stable")


def with_known_leaders(workload: Workload) -> Workload:
    """The workload where nobody waits for a job that is not simulated; the ledger has those who would."""
    follows = workload.get("follows")
    if follows is None:
        return workload
    lost = (follows >= 0) & ~np.isin(follows, workload.job)
    action = "the job that its user waited for is not simulated: submitted when the log says"
    entry = LedgerEntry.of("feedback", action, workload.job[lost], dropped=False)
    told = workload.with_ledger(workload.ledger.with_entries(entry))
    return told.with_columns(follows=np.where(lost, -1, follows), think=np.where(lost, -1, workload.think))


def submissions_of(policy: Policy, workload: Workload, order: NDArray[np.int64]) -> Submissions | None:
    """Who is submitted after whose end, in the engine's order; None where all are submitted by the log."""
    from headway.engine.submissions import Submissions, SubmissionsInPlace
    from headway.schedule.pieces_file import rows_of

    follows = workload.get("follows")
    if follows is None:
        return None
    place = np.argsort(order, kind="stable")
    leader = np.full(len(workload), -1, np.int64)
    leader[follows >= 0] = place[rows_of(workload, follows[follows >= 0])[1]]
    kind = SubmissionsInPlace if policy.in_place else Submissions
    return kind(leader[order], workload.think[order], order, policy.not_of_jobs)


def as_submitted(workload: Workload, submissions: Submissions, order: NDArray[np.int64]) -> Workload:
    """The workload as its jobs were submitted in the simulation, beside the times of the log."""
    submit = workload.submit.copy()
    submit[order[: len(submissions.times)]] = submissions.times
    logged = workload.get("trace_submit")
    return workload.with_columns(submit=submit, trace_submit=workload.submit if logged is None else logged)


def gone(state: State) -> list[int]:
    """The engine's jobs that never ran."""
    from headway.engine.tables import RUN

    return [int(job) for job in np.flatnonzero(state.jobs[RUN] < 0)]


def reason(prepared: Prepared, state: State, job: int, submissions: Submissions | None) -> tuple[str, str]:
    """Rule and action of the ledger for a job that never ran."""
    from headway.engine.tables import FUTURE, PHASE

    if submissions is not None and state.jobs[PHASE, job] == FUTURE:
        return "feedback", "the job that its user waited for never ended: not submitted"
    return prepared.refused(state, job)


def without_refused(workload: Workload, reasons: dict[int, tuple[str, str]]) -> Workload:
    """The workload without some jobs (by place), with an entry of the ledger for each rule and action."""
    place = np.arange(len(workload))
    for rule, action in sorted(set(reasons.values())):
        rows = [row for row, reason in reasons.items() if reason == (rule, action)]
        stays = ~np.isin(place, rows)
        workload, place = workload.select(stays, rule=rule, action=action), place[stays]
    return workload


def changing_machine(platform: Platform, submit: NDArray[np.int64]) -> ChangingMachine | None:
    """The machine as the engine has it, where its processors come and go; ``submit`` is in order of time."""
    if platform.outages is None:
        return None
    from headway.engine.outages import ChangingMachine

    first, last = (int(submit[0]), int(submit[-1])) if len(submit) else (0, 0)
    procs = platform.total_procs
    return ChangingMachine(platform.outages.on(procs, last), procs, first)


def warm(prepared: Prepared, spec: Spec, notify: Notify | None) -> None:
    """Compile what this policy needs; say so when it is not in the cache."""
    from headway.engine import clock
    from headway.engine.drive import compiled_hook, compiled_loop, is_cached
    from headway.jit_cache import keeping

    hooks, memory = prepared.hooks or (prepared.setup.hook,), prepared.setup.memory
    loop = prepared.loop or clock.loop
    if notify is not None and not all(is_cached(hook, loop) for hook in hooks):
        why_not = keeping().why_not
        often = f"in every run, because {why_not}" if why_not else "once for this machine"
        notify(f"compiling {spec.name}, {often} ...")
    if prepared.loop is None:
        compiled_loop(memory)
    for hook in hooks:
        compiled_hook(hook, memory)
