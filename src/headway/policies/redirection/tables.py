"""What redirection remembers: job rows behind the engine's and DBF's, and its own tables in one tuple.

The options are those of the policies of its two groups.
"""

from __future__ import annotations

from typing import NamedTuple

from headway.engine.tables import JOB_ROWS, Table
from headway.jit.kernels import by_address
from headway.jit.rows import Entries, Row, Rows
from headway.policies.deadline import tables as dbf_tables
from headway.policies.deadline.tables import Counts, DbfJobs, TaskLists

PRINCIPAL, REDIRECTION = 0, 1
"""The two pools; a group under DBF has a third one beside it, its base."""

BY_PROCS, BY_WALLTIME, BY_SHORTER, BY_ALL = range(4)
LONGEST, HIGHEST, LARGEST, LATEST = range(4)
FROM_SCRATCH, FROM_CHECKPOINT = range(2)
NEVER_EXCEEDED = 1 << 62
"""``Rule.THETA`` for infinity."""
NOBODY = -1
"""In place of a run to redirect."""
BATCH = 8
"""Groups of newcomers that are counted together."""


class Rules(Entries):
    """A parameter of the policy."""

    theta: int  # The counter that a job exceeds before it is redirected.
    filter: int  # Running jobs that a newcomer counts against: BY_PROCS, BY_WALLTIME, BY_SHORTER or BY_ALL.
    conflict: int  # Which job goes where several could: LONGEST, HIGHEST, LARGEST or LATEST.
    restart: int  # Where a redirected job starts: FROM_SCRATCH or FROM_CHECKPOINT.
    by: int  # Run times in the redirection group as a fraction of the log's (over 0: the same).
    over: int


class Notes(Entries):
    """A number that changes while the policy runs."""

    watched: int  # Jobs that have a counter.
    seen: int  # Runs that were looked at.
    exceeded: int  # Whether a counter exceeds theta.
    redirections: int  # Jobs that were redirected.
    highest_counter: int  # The highest counter.
    uncounted: int  # Newcomers that are not yet in the counters, and how many groups they are.
    groups: int
    last_at: int  # When the last job was redirected.


class Newcomers(Rows):
    """What is known of a group of newcomers that are not yet in the counters; they are often alike."""

    measure: Row  # What the filter looks at, the same for all of them.
    number: Row  # How many they are.


@by_address
class Memory(NamedTuple):
    """The tables of redirection."""

    rules: Rules
    notes: Notes
    newcomers: Newcomers
    """[row, group]"""
    lists: TaskLists
    """Those of DBF, of both groups: :class:`headway.policies.deadline.tables.Memory`."""
    counts: Counts
    displacements: Table


FIRST_ROW = JOB_ROWS + dbf_tables.MORE_ROWS


class RedirectionJobs(DbfJobs):
    """Job rows behind the engine's and DBF's; those from RUN_OF on are lists of the watched jobs."""

    class_there: Row  # Class, walltime and planned time in the redirection group.
    wall_there: Row
    plan_there: Row
    file_place: Row  # The place in the file.
    run_of: Row  # A watched job's run.
    measure: Row  # What the filter looks at.
    merit: Row  # What the conflict rule looks at.
    counter: Row  # How many newcomers it has counted.


MORE_ROWS = dbf_tables.MORE_ROWS + len(RedirectionJobs)
LISTS = (
    RedirectionJobs["run_of"],
    RedirectionJobs["measure"],
    RedirectionJobs["merit"],
    RedirectionJobs["counter"],
)
"""Rows whose columns are not jobs."""
