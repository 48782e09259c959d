"""What a policy can do. Verbs are the only writers of jobs, runs and pools.

A verb that cannot be done sets the fault and changes nothing; the engine then stops the run with an
explanation that names the job and the instant.
"""

from __future__ import annotations

from headway.engine.shares import free_shares, keep_aside, propose_again, proposed_cpus, take_shares
from headway.engine.tables import (
    OPEN,
    Ended,
    Fault,
    Phase,
    State,
    Table,
    Why,
)
from headway.jit.kernels import kernel

NOBODY = -1
"""The job of a fault that concerns no job."""


@kernel
def refuse(state: State, fault: int, job: int) -> bool:
    """Note the first fault of the run."""
    if state.clock.fault == Fault.NONE:
        state.clock.fault = fault
        state.clock.fault_job = job
    return False


@kernel
def has_room(state: State, count: int, table: Table) -> bool:
    """Whether a policy's table with ``count`` entries has room for another; refused where it has not."""
    return count < table.shape[-1] or refuse(state, Fault.NO_ROOM, NOBODY)


@kernel
def start(state: State, job: int, pool: int, why: int) -> bool:
    """Start a waiting job now."""
    return start_late(state, job, pool, why, 0, state.jobs.wall[job])


@kernel
def start_late(state: State, job: int, pool: int, why: int, lead: int, limit: int) -> bool:
    """Give a waiting job its processors now; its program begins ``lead`` later, and it ends by ``limit``."""
    if state.jobs.phase[job] != Phase.WAITING:
        return refuse(state, Fault.NOT_WAITING, job)
    if state.jobs.procs[job] > state.pools.free[pool]:
        return refuse(state, Fault.TOO_WIDE, job)
    log_run(state, job, pool, why, lead, limit)
    state.clock.waits -= 1
    return True


@kernel
def start_on_nodes(state: State, job: int, count: int, why: int, lead: int, limit: int) -> bool:
    """Start a waiting job now on the ``count`` nodes that were proposed (see :mod:`headway.engine.shares`).

    The job's processors are from now on the CPUs that it got.
    """
    if state.jobs.phase[job] != Phase.WAITING:
        return refuse(state, Fault.NOT_WAITING, job)
    cpus = proposed_cpus(state, count)
    if cpus < 0 or cpus > state.pools.free[0]:
        return refuse(state, Fault.NODE_FULL, job)
    state.jobs.procs[job] = cpus
    log_run(state, job, 0, why, lead, limit)
    take_shares(state, count)
    state.clock.waits -= 1
    return True


@kernel
def log_run(state: State, job: int, pool: int, why: int, lead: int, limit: int) -> None:
    """Open a run now."""
    run = state.clock.runs
    state.clock.runs = run + 1
    now = state.clock.now
    state.runs.job[run] = job
    state.runs.start[run] = now
    state.runs.end[run] = OPEN
    state.runs.pool[run] = pool
    state.runs.why[run] = why
    state.runs.expected[run] = now + state.jobs.plan[job]
    state.runs.lead[run] = lead
    state.runs.limit[run] = limit
    state.runs.share[run] = state.clock.shares
    state.runs.draining[run] = 0
    state.pools.free[pool] -= state.jobs.procs[job]
    state.jobs.phase[job] = Phase.RUNNING
    state.jobs.run[job] = run
    state.clock.runs_now += 1


@kernel
def stop(state: State, run: int, ended: int) -> None:
    """End a run now and free its processors."""
    state.runs.end[run] = state.clock.now
    state.runs.ended[run] = ended
    state.pools.free[state.runs.pool[run]] += state.jobs.procs[state.runs.job[run]]
    state.clock.runs_now -= 1
    if state.clock.shares > 0:
        free_shares(state, state.nodes, run)


@kernel
def kill(state: State, job: int, ended: int) -> bool:
    """Stop a running job: its work is lost, also what suspensions kept of it, and it waits again."""
    if state.jobs.phase[job] != Phase.RUNNING:
        return refuse(state, Fault.NOT_RUNNING, job)
    stop(state, state.jobs.run[job], ended)
    state.jobs.kept[job] = 0
    state.jobs.phase[job] = Phase.WAITING
    state.clock.waits += 1
    return True


@kernel
def lose(state: State, job: int, ended: int) -> bool:
    """Stop a running job for good: its work is lost, and it does not wait again."""
    if state.jobs.phase[job] != Phase.RUNNING:
        return refuse(state, Fault.NOT_RUNNING, job)
    stop(state, state.jobs.run[job], ended)
    state.jobs.phase[job] = Phase.DONE
    state.clock.finished += 1
    return True


@kernel
def suspend(state: State, job: int) -> bool:
    """Stop a running job and keep its work; others can use its processors meanwhile."""
    if state.jobs.phase[job] != Phase.RUNNING:
        return refuse(state, Fault.NOT_RUNNING, job)
    run = state.jobs.run[job]
    done = state.clock.now - state.runs.start[run] - state.runs.lead[run]
    state.jobs.kept[job] += max(done, 0)
    stop(state, run, Ended.BY_SUSPENSION)
    state.jobs.phase[job] = Phase.SUSPENDED
    state.clock.suspends += 1
    return True


@kernel
def resume(state: State, job: int, lead: int) -> bool:
    """Resume a suspended job in its pool; its program continues ``lead`` later."""
    if state.jobs.phase[job] != Phase.SUSPENDED:
        return refuse(state, Fault.NOT_SUSPENDED, job)
    pool, kept = state.runs.pool[state.jobs.run[job]], state.jobs.kept[job]
    if state.jobs.procs[job] > state.pools.free[pool]:
        return refuse(state, Fault.TOO_WIDE, job)
    log_run(state, job, pool, Why.RESUMED, lead, lead + state.jobs.wall[job] - kept)
    state.clock.suspends -= 1
    state.runs.expected[state.jobs.run[job]] += lead - kept
    return True


@kernel
def suspend_on_nodes(state: State, job: int) -> bool:
    """Stop a running job on named nodes and keep its work: others may use its CPUs meanwhile.

    It keeps its memory and its further resources.
    """
    if not suspend(state, job):
        return False
    keep_aside(state, state.jobs.run[job], 1)
    return True


@kernel
def start_suspended(state: State, job: int, count: int, why: int, limit: int) -> bool:
    """Start a waiting job on the ``count`` nodes proposed and suspend it at once: others use its CPUs.

    It holds its memory and further resources from now on; after it resumes, it ends by ``limit``.
    """
    if state.jobs.phase[job] != Phase.WAITING:
        return refuse(state, Fault.NOT_WAITING, job)
    first, cpus = state.clock.shares, 0
    for entry in range(first, first + count):
        cpus += state.shares.cpus[entry]
    state.jobs.procs[job] = cpus
    log_run(state, job, 0, why, 0, limit)
    state.clock.shares += count
    run = state.jobs.run[job]
    state.runs.end[run] = state.clock.now
    state.runs.ended[run] = Ended.BY_SUSPENSION
    state.pools.free[0] += cpus
    state.clock.runs_now -= 1
    state.clock.waits -= 1
    state.jobs.phase[job] = Phase.SUSPENDED
    state.clock.suspends += 1
    keep_aside(state, run, 1)
    return True


@kernel
def resume_on_nodes(state: State, job: int, limit: int) -> bool:
    """Let a suspended job go on with the shares of nodes that it had; it ends by ``limit`` (µs from now)."""
    if state.jobs.phase[job] != Phase.SUSPENDED:
        return refuse(state, Fault.NOT_SUSPENDED, job)
    run = state.jobs.run[job]
    keep_aside(state, run, -1)
    count = propose_again(state, run)
    cpus = proposed_cpus(state, count)
    if cpus < 0 or cpus > state.pools.free[0]:
        keep_aside(state, run, 1)
        return refuse(state, Fault.NODE_FULL, job)
    log_run(state, job, 0, Why.RESUMED, 0, limit)
    take_shares(state, count)
    state.clock.suspends -= 1
    state.runs.expected[state.jobs.run[job]] -= state.jobs.kept[job]
    return True


@kernel
def end_suspended(state: State, job: int, ended: int, again: bool) -> bool:
    """End a suspended job on named nodes: its work is lost, and it waits ``again`` or for good.

    The log of runs has its end as a run of no length on the same nodes.
    """
    if state.jobs.phase[job] != Phase.SUSPENDED:
        return refuse(state, Fault.NOT_SUSPENDED, job)
    before = state.jobs.run[job]
    keep_aside(state, before, -1)
    count = propose_again(state, before)
    log_run(state, job, 0, Why.RESUMED, 0, 0)
    state.clock.shares += count
    run = state.jobs.run[job]
    state.runs.end[run] = state.clock.now
    state.runs.ended[run] = ended
    state.pools.free[0] += state.jobs.procs[job]
    state.clock.runs_now -= 1
    state.clock.suspends -= 1
    state.jobs.kept[job] = 0
    if again:
        state.jobs.phase[job] = Phase.WAITING
        state.clock.waits += 1
    else:
        state.jobs.phase[job] = Phase.DONE
        state.clock.finished += 1
    return True


@kernel
def turn_away(state: State, job: int) -> bool:
    """Refuse a waiting job: it is never run."""
    return leave_for_good(state, job, Phase.REFUSED)


@kernel
def withdraw(state: State, job: int) -> bool:
    """A waiting job is taken away: it waits elsewhere, or not at all."""
    return leave_for_good(state, job, Phase.WITHDRAWN)


@kernel
def leave_for_good(state: State, job: int, phase: int) -> bool:
    """A waiting job waits here no more."""
    if state.jobs.phase[job] != Phase.WAITING:
        return refuse(state, Fault.NOT_WAITING, job)
    state.jobs.phase[job] = phase
    state.clock.waits -= 1
    return True


@kernel
def resubmit(state: State, job: int, walltime: int, plan: int) -> bool:
    """A waiting job is a new one from now on, with this walltime and planned time (µs)."""
    if state.jobs.phase[job] != Phase.WAITING:
        return refuse(state, Fault.NOT_WAITING, job)
    state.jobs.submit[job] = state.clock.now
    state.jobs.wall[job] = walltime
    state.jobs.plan[job] = plan
    return True


@kernel
def keep_work(state: State, job: int, done: int) -> None:
    """So much of a stopped job's work (µs) is kept although it waits again."""
    state.jobs.kept[job] += done


@kernel
def reshape(state: State, job: int, procs: int, walltime: int, by: int, over: int) -> bool:
    """Give a waiting job another size and the times it has with it: run times are the log's x by / over."""
    if state.jobs.phase[job] != Phase.WAITING:
        return refuse(state, Fault.NOT_WAITING, job)
    state.jobs.procs[job] = procs
    state.jobs.wall[job] = state.jobs.plan[job] = walltime
    stretch(state, job, by, over)
    return True


@kernel
def stretch(state: State, job: int, by: int, over: int) -> None:
    """A job's run times are the log's x by / over; the log's where over is 0 or as much."""
    state.jobs.stretch_by[job] = by
    state.jobs.stretch_over[job] = 0 if by == over else over


@kernel
def relabel(state: State, run: int, why: int) -> None:
    """Say otherwise why a run started."""
    state.runs.why[run] = why


@kernel
def expect(state: State, run: int, end: int) -> None:
    """Expect a run to end at ``end`` from now on."""
    state.runs.expected[run] = end


@kernel
def wake(state: State, t: int) -> None:
    """Ask for a pass at ``t`` even if nothing happens then; the earliest request of a pass counts."""
    if t < state.clock.now:
        refuse(state, Fault.SLEPT, NOBODY)
    elif t < state.clock.wake:
        state.clock.wake = t


@kernel
def ask(state: State) -> None:
    """Ask the owner of the simulation: the instant stays open, and the policy has another turn at it then."""
    state.clock.held = 2
