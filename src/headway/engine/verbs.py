"""What a policy can do. Verbs are the only writers of jobs, runs and pools.

A verb that cannot be done sets the fault and changes nothing; the engine then stops the run with an
explanation that names the job and the instant.
"""

from __future__ import annotations

from headway.engine.shares import free_shares, keep_aside, propose_again, proposed_cpus, take_shares
from headway.engine.tables import OPEN, Clock, Ended, Fault, Job, Phase, Pool, Run, Share, State, Table, Why
from headway.jit.kernels import kernel

NOBODY = -1
"""The job of a fault that concerns no job."""


@kernel
def refuse(state: State, fault: int, job: int) -> bool:
    """Note the first fault of the run."""
    if state.clock[Clock.FAULT] == Fault.NONE:
        state.clock[Clock.FAULT] = fault
        state.clock[Clock.FAULT_JOB] = job
    return False


@kernel
def has_room(state: State, count: int, table: Table) -> bool:
    """Whether a policy's table with ``count`` entries has room for another; refused where it has not."""
    return count < table.shape[-1] or refuse(state, Fault.NO_ROOM, NOBODY)


@kernel
def start(state: State, job: int, pool: int, why: int) -> bool:
    """Start a waiting job now."""
    return start_late(state, job, pool, why, 0, state.jobs[Job.WALL, job])


@kernel
def start_late(state: State, job: int, pool: int, why: int, lead: int, limit: int) -> bool:
    """Give a waiting job its processors now; its program begins ``lead`` later, and it ends by ``limit``."""
    if state.jobs[Job.PHASE, job] != Phase.WAITING:
        return refuse(state, Fault.NOT_WAITING, job)
    if state.jobs[Job.PROCS, job] > state.pools[Pool.FREE, pool]:
        return refuse(state, Fault.TOO_WIDE, job)
    log_run(state, job, pool, why, lead, limit)
    state.clock[Clock.WAITS] -= 1
    return True


@kernel
def start_on_nodes(state: State, job: int, count: int, why: int, lead: int, limit: int) -> bool:
    """Start a waiting job now on the ``count`` nodes that were proposed (see :mod:`headway.engine.shares`).

    The job's processors are from now on the CPUs that it got.
    """
    if state.jobs[Job.PHASE, job] != Phase.WAITING:
        return refuse(state, Fault.NOT_WAITING, job)
    cpus = proposed_cpus(state, count)
    if cpus < 0 or cpus > state.pools[Pool.FREE, 0]:
        return refuse(state, Fault.NODE_FULL, job)
    state.jobs[Job.PROCS, job] = cpus
    log_run(state, job, 0, why, lead, limit)
    take_shares(state, count)
    state.clock[Clock.WAITS] -= 1
    return True


@kernel
def log_run(state: State, job: int, pool: int, why: int, lead: int, limit: int) -> None:
    """Open a run now."""
    run = state.clock[Clock.RUNS]
    state.clock[Clock.RUNS] = run + 1
    now = state.clock[Clock.NOW]
    state.runs[Run.JOB, run] = job
    state.runs[Run.START, run] = now
    state.runs[Run.END, run] = OPEN
    state.runs[Run.POOL, run] = pool
    state.runs[Run.WHY, run] = why
    state.runs[Run.EXPECTED, run] = now + state.jobs[Job.PLAN, job]
    state.runs[Run.LEAD, run] = lead
    state.runs[Run.LIMIT, run] = limit
    state.runs[Run.SHARE, run] = state.clock[Clock.SHARES]
    state.runs[Run.DRAINING, run] = 0
    state.pools[Pool.FREE, pool] -= state.jobs[Job.PROCS, job]
    state.jobs[Job.PHASE, job] = Phase.RUNNING
    state.jobs[Job.RUN, job] = run
    state.clock[Clock.RUNS_NOW] += 1


@kernel
def stop(state: State, run: int, ended: int) -> None:
    """End a run now and free its processors."""
    state.runs[Run.END, run] = state.clock[Clock.NOW]
    state.runs[Run.ENDED, run] = ended
    state.pools[Pool.FREE, state.runs[Run.POOL, run]] += state.jobs[Job.PROCS, state.runs[Run.JOB, run]]
    state.clock[Clock.RUNS_NOW] -= 1
    if state.clock[Clock.SHARES] > 0:
        free_shares(state, state.nodes, run)


@kernel
def kill(state: State, job: int, ended: int) -> bool:
    """Stop a running job: its work is lost, also what suspensions kept of it, and it waits again."""
    if state.jobs[Job.PHASE, job] != Phase.RUNNING:
        return refuse(state, Fault.NOT_RUNNING, job)
    stop(state, state.jobs[Job.RUN, job], ended)
    state.jobs[Job.KEPT, job] = 0
    state.jobs[Job.PHASE, job] = Phase.WAITING
    state.clock[Clock.WAITS] += 1
    return True


@kernel
def lose(state: State, job: int, ended: int) -> bool:
    """Stop a running job for good: its work is lost, and it does not wait again."""
    if state.jobs[Job.PHASE, job] != Phase.RUNNING:
        return refuse(state, Fault.NOT_RUNNING, job)
    stop(state, state.jobs[Job.RUN, job], ended)
    state.jobs[Job.PHASE, job] = Phase.DONE
    state.clock[Clock.FINISHED] += 1
    return True


@kernel
def suspend(state: State, job: int) -> bool:
    """Stop a running job and keep its work; others can use its processors meanwhile."""
    if state.jobs[Job.PHASE, job] != Phase.RUNNING:
        return refuse(state, Fault.NOT_RUNNING, job)
    run = state.jobs[Job.RUN, job]
    done = state.clock[Clock.NOW] - state.runs[Run.START, run] - state.runs[Run.LEAD, run]
    state.jobs[Job.KEPT, job] += max(done, 0)
    stop(state, run, Ended.BY_SUSPENSION)
    state.jobs[Job.PHASE, job] = Phase.SUSPENDED
    state.clock[Clock.SUSPENDS] += 1
    return True


@kernel
def resume(state: State, job: int, lead: int) -> bool:
    """Resume a suspended job in its pool; its program continues ``lead`` later."""
    if state.jobs[Job.PHASE, job] != Phase.SUSPENDED:
        return refuse(state, Fault.NOT_SUSPENDED, job)
    pool, kept = state.runs[Run.POOL, state.jobs[Job.RUN, job]], state.jobs[Job.KEPT, job]
    if state.jobs[Job.PROCS, job] > state.pools[Pool.FREE, pool]:
        return refuse(state, Fault.TOO_WIDE, job)
    log_run(state, job, pool, Why.RESUMED, lead, lead + state.jobs[Job.WALL, job] - kept)
    state.clock[Clock.SUSPENDS] -= 1
    state.runs[Run.EXPECTED, state.jobs[Job.RUN, job]] += lead - kept
    return True


@kernel
def suspend_on_nodes(state: State, job: int) -> bool:
    """Stop a running job on named nodes and keep its work: others may use its CPUs meanwhile.

    It keeps its memory and its further resources.
    """
    if not suspend(state, job):
        return False
    keep_aside(state, state.jobs[Job.RUN, job], 1)
    return True


@kernel
def start_suspended(state: State, job: int, count: int, why: int, limit: int) -> bool:
    """Start a waiting job on the ``count`` nodes proposed and suspend it at once: others use its CPUs.

    It holds its memory and further resources from now on; after it resumes, it ends by ``limit``.
    """
    if state.jobs[Job.PHASE, job] != Phase.WAITING:
        return refuse(state, Fault.NOT_WAITING, job)
    first, cpus = state.clock[Clock.SHARES], 0
    for entry in range(first, first + count):
        cpus += state.shares[Share.CPUS, entry]
    state.jobs[Job.PROCS, job] = cpus
    log_run(state, job, 0, why, 0, limit)
    state.clock[Clock.SHARES] += count
    run = state.jobs[Job.RUN, job]
    state.runs[Run.END, run] = state.clock[Clock.NOW]
    state.runs[Run.ENDED, run] = Ended.BY_SUSPENSION
    state.pools[Pool.FREE, 0] += cpus
    state.clock[Clock.RUNS_NOW] -= 1
    state.clock[Clock.WAITS] -= 1
    state.jobs[Job.PHASE, job] = Phase.SUSPENDED
    state.clock[Clock.SUSPENDS] += 1
    keep_aside(state, run, 1)
    return True


@kernel
def resume_on_nodes(state: State, job: int, limit: int) -> bool:
    """Let a suspended job go on with the shares of nodes that it had; it ends by ``limit`` (µs from now)."""
    if state.jobs[Job.PHASE, job] != Phase.SUSPENDED:
        return refuse(state, Fault.NOT_SUSPENDED, job)
    run = state.jobs[Job.RUN, job]
    keep_aside(state, run, -1)
    count = propose_again(state, run)
    cpus = proposed_cpus(state, count)
    if cpus < 0 or cpus > state.pools[Pool.FREE, 0]:
        keep_aside(state, run, 1)
        return refuse(state, Fault.NODE_FULL, job)
    log_run(state, job, 0, Why.RESUMED, 0, limit)
    take_shares(state, count)
    state.clock[Clock.SUSPENDS] -= 1
    state.runs[Run.EXPECTED, state.jobs[Job.RUN, job]] -= state.jobs[Job.KEPT, job]
    return True


@kernel
def end_suspended(state: State, job: int, ended: int, again: bool) -> bool:
    """End a suspended job on named nodes: its work is lost, and it waits ``again`` or for good.

    The log of runs has its end as a run of no length on the same nodes.
    """
    if state.jobs[Job.PHASE, job] != Phase.SUSPENDED:
        return refuse(state, Fault.NOT_SUSPENDED, job)
    before = state.jobs[Job.RUN, job]
    keep_aside(state, before, -1)
    count = propose_again(state, before)
    log_run(state, job, 0, Why.RESUMED, 0, 0)
    state.clock[Clock.SHARES] += count
    run = state.jobs[Job.RUN, job]
    state.runs[Run.END, run] = state.clock[Clock.NOW]
    state.runs[Run.ENDED, run] = ended
    state.pools[Pool.FREE, 0] += state.jobs[Job.PROCS, job]
    state.clock[Clock.RUNS_NOW] -= 1
    state.clock[Clock.SUSPENDS] -= 1
    state.jobs[Job.KEPT, job] = 0
    if again:
        state.jobs[Job.PHASE, job] = Phase.WAITING
        state.clock[Clock.WAITS] += 1
    else:
        state.jobs[Job.PHASE, job] = Phase.DONE
        state.clock[Clock.FINISHED] += 1
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
    if state.jobs[Job.PHASE, job] != Phase.WAITING:
        return refuse(state, Fault.NOT_WAITING, job)
    state.jobs[Job.PHASE, job] = phase
    state.clock[Clock.WAITS] -= 1
    return True


@kernel
def resubmit(state: State, job: int, walltime: int, plan: int) -> bool:
    """A waiting job is a new one from now on, with this walltime and planned time (µs)."""
    if state.jobs[Job.PHASE, job] != Phase.WAITING:
        return refuse(state, Fault.NOT_WAITING, job)
    state.jobs[Job.SUBMIT, job] = state.clock[Clock.NOW]
    state.jobs[Job.WALL, job] = walltime
    state.jobs[Job.PLAN, job] = plan
    return True


@kernel
def keep_work(state: State, job: int, done: int) -> None:
    """So much of a stopped job's work (µs) is kept although it waits again."""
    state.jobs[Job.KEPT, job] += done


@kernel
def reshape(state: State, job: int, procs: int, walltime: int, by: int, over: int) -> bool:
    """Give a waiting job another size and the times it has with it: run times are the log's x by / over."""
    if state.jobs[Job.PHASE, job] != Phase.WAITING:
        return refuse(state, Fault.NOT_WAITING, job)
    state.jobs[Job.PROCS, job] = procs
    state.jobs[Job.WALL, job] = state.jobs[Job.PLAN, job] = walltime
    stretch(state, job, by, over)
    return True


@kernel
def stretch(state: State, job: int, by: int, over: int) -> None:
    """A job's run times are the log's x by / over; the log's where over is 0 or as much."""
    state.jobs[Job.STRETCH_BY, job] = by
    state.jobs[Job.STRETCH_OVER, job] = 0 if by == over else over


@kernel
def relabel(state: State, run: int, why: int) -> None:
    """Say otherwise why a run started."""
    state.runs[Run.WHY, run] = why


@kernel
def expect(state: State, run: int, end: int) -> None:
    """Expect a run to end at ``end`` from now on."""
    state.runs[Run.EXPECTED, run] = end


@kernel
def wake(state: State, t: int) -> None:
    """Ask for a pass at ``t`` even if nothing happens then; the earliest request of a pass counts."""
    if t < state.clock[Clock.NOW]:
        refuse(state, Fault.SLEPT, NOBODY)
    elif t < state.clock[Clock.WAKE]:
        state.clock[Clock.WAKE] = t


@kernel
def ask(state: State) -> None:
    """Ask the owner of the simulation: the instant stays open, and the policy has another turn at it then."""
    state.clock[Clock.HELD] = 2
