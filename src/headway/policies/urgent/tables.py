"""What UJFB remembers: job rows behind the engine's and DBF's, and its own tables in one tuple.

Over DBF the options are those of DBF; else there are none.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from headway.engine.reservations import NO_JOB as NO_JOB
from headway.engine.tables import JOB_ROWS, State, Table
from headway.jit.kernels import by_address, kernel
from headway.policies.deadline import tables as dbf_tables

SUSPEND, KILL, DEGREE = range(3)
LATEST, SMALLEST, LARGEST = range(3)
NO_RESERVATION, BESIDE, PREEMPTING_THEN = range(3)
NO_PROCESSOR = -1


class Rule(IntEnum):
    """A parameter of the policy."""

    PREEMPT = 0
    """What becomes of the jobs that make room: SUSPEND, KILL or DEGREE."""
    VICTIMS = 1
    """Who makes room first: LATEST, SMALLEST or LARGEST."""
    OVERTAKE = 2
    """Whether an urgent job may start while one that came before it has to wait."""
    RESERVE = 3
    """Where a waiting urgent job has a reservation: NO_RESERVATION, BESIDE or PREEMPTING_THEN."""
    HOST_SIZE = 4
    """Processors of a host, and what it can hold of swapped-out processes (kB; -1: no bound)."""
    HOST_ROOM = 5
    NAMED = 6
    """Whether processors have names, which matters only where there are urgent jobs."""
    LENDING = 7
    """Whether idle processors of suspended jobs are lent to regular ones."""
    SWAPS_WHOLE = 8
    """Whether a victim is swapped out whole before any of its processors can be used."""
    FINISHES = 9
    """Whether urgent jobs may outlive their walltime."""
    TO_THE_END = 10
    """Whether killed jobs go to the end of the queue."""
    IDLE_FIRST = 11
    """Whether urgent jobs take idle processors before free ones."""


class Note(IntEnum):
    """A number that changes while the policy runs."""

    PLANNED_KEY = 0
    """Up to which waiting job, by key and number, the plan goes."""
    PLANNED_JOB = 1
    CHANGED = 2
    """Whether something has changed under the plan."""
    NEXT_START = 3
    """When the next regular job of the plan starts."""
    PLANS = 4
    """How often the plan was begun anew."""
    HOLDS_URGENT = 5
    """Whether the plan holds waiting urgent jobs."""
    URGENT_WAITING = 6
    """Urgent jobs that wait."""
    UNOWNED = 7
    """Processors with no owner and no user."""
    IDLE = 8
    """Processors of suspended jobs that are not lent."""
    PREEMPTIBLE = 9
    """Processors of running regular jobs."""
    LOWEST_GROUP = 10
    """The lowest group of processors that may have a free one."""
    ASIDE = 11
    """Suspended jobs."""
    RECORDED = 12
    """Entries of the record."""
    REQUEUED = 13
    """Jobs that went to the end of the queue."""
    NEXT_OVERRUN = 14
    """When the first urgent job will have used up its request."""
    CAME = 15
    """The urgent job that came last in this instant; NO_JOB: none."""
    STOPPED = 16
    """Jobs that were stopped, each time, and of these those that lost their work."""
    LOST = 17
    PREEMPTING = 18
    """Urgent jobs that stopped some, and urgent jobs that had to wait."""
    QUEUED = 19
    UNRECORDED = 20
    """Sets that did not fit into the record."""
    ACCEPTED_JOBS = 21
    """Regular jobs that were accepted with a deadline, or could not keep it on arrival."""
    LATE_ON_ARRIVAL = 22
    PROMOTIONS = 23
    """Jobs that became definitive, and how often one was moved to a later start."""
    DISPLACEMENTS = 24
    SAFETY_NET = 25
    """How often DBF's safety net was needed."""
    BROKEN = 26
    """Deadlines that urgent jobs have broken."""


class Processor(IntEnum):
    """What is known of a processor."""

    OWNER = 0
    """A regular job, and an urgent one or a guest; NO_JOB: none."""
    USER = 1
    NEXT_OWNED = 2
    """The next processor of the same owner, and of the same user; NO_PROCESSOR behind the last."""
    NEXT_USED = 3


@by_address
class Memory(NamedTuple):
    """The tables of UJFB."""

    rules: Table
    """[Rule]"""
    notes: Table
    """[Note]"""
    processors: Table
    """[Processor, processor]"""
    free_in_group: Table
    """[group] free processors of each group of neighbours."""
    suspended: Table
    """[place] the suspended jobs."""
    candidates: Table
    """[place] jobs that may be stopped, then those that are."""
    hosts: Table
    """[host] kB swapped out to it."""
    record: Table
    """The processor sets of runs, one behind the other (see :mod:`~headway.policies.urgent.processors`)."""


FIRST_ROW = JOB_ROWS + dbf_tables.MORE_ROWS
"""Behind the job rows of the engine and of DBF, where deadlines are."""


class UjfbJob(IntEnum):
    """Job rows behind the engine's and DBF's."""

    FIRST_PROCESSOR = FIRST_ROW
    HELD_UNTIL = FIRST_ROW + 1
    """Until when the plan holds the job's processors."""
    BEGUN = FIRST_ROW + 2
    """When it (last) started from the beginning."""
    SWAP = FIRST_ROW + 3
    """Swap time (µs) and memory (kB a processor)."""
    MEMORY = FIRST_ROW + 4
    LENT = FIRST_ROW + 5
    """Of a suspended job: how many of its processors are lent, and its place in the list."""
    ASIDE_PLACE = FIRST_ROW + 6
    OWN_ALONE = FIRST_ROW + 7
    """Of an urgent job: how many of its processors have no owner, and the delay by preemption (µs)."""
    DELAY = FIRST_ROW + 8
    SHAPE = FIRST_ROW + 9
    """Numbers jobs of equal size and length; the two rows behind it are of shapes."""
    SHAPE_PLAN = FIRST_ROW + 10
    SHAPE_START = FIRST_ROW + 11
    STOPPED_BY = FIRST_ROW + 12
    """By whom it was stopped last, and how often."""
    STOPPED_TIMES = FIRST_ROW + 13
    IN_RECORD = FIRST_ROW + 14
    """Whether its processors are in the record."""
    PREEMPTED_FOR = FIRST_ROW + 15
    """How many were stopped for an urgent job."""
    SWAP_BACK = FIRST_ROW + 16
    """How long it takes to be swapped in (µs)."""
    SWAPPED_OUT = FIRST_ROW + 17
    """When it will have been swapped out."""
    GUEST = FIRST_ROW + 18
    """Whether it is a guest on lent processors."""
    BROKEN_BY = FIRST_ROW + 19
    """By whom its deadline was broken; -1: nobody."""


MORE_ROWS = dbf_tables.MORE_ROWS + len(UjfbJob)
LISTS = (UjfbJob.SHAPE_PLAN, UjfbJob.SHAPE_START)
"""Rows whose columns are not jobs."""

MACHINE, BASE, DEFINITIVE_BASE = 0, 1, 2
"""The profile with every reservation, the one of what holds processors now, and over DBF that with all
reservations but provisional ones."""


@kernel
def count(state: State, note: int, more: int) -> None:
    """Add to a note."""
    state.memory.notes[note] += more
