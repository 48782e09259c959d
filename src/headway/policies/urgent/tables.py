"""Where UJFB keeps its parameters, its notes, and who has which processor.

All of it lies in ``state.options``, behind those of DBF: parameters, then notes, then tables with one entry
per processor, then the record of processor sets. Further rows of ``jobs`` hold what is known of each job.
"""

from __future__ import annotations

from headway.engine.reservations import NO_JOB as NO_JOB
from headway.engine.tables import JOB_ROWS, State
from headway.jit import kernel
from headway.policies.deadline import tables as dbf_tables
from headway.policies.queueing.ordering import STRIDE

# Parameters. HOST_ROOM is in kB (-1: no bound); NAMED says whether processors have names, which matters only
# where there are urgent jobs. The last five are readings of the paper: whether idle processors of suspended
# jobs are lent to regular ones, whether a victim is swapped out whole before any of its processors can be
# used, whether urgent jobs may outlive their walltime, whether killed jobs go to the end of the queue, and
# whether urgent jobs take idle processors before free ones.
(
    SIZE_OF_MACHINE,
    PREEMPT,
    VICTIMS,
    OVERTAKE,
    RESERVE,
    HOST_SIZE,
    HOST_ROOM,
    NAMED,
    RECORD_ROOM,
    LENDING,
    SWAPS_WHOLE,
    FINISHES,
    TO_THE_END,
    IDLE_FIRST,
) = range(STRIDE, STRIDE + 14)
PARAMETERS = STRIDE + 14
SUSPEND, KILL, DEGREE = range(3)
LATEST, SMALLEST, LARGEST = range(3)
NO_RESERVATION, BESIDE, PREEMPTING_THEN = range(3)

# Notes on the plan: up to which waiting job (key and number) it goes, whether something has changed under it,
# when its next regular job starts, the number of times it was begun anew, whether it holds waiting urgent
# jobs; how many urgent jobs wait. On processors: with no owner and no user; of suspended jobs and not lent;
# of running regular jobs; the lowest group of processors that may have a free one. Then suspended jobs,
# entries of the record, jobs that went to the end of the queue, when the first urgent job will have used up
# its request, and the urgent job that came last in this instant (-1: none).
# Counts for the summary: jobs stopped (each time), those that lost their work, urgent jobs that stopped
# some, urgent jobs that had to wait, sets that did not fit into the record. Of regular jobs with deadlines:
# those that were accepted with it, late on arrival, promoted, moved to a later start; how often the safety
# net was needed; deadlines that urgent jobs have broken.
(
    PLANNED_KEY,
    PLANNED_JOB,
    CHANGED,
    NEXT_START,
    PLANS,
    HOLDS_URGENT,
    URGENT_WAITING,
    UNOWNED,
    IDLE,
    PREEMPTIBLE,
    LOWEST_GROUP,
    ASIDE,
    RECORDED,
    REQUEUED,
    NEXT_OVERRUN,
    CAME,
    STOPPED,
    LOST,
    PREEMPTING,
    QUEUED,
    UNRECORDED,
    ACCEPTED_JOBS,
    LATE_ON_ARRIVAL,
    PROMOTIONS,
    DISPLACEMENTS,
    SAFETY_NET,
    BROKEN,
) = range(PARAMETERS, PARAMETERS + 27)
NOTES = PARAMETERS + 27
"""Where the tables begin."""

# Tables with one entry per processor: its owner (a regular job) and its user (an urgent one, or a guest), -1
# if none; the next processor of the same owner or user; free processors of each group; then lists of
# suspended jobs and of victims, and kB swapped out to each host.
OWNER, USER, NEXT_OWNED, NEXT_USED, FREE_IN_GROUP, SUSPENDED_JOBS, CANDIDATES, HOST_LOAD = range(8)
TABLES = 8
NO_PROCESSOR = -1

# Job rows: the first processor; until when the plan holds the job's processors; when it (last) started from
# the beginning; swap time (µs) and memory (kB a processor); of a suspended job how many of its processors
# are lent, and its place in the list; of an urgent job how many of its processors have no owner, and the
# delay by preemption (µs). SHAPE numbers jobs of equal size and length; the two rows behind it are of shapes.
# Then by whom a job was stopped last and how often, and whether its processors are in the record; how many
# were stopped for an urgent job; last, how long a job takes to be swapped in (µs), when it will have been
# swapped out, whether it is a guest on lent processors, and by whom its deadline was broken (-1: nobody).
# Deadlines are in DBF's rows, which are before these.
(
    FIRST_PROCESSOR,
    HELD_UNTIL,
    BEGUN,
    SWAP,
    MEMORY,
    LENT,
    ASIDE_PLACE,
    OWN_ALONE,
    DELAY,
    SHAPE,
    SHAPE_PLAN,
    SHAPE_START,
    STOPPED_BY,
    STOPPED_TIMES,
    IN_RECORD,
    PREEMPTED_FOR,
    SWAP_BACK,
    SWAPPED_OUT,
    GUEST,
    BROKEN_BY,
) = range(JOB_ROWS + dbf_tables.MORE_ROWS, JOB_ROWS + dbf_tables.MORE_ROWS + 20)
MORE_ROWS = dbf_tables.MORE_ROWS + 20
LISTS = (SHAPE_PLAN, SHAPE_START)
"""Rows whose columns are not jobs."""

MACHINE, BASE, DEFINITIVE_BASE = 0, 1, 2
"""The profile with every reservation, the one of what holds processors now, and over DBF that with all
reservations but provisional ones."""


@kernel
def at(state: State, table: int, place: int) -> int:
    """Where an entry of a table lies in the options."""
    return int(NOTES + table * state.options[SIZE_OF_MACHINE] + place)


@kernel
def entry(state: State, table: int, place: int) -> int:
    """An entry of a table."""
    return int(state.options[NOTES + table * state.options[SIZE_OF_MACHINE] + place])


@kernel
def count(state: State, note: int, more: int) -> None:
    """Add to a note."""
    state.options[note] += more
