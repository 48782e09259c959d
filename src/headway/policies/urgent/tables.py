"""What UJFB remembers: job rows behind the engine's and DBF's, and its own tables in one tuple.

Over DBF the options are those of DBF; else there are none.
"""

from __future__ import annotations

from typing import NamedTuple

from headway.engine.reservations import NO_JOB as NO_JOB
from headway.engine.tables import JOB_ROWS, State, Table
from headway.jit.kernels import by_address, kernel
from headway.jit.rows import Entries, Row, Rows
from headway.policies.deadline import tables as dbf_tables
from headway.policies.deadline.tables import DbfJobs

SUSPEND, KILL, DEGREE = range(3)
LATEST, SMALLEST, LARGEST = range(3)
NO_RESERVATION, BESIDE, PREEMPTING_THEN = range(3)
NO_PROCESSOR = -1


class Rules(Entries):
    """A parameter of the policy."""

    preempt: int  # What becomes of the jobs that make room: SUSPEND, KILL or DEGREE.
    victims: int  # Who makes room first: LATEST, SMALLEST or LARGEST.
    overtake: int  # Whether an urgent job may start while one that came before it has to wait.
    reserve: int  # Where a waiting urgent job has a reservation: NO_RESERVATION, BESIDE or PREEMPTING_THEN.
    host_size: int  # Processors of a host, and what it can hold of swapped-out processes (kB; -1: no bound).
    host_room: int
    named: int  # Whether processors have names, which matters only where there are urgent jobs.
    lending: int  # Whether idle processors of suspended jobs are lent to regular ones.
    swaps_whole: int  # Whether a victim is swapped out whole before any of its processors can be used.
    finishes: int  # Whether urgent jobs may outlive their walltime.
    to_the_end: int  # Whether killed jobs go to the end of the queue.
    idle_first: int  # Whether urgent jobs take idle processors before free ones.


class Notes(Entries):
    """A number that changes while the policy runs."""

    planned_key: int  # Up to which waiting job, by key and number, the plan goes.
    planned_job: int
    changed: int  # Whether something has changed under the plan.
    next_start: int  # When the next regular job of the plan starts.
    plans: int  # How often the plan was begun anew.
    holds_urgent: int  # Whether the plan holds waiting urgent jobs.
    urgent_waiting: int  # Urgent jobs that wait.
    unowned: int  # Processors with no owner and no user.
    idle: int  # Processors of suspended jobs that are not lent.
    preemptible: int  # Processors of running regular jobs.
    lowest_group: int  # The lowest group of processors that may have a free one.
    aside: int  # Suspended jobs.
    recorded: int  # Entries of the record.
    requeued: int  # Jobs that went to the end of the queue.
    next_overrun: int  # When the first urgent job will have used up its request.
    came: int  # The urgent job that came last in this instant; NO_JOB: none.
    stopped: int  # Jobs that were stopped, each time, and of these those that lost their work.
    lost: int
    preempting: int  # Urgent jobs that stopped some, and urgent jobs that had to wait.
    queued: int
    unrecorded: int  # Sets that did not fit into the record.
    accepted_jobs: int  # Regular jobs that were accepted with a deadline, or could not keep it on arrival.
    late_on_arrival: int
    promotions: int  # Jobs that became definitive, and how often one was moved to a later start.
    displacements: int
    safety_net: int  # How often DBF's safety net was needed.
    broken: int  # Deadlines that urgent jobs have broken.


class Processors(Rows):
    """What is known of a processor."""

    owner: Row  # A regular job, and an urgent one or a guest; NO_JOB: none.
    user: Row
    # The next processor of the same owner, and of the same user; NO_PROCESSOR behind the last.
    next_owned: Row
    next_used: Row


@by_address
class Memory(NamedTuple):
    """The tables of UJFB."""

    rules: Rules
    notes: Notes
    processors: Processors
    """[row, processor]"""
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


class UjfbJobs(DbfJobs):
    """Job rows behind the engine's and DBF's."""

    first_processor: Row
    held_until: Row  # Until when the plan holds the job's processors.
    begun: Row  # When it (last) started from the beginning.
    swap: Row  # Swap time (µs) and memory (kB a processor).
    memory: Row
    lent: Row  # Of a suspended job: how many of its processors are lent, and its place in the list.
    aside_place: Row
    # Of an urgent job: how many of its processors have no owner, and the delay by preemption (µs).
    own_alone: Row
    delay: Row
    shape_number: Row  # Numbers jobs of equal size and length; the two rows behind it are of shapes.
    shape_plan: Row
    shape_start: Row
    stopped_by: Row  # By whom it was stopped last, and how often.
    stopped_times: Row
    in_record: Row  # Whether its processors are in the record.
    preempted_for: Row  # How many were stopped for an urgent job.
    swap_back: Row  # How long it takes to be swapped in (µs).
    swapped_out: Row  # When it will have been swapped out.
    guest: Row  # Whether it is a guest on lent processors.
    broken_by: Row  # By whom its deadline was broken; -1: nobody.


MORE_ROWS = dbf_tables.MORE_ROWS + len(UjfbJobs)
LISTS = (UjfbJobs["shape_plan"], UjfbJobs["shape_start"])
"""Rows whose columns are not jobs."""

MACHINE, BASE, DEFINITIVE_BASE = 0, 1, 2
"""The profile with every reservation, the one of what holds processors now, and over DBF that with all
reservations but provisional ones."""


@kernel
def count(state: State, note: int, more: int) -> None:
    """Add to a note."""
    state.memory.notes[note] += more
