"""Rows of the tables about limits, usage and shares: who sets them, who is charged, what is counted."""

from __future__ import annotations

from enum import IntEnum


class Tres(IntEnum):
    """What limits count; generic resources follow."""

    CPU = 0
    MEMORY = 1
    NODE = 2
    BILLING = 3


class Holder(IntEnum):
    """Who sets limits and is charged: QOS first, then associations."""

    PARENT = 0
    """The association above; -1 for the root and for QOS."""
    SHARES = 1
    IS_USER = 2
    RUNNING = 3
    NO_DECAY = 4
    OVER_PARTITION = 5
    """A QOS whose limits come before those of the partition's."""
    MIN_PRIORITY = 6
    NO_RESERVE = 7
    GRP_JOBS = 8
    GRP_WALL = 9
    MAX_JOBS = 10
    """Of an association."""
    MAX_WALL = 11
    MAX_JOBS_USER = 12
    MAX_JOBS_ACCOUNT = 13
    PRIORITY = 15
    """Of a QOS."""
    EXEMPT = 16
    """How long a job of a QOS runs before it may be preempted; -1: as the site has it."""
    PREEMPT = 17
    """:class:`Mode` of preempting jobs of a QOS."""
    GRACE = 18
    SUBMITTED = 19
    """Jobs that wait or run."""
    GRP_SUBMIT = 20
    MAX_SUBMIT = 21
    """Of an association."""
    MAX_SUBMIT_USER = 22
    WAIVES = 23
    """Which bounds of partitions do not bind jobs of a QOS (:class:`Waiver`, as bits)."""
    MAX_SUBMIT_ACCOUNT = 14


class Cap(IntEnum):
    """Limits that are counted by resource."""

    GRP = 0
    GRP_MINS = 1
    GRP_RUN_MINS = 2
    MAX_JOB = 3
    MAX_NODE = 4
    MAX_MINS_JOB = 5
    MIN_JOB = 6
    MAX_USER = 7
    MAX_ACCOUNT = 8


class Usage(IntEnum):
    """Numbers of a QOS or an association that change."""

    RAW = 0
    """Billing seconds, decayed."""
    WALL = 1
    FAIRSHARE = 2
    """The fair share factor of a user, as last calculated."""
    SHARES_NORM = 3
    LEVEL = 4
    EFFECTIVE = 5
    FACTOR = 6
    """UsageFactor of a QOS."""
    SHARES_PRODUCT = 7
    """Parts of the shares multiplied up to the root."""


class Factor(IntEnum):
    """Numbers of a partition, a QOS or an association that priority reads, from 0 to 1."""

    PARTITION = 0
    QOS = 1
    ASSOCIATION = 2


class Rank(IntEnum):
    """Space to rank users in."""

    ORDER = 0
    """Associations by parent, then as they are served."""
    FIRST = 1
    """Where the children of an association begin in that order."""
    COUNT = 2
    NEXT = 3
    """The child that is looked at next."""
    TIED = 4
