"""Rows of the tables that a pass or a cycle searches for nodes with: plans, sets of nodes, counts."""

from __future__ import annotations

from enum import IntEnum


class Slot(IntEnum):
    """A stretch of time in backfill's plan table; its set of nodes is free of plans."""

    BEGIN = 0
    END = 1
    NEXT = 2
    FREE = 3
    """How many nodes that the job at hand could have are free of plans in it."""
    RISES = 4
    """Whether a node that the job at hand could have is free in the next slot and not in this one."""
    LACKED = 5
    """The end of the last slot before this one with fewer nodes than the job at hand wants; 0: none."""
    KNOWN = 6
    """For which kinds of jobs FREE and RISES are kept in ``surveys``: a bit for each kind."""
    ORDER = 7
    """Not of a slot: the slots of a window one after the other."""


class Plan(IntEnum):
    """A start that the present cycle has planned."""

    JOB = 0
    START = 1
    END = 2
    """As entered in the table: rounded down."""


class Count(IntEnum):
    """Whose jobs a cycle counts."""

    USER = 0
    PARTITION = 1
    ASSOCIATION = 2
    USER_PARTITION = 3
    PLANNED = 4
    """Plans in a partition."""


class Work(IntEnum):
    """Rows of space for the choice of nodes."""

    OFFER = 0
    """CPUs that a node can give the job."""
    TAKEN = 1
    """CPUs that it gives."""
    FIRST = 2
    LAST = 3
    RUN_CPUS = 4
    RUN_NODES = 5
    CHOSEN = 6
    """What it gives, put by."""
    FIRST_END = 7
    """When the first job on a node reaches its limit; 0 where nothing runs."""
    LAST_END = 8


class Scratch(IntEnum):
    """Sets of nodes that a pass works on."""

    AVAILABLE = 0
    """Nodes that the present pass may still use."""
    CANDIDATES = 1
    WINDOW = 2
    """A: nodes free of plans as long as the job may run."""
    WIDEST = 3
    """B: all that the job could have."""
    USABLE = 4
    ALLOWED = 5
    """Nodes that reservations leave to the job at hand."""
    BEFORE = 6
    """Nodes on which the job at hand might start if nothing ran."""
    IDLE = 7
    """Nodes on which nothing runs."""
    COMPLETING = 8
    AHEAD = 11
    """Nodes free of plans in the slots of a window behind those whose sets are folded."""
    OPEN = 9
    """Nodes on which something could start: usable, not completing, with something free."""
    TAKEN = 10
    """Nodes that were chosen."""
    CHOICE = 11
    """Nodes of one part of a constraint."""
