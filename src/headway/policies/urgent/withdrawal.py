"""How a waiting job leaves the plan of UJFB, how a newcomer joins it, and what a trial of it needs."""

from __future__ import annotations

from headway.engine.local import JOIN
from headway.engine.profile import change
from headway.engine.queue import find_job, leave
from headway.engine.reservations import NOT_RESERVED, unpin
from headway.engine.tables import Job, State, Table
from headway.engine.verbs import withdraw
from headway.jit.kernels import entry, routine
from headway.policies.queueing.strict import MACHINE
from headway.policies.urgent import plan, tables
from headway.policies.urgent.processors import is_urgent


@routine
def number_shape(jobs: Table, column: int) -> None:
    """Jobs of one size and length share a number, those of others have another one."""
    procs, plan, number = jobs[Job.PROCS, column], jobs[Job.PLAN, column], 0
    for other in range(column):
        if jobs[Job.PROCS, other] == procs and jobs[Job.PLAN, other] == plan:
            jobs[tables.UjfbJob.SHAPE, column] = jobs[tables.UjfbJob.SHAPE, other]
            return
        number = max(number, jobs[tables.UjfbJob.SHAPE, other] + 1)
    if number > column:  # newcomers that were taken out have left gaps
        number, other = 0, 0
        while other < column:  # the first number that none of them has
            other += 1
            if jobs[tables.UjfbJob.SHAPE, other - 1] == number:
                number, other = number + 1, 0
    jobs[tables.UjfbJob.SHAPE, column] = number
    jobs[tables.UjfbJob.SHAPE_PLAN, number] = jobs[tables.UjfbJob.SHAPE_START, number] = (
        0  # nothing is known of it yet
    )


@entry
def of_ujfb(t: int, state: State, job: int, request: int) -> None:
    """The plan gives back what it held, and is made again in the policy's turn."""
    if request == JOIN:
        number_shape(state.jobs, job)
        return
    place, begin = find_job(state, plan.Q, Job.KEY, job), state.jobs[Job.RESERVED, job]
    if place < plan.planned_place(state) and begin != NOT_RESERVED:
        change(
            state.profile, MACHINE, begin, begin + state.jobs[Job.PLAN, job], state.jobs[Job.PROCS, job], t
        )
        if state.jobs[Job.PLAN, job] == 0:
            unpin(state, MACHINE, job)
    leave(state, plan.Q, place)
    if is_urgent(state, job):
        tables.count(state, tables.Note.URGENT_WAITING, -1)
    state.memory.notes[tables.Note.CHANGED] = 1
    withdraw(state, job)


def without_record(memory: tables.Memory) -> tables.Memory:
    """UJFB's memory with no space in the record of processors, which a trial does not need."""
    return memory._replace(record=memory.record[:0])
