"""What redirection remembers: job rows behind the engine's and DBF's, and its own tables in one tuple.

The options are those of the policies of its two groups.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from headway.engine.tables import JOB_ROWS, Table
from headway.jit.kernels import by_address
from headway.policies.deadline import tables as dbf_tables

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


class Rule(IntEnum):
    """A parameter of the policy."""

    THETA = 0
    """The counter that a job exceeds before it is redirected."""
    FILTER = 1
    """Running jobs that a newcomer counts against: BY_PROCS, BY_WALLTIME, BY_SHORTER or BY_ALL."""
    CONFLICT = 2
    """Which job goes where several could: LONGEST, HIGHEST, LARGEST or LATEST."""
    RESTART = 3
    """Where a redirected job starts: FROM_SCRATCH or FROM_CHECKPOINT."""
    BY = 4
    """Run times in the redirection group as a fraction of the log's (over 0: the same)."""
    OVER = 5


class Note(IntEnum):
    """A number that changes while the policy runs."""

    WATCHED = 0
    """Jobs that have a counter."""
    SEEN = 1
    """Runs that were looked at."""
    EXCEEDED = 2
    """Whether a counter exceeds theta."""
    REDIRECTIONS = 3
    """Jobs that were redirected."""
    HIGHEST_COUNTER = 4
    """The highest counter."""
    UNCOUNTED = 5
    """Newcomers that are not yet in the counters, and how many groups they are."""
    GROUPS = 6
    LAST_AT = 7
    """When the last job was redirected."""


class Newcomers(IntEnum):
    """What is known of a group of newcomers that are not yet in the counters; they are often alike."""

    MEASURE = 0
    """What the filter looks at, the same for all of them."""
    NUMBER = 1
    """How many they are."""


@by_address
class Memory(NamedTuple):
    """The tables of redirection."""

    rules: Table
    """[Rule]"""
    notes: Table
    """[Note]"""
    newcomers: Table
    """[Newcomers, group]"""
    lists: Table
    """Those of DBF, of both groups: :class:`headway.policies.deadline.tables.Memory`."""
    counts: Table
    displacements: Table


FIRST_ROW = JOB_ROWS + dbf_tables.MORE_ROWS


class RedirectionJob(IntEnum):
    """Job rows behind the engine's and DBF's; those from RUN_OF on are lists of the watched jobs."""

    CLASS_THERE = FIRST_ROW
    """Class, walltime and planned time in the redirection group."""
    WALL_THERE = FIRST_ROW + 1
    PLAN_THERE = FIRST_ROW + 2
    FILE_PLACE = FIRST_ROW + 3
    """The place in the file."""
    RUN_OF = FIRST_ROW + 4
    """A watched job's run."""
    MEASURE = FIRST_ROW + 5
    """What the filter looks at."""
    MERIT = FIRST_ROW + 6
    """What the conflict rule looks at."""
    COUNTER = FIRST_ROW + 7
    """How many newcomers it has counted."""


MORE_ROWS = dbf_tables.MORE_ROWS + len(RedirectionJob)
LISTS = (RedirectionJob.RUN_OF, RedirectionJob.MEASURE, RedirectionJob.MERIT, RedirectionJob.COUNTER)
"""Rows whose columns are not jobs."""
