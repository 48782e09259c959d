"""How a waiting job leaves the plan of UJFB, how a newcomer joins it, and what a trial of it needs."""

from __future__ import annotations

from headway.engine.local import JOIN
from headway.engine.profile import change
from headway.engine.queue import find_job, leave
from headway.engine.reservations import NOT_RESERVED, unpin
from headway.engine.tables import JobTable, State
from headway.engine.verbs import withdraw
from headway.jit.kernels import entry, routine
from headway.policies.queueing.strict import MACHINE
from headway.policies.urgent import plan, tables
from headway.policies.urgent.processors import is_urgent


@routine
def number_shape(state: State, column: int) -> None:
    """Jobs of one size and length share a number, those of others have another one."""
    jobs = tables.UjfbJobs(state.jobs)
    jobs = tables.UjfbJobs(state.jobs)
    procs, plan, number = jobs.procs[column], jobs.plan[column], 0
    for other in range(column):
        if jobs.procs[other] == procs and jobs.plan[other] == plan:
            jobs.shape_number[column] = jobs.shape_number[other]
            return
        number = max(number, jobs.shape_number[other] + 1)
    if number > column:  # newcomers that were taken out have left gaps
        number, other = 0, 0
        while other < column:  # the first number that none of them has
            other += 1
            if jobs.shape_number[other - 1] == number:
                number, other = number + 1, 0
    jobs.shape_number[column] = number
    jobs.shape_plan[number] = jobs.shape_start[number] = 0  # nothing is known of it yet


@entry
def of_ujfb(t: int, state: State, job: int, request: int) -> None:
    """The plan gives back what it held, and is made again in the policy's turn."""
    if request == JOIN:
        number_shape(state, job)
        return
    place, begin = find_job(state, plan.Q, JobTable["key"], job), state.jobs.reserved[job]
    if place < plan.planned_place(state) and begin != NOT_RESERVED:
        change(state.profile, MACHINE, begin, begin + state.jobs.plan[job], state.jobs.procs[job], t)
        if state.jobs.plan[job] == 0:
            unpin(state, MACHINE, job)
    leave(state, plan.Q, place)
    if is_urgent(state, job):
        state.memory.notes.urgent_waiting -= 1
    state.memory.notes.changed = 1
    withdraw(state, job)


def without_record(memory: tables.Memory) -> tables.Memory:
    """UJFB's memory with no space in the record of processors, which a trial does not need."""
    return memory._replace(record=memory.record[:0])
