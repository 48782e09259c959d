"""Rows of Slurm's tables: what the passes and cycles note, and the space that they work in."""

from __future__ import annotations

from enum import IntEnum

from headway.jit.rows import Entries, Row, Rows


class SlurmClock(Entries):
    """When what happened last."""

    # When the next full pass is due, in ms: a minute of the background loop is a little longer than one.
    full_next: int
    last_pass: int  # The last pass that the background loop asked for.
    count: int  # Requests for a pass since then.
    # A pass that is asked for and has to wait for the least time after the last: 1; a full one: 2.
    asked: int
    passed: int  # The last pass of the main loop.
    cycle_end: int
    cycle_next: int  # Backfill sleeps until then, in ms.
    stamp: int  # The last change of jobs or nodes.
    priority_next: int
    priority_last: int
    queued: int  # Records in the queue.
    running: int  # Entries in the list of running jobs.
    completing: int  # Entries in the heap of epilogs.
    slots: int  # Records of the plan table used in this cycle.
    plans: int
    cycles: int
    passes: int
    basic: int  # The priority that the next job gets without factors.
    pending: int  # Jobs that wait.
    # Whether the present cycle changed a time stamp: it planned a job on idle nodes, or put a start off.
    stamped: int
    searched: int  # Jobs that the present cycle has searched a start for.
    searches: int  # Searches for a start, in all.
    changed: int  # When something last changed that a cycle's outcome depends on.
    drawn: int  # The last number drawn, from which the next one comes.
    unsure: int  # Whether the last cycle stopped before it was known if it changes a time stamp.
    # Since when nothing runs and nothing more will come while jobs wait; 0 where that is not so.
    idle_since: int
    delayed: int  # Whether it was drawn how late the next cycle is.
    cycle_starts: int  # Jobs that the present cycle has started.
    happened: int  # Happenings that are past.
    returned: int  # Jobs that come back to the queue when the present pass is over.
    graces: int  # Running jobs that have to go and have some time left.
    victims: int  # Entries in the list of jobs that may be preempted.
    booting: int  # Nodes that are coming back, among the entries in the heap of epilogs.
    slice_next: int  # When the next time slice begins.
    turns: int  # Places given so far in the order of turns.
    reset_due: int  # Whether the next calculation of priorities forgets all usage.
    looks_ahead: int  # Whether nodes are sought that will be free later, not now.
    of_pass: int  # The second that the present pass or cycle is of; a cycle that is made up for is over.
    undealt: int  # Whether a job has ended since those that take turns were dealt to rows.
    ageless_from: int  # Where ages are limited, the jobs from here on up to AGELESS_TO may have none yet.
    ageless_to: int
    ends_laid: int  # Whether the table AFTER has the ends of the jobs that run now; -1: there are too many.
    openings: int  # Rows of openings that are laid for them.
    last_array: int  # The array of the task that backfill planned last.
    # Whether a start is tried, which select/linear does kind by kind of nodes, the lightest first.
    by_kind: int
    unsettled: int  # Whether jobs were suspended since it was last found out who may go on.
    lists: int  # Entries that Slurm's list of jobs has had.


class Records(Rows):
    """An entry of the queue: a job in one of its partitions."""

    job: Row
    partition: Row
    tier: Row
    priority: Row
    place: Row  # Of the partition in the job's list.
    # In the list of jobs, as a pass found it; only where the right to preempt may run in circles.
    listed: Row


class Slots(Rows):
    """A stretch of time in backfill's plan table; its set of nodes is free of plans."""

    begin: Row
    end: Row
    next: Row
    free: Row  # How many nodes that the job at hand could have are free of plans in it.
    rises: Row  # Whether a node that the job at hand could have is free in the next slot and not in this one.
    # The end of the last slot before this one with fewer nodes than the job at hand wants; 0: none.
    lacked: Row
    known: Row  # For which kinds of jobs FREE and RISES are kept in ``surveys``: a bit for each kind.
    order: Row  # Not of a slot: the slots of a window one after the other.


class Plans(Rows):
    """A start that the present cycle has planned."""

    job: Row
    start: Row
    end: Row  # As entered in the table: rounded down.


class Counts(Rows):
    """Whose jobs a cycle counts."""

    user: Row
    partition: Row
    association: Row
    user_partition: Row
    planned: Row  # Plans in a partition.


class Ranks(Rows):
    """Space to rank users in."""

    order: Row  # Associations by parent, then as they are served.
    first: Row  # Where the children of an association begin in that order.
    count: Row
    next: Row  # The child that is looked at next.
    tied: Row


class Work(Rows):
    """Rows of space for the choice of nodes."""

    offer: Row  # CPUs that a node can give the job.
    taken: Row  # CPUs that it gives.
    first: Row
    last: Row
    run_cpus: Row
    run_nodes: Row
    chosen: Row  # What it gives, put by.
    best: Row  # What it gives for the best of several alternatives.
    named: Row  # The first required node of a run; -1: it has none.
    free: Row  # CPUs that are free on a node, whether the job can have them or not.
    units: Row  # Units of generic resources that a node can give the job.
    run_units: Row
    dealt: Row  # Units that it gives.
    gpus: Row  # What a node has free of the generic resource that a job asks for.
    count: Row  # CPUs and these together, by which nodes are small, where a job asks for generic resources.
    ends_from: Row  # The columns of AFTER, up to ENDS_TO, with the ends of running jobs on a node.
    ends_to: Row


class Scratch(IntEnum):
    """Sets of nodes that a pass works on."""

    AVAILABLE = 0
    """Nodes that the present pass may still use."""
    CANDIDATES = 1
    WINDOW = 2
    """A: nodes free of plans as long as the job may run."""
    WIDEST = 3
    """All that the job could have."""
    USABLE = 4
    ALLOWED = 5
    """Nodes that reservations leave to the job at hand."""
    BEFORE = 6
    """Nodes on which the job at hand might start if nothing ran."""
    IDLE = 7
    """Nodes on which nothing runs."""
    COMPLETING = 8
    OPEN = 9
    """Nodes on which something could start: usable, not completing, with something free."""
    TAKEN = 10
    """Nodes that were chosen."""
    CHOICE = 11
    """Nodes of one part of a constraint."""
    HELD = 12
    """Nodes that running jobs hold whom a limit counts together."""
    AHEAD = 13
    """Nodes free of plans in the slots of a window behind those whose sets are folded."""
    AROUND = 14
    """Nodes of the job's partition, with its features or without: when one comes free, it tries again."""
    OTHERS = 15
    """Nodes that the users of other jobs keep from the job at hand, or it from them."""
    REACHED = 16
    """Nodes that a job may still take below one switch."""
    LIGHT = 17
    """Those of the weights that it needs."""
