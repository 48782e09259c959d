"""Rows of the tables about the life of jobs: arrays, dependencies, lost nodes, suspension, victims."""

from __future__ import annotations

from enum import IntEnum


class Outcome(IntEnum):
    """What became of a job."""

    PENDING = 0
    RUNS = 1
    """Or its epilog does."""
    WELL = 2
    BADLY = 3


class Array(IntEnum):
    """An array of jobs: its tasks stand side by side in the queue and share what a pass finds out."""

    LIMIT = 0
    """Tasks that may run at once; -1: as many as there are."""
    RUNNING = 1
    REFUSED_PASS = 2
    """The last pass that refused a task, and in which partition: it looks at no more of them there."""
    REFUSED_PARTITION = 3
    REFUSED_CYCLE = 4
    PLANS_CYCLE = 5
    """The cycle that the plans are counted for."""
    PLANS = 6
    PRIORITY = 7
    """Of all its tasks where priority is the order of submission; -1: none has come yet."""
    TURNED_AWAY = 8
    """Whether it was refused at its submission, all of it."""
    BEGUN_CYCLE = 10
    """The last cycle that started a waiting task, and in which partition: it looks at no more of them in
    others."""
    BEGUN_PARTITION = 11
    LISTED = 9
    """The place of its waiting tasks in Slurm's list of jobs; -1: none has come yet."""


class Dependency(IntEnum):
    """One entry of the dependencies of jobs."""

    KIND = 0
    """:class:`After`"""
    JOB = 1
    """The job, or one task of the array, that it waits for."""
    MINUTES = 2
    """How long that must have been running."""
    GROUP = 3
    """Entries of one group are the tasks of one array: they are met together."""


class After(IntEnum):
    """Kinds of dependencies."""

    STARTED = 0
    ENDED = 1
    OK = 2
    NOT_OK = 3
    NOT_RUNNING = 4
    """It may wait, or be over."""


class Happening(IntEnum):
    """Something that happens beside jobs coming and ending; sorted by time."""

    TIME = 0
    KIND = 1
    """:class:`What`"""
    OBJECT = 2
    """The node, job, partition or reservation."""


class What(IntEnum):
    """Kinds of happenings."""

    NODE_DOWN = 0
    NODE_DRAINS = 1
    NODE_UP = 2
    RELEASE = 3
    PARTITION_DOWN = 4
    PARTITION_UP = 5
    RESERVATION = 6
    """One is made, begins or ends: plans may change."""
    CANCEL = 7
    """A user cancels a job."""
    RESET = 8
    """All usage is forgotten (PriorityUsageResetPeriod)."""


class Reservation(IntEnum):
    """Nodes kept for somebody, or for nobody, for a time."""

    KNOWN = 0
    """When it was made."""
    START = 1
    END = 2
    MAINTENANCE = 3
    FLEXIBLE = 4
    ALL_NODES = 5
    OVERLAPS = 6
    RECURS = 7
    """Whether it goes on to a next time by itself when it ends."""
    PARTITION = 8
    """The partition that it was made for as a whole; UNSET where it was not."""
    NEXT = 9
    """The one of the same name that follows it; UNSET where none does."""
    FAILED = 10
    """The last pass in which a job of it did not fit."""


class Licence(IntEnum):
    """A licence, counted in the whole cluster."""

    TOTAL = 0
    USED = 1


class Level(IntEnum):
    """Jobs that never share a core, where jobs are suspended for others: the same tier, rule and row."""

    TIER = 0
    FIRM = 1
    """Whether its jobs give way to nobody (PreemptMode=OFF)."""
    ROW = 2
    """Which of the jobs that take turns on a core."""
    DEALT = 3
    """While rows are dealt anew: the row that stands here so far..."""
    CORES = 4
    """...and how many cores it has got; by row, not by where it stands."""


class Standing(IntEnum):
    """Of a job among those of its partition that take turns."""

    CHOSEN = 0
    """It runs, as the last time slice chose it; the next one puts it behind all others."""
    FILLS = 1
    """It runs because nobody else uses its cores; the next time slice looks at it in its place."""
    WAITS = 2


class Victim(IntEnum):
    """Running jobs that may be preempted."""

    JOB = 0
    COST = 1
    """Who goes first: small ones."""
    USABLE = 2
    """How many of the chosen nodes it holds."""
    LISTED = 6
    """Its place in Slurm's list of jobs."""
    DEALT = 3
    """Not one of them: a job that is dealt to a row anew..."""
    KEY = 4
    """...its place among them: the first of its cores, then how many CPUs it asked for..."""
    ROW = 5
    """...and the row that it gets."""
