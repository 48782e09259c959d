"""Rows of the tables about the life of jobs: arrays, dependencies, lost nodes, suspension, victims."""

from __future__ import annotations

from enum import IntEnum

from headway.jit.rows import Row, Rows


class Outcome(IntEnum):
    """What became of a job."""

    PENDING = 0
    RUNS = 1
    """Or its epilog does."""
    WELL = 2
    BADLY = 3


class Arrays(Rows):
    """An array of jobs: its tasks stand side by side in the queue and share what a pass finds out."""

    limit: Row  # Tasks that may run at once; -1: as many as there are.
    running: Row
    # The last pass that refused a task, and in which partition: it looks at no more of them there.
    refused_pass: Row
    refused_partition: Row
    refused_cycle: Row
    plans_cycle: Row  # The cycle that the plans are counted for.
    plans: Row
    priority: Row  # Of all its tasks where priority is the order of submission; -1: none has come yet.
    turned_away: Row  # Whether it was refused at its submission, all of it.
    listed: Row  # The place of its waiting tasks in Slurm's list of jobs; -1: none has come yet.
    # The last cycle that started a waiting task, and in which partition: it looks at no more of them in
    # others.
    begun_cycle: Row
    begun_partition: Row


class Dependencies(Rows):
    """One entry of the dependencies of jobs."""

    kind: Row  # :class:`After`
    job: Row  # The job, or one task of the array, that it waits for.
    minutes: Row  # How long that must have been running.
    group: Row  # Entries of one group are the tasks of one array: they are met together.


class After(IntEnum):
    """Kinds of dependencies."""

    STARTED = 0
    ENDED = 1
    OK = 2
    NOT_OK = 3
    NOT_RUNNING = 4
    """It may wait, or be over."""


class Happenings(Rows):
    """Something that happens beside jobs coming and ending; sorted by time."""

    time: Row
    kind: Row  # :class:`What`
    object: Row  # The node, job, partition or reservation.


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


class Reservations(Rows):
    """Nodes kept for somebody, or for nobody, for a time."""

    known: Row  # When it was made.
    start: Row
    end: Row
    maintenance: Row
    flexible: Row
    all_nodes: Row
    overlaps: Row
    recurs: Row  # Whether it goes on to a next time by itself when it ends.
    partition: Row  # The partition that it was made for as a whole; UNSET where it was not.
    next: Row  # The one of the same name that follows it; UNSET where none does.
    failed: Row  # The last pass in which a job of it did not fit.


class Licences(Rows):
    """A licence, counted in the whole cluster."""

    total: Row
    used: Row


class Levels(Rows):
    """Jobs that never share a core, where jobs are suspended for others: the same tier, rule and row."""

    tier: Row
    firm: Row  # Whether its jobs give way to nobody (PreemptMode=OFF).
    row: Row  # Which of the jobs that take turns on a core.
    dealt: Row  # While rows are dealt anew: the row that stands here so far...
    cores: Row  # ...and how many cores it has got; by row, not by where it stands.


class Standing(IntEnum):
    """Of a job among those of its partition that take turns."""

    CHOSEN = 0
    """It runs, as the last time slice chose it; the next one puts it behind all others."""
    FILLS = 1
    """It runs because nobody else uses its cores; the next time slice looks at it in its place."""
    WAITS = 2


class Victims(Rows):
    """Running jobs that may be preempted."""

    job: Row
    cost: Row  # Who goes first: small ones.
    usable: Row  # How many of the chosen nodes it holds.
    dealt: Row  # Not one of them: a job that is dealt to a row anew...
    key: Row  # ...its place among them: the first of its cores, then how many CPUs it asked for...
    row: Row  # ...and the row that it gets.
    listed: Row  # Its place in Slurm's list of jobs.
