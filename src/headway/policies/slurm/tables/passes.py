"""Rows of Slurm's tables: what the passes and cycles note, and the space that they work in."""

from __future__ import annotations

from enum import IntEnum


class SlurmClock(IntEnum):
    """When what happened last."""

    FULL_NEXT = 0
    """When the next full pass is due, in ms: a minute of the background loop is a little longer than one."""
    PASS = 1
    """The last pass that the background loop asked for."""
    COUNT = 2
    """Requests for a pass since then."""
    ASKED = 3
    """A pass that is asked for and has to wait for the least time after the last: 1; a full one: 2."""
    PASSED = 4
    """The last pass of the main loop."""
    CYCLE_END = 5
    CYCLE_NEXT = 6
    """Backfill sleeps until then, in ms."""
    STAMP = 7
    """The last change of jobs or nodes."""
    PRIORITY_NEXT = 8
    PRIORITY_LAST = 9
    QUEUED = 10
    """Records in the queue."""
    RUNNING = 11
    """Entries in the list of running jobs."""
    COMPLETING = 12
    """Entries in the heap of epilogs."""
    SLOTS = 13
    """Records of the plan table used in this cycle."""
    PLANS = 14
    CYCLES = 15
    PASSES = 16
    BASIC = 17
    """The priority that the next job gets without factors."""
    PENDING = 18
    """Jobs that wait."""
    STAMPED = 19
    """Whether the present cycle changed a time stamp: it planned a job on idle nodes, or put a start off."""
    SEARCHED = 20
    """Jobs that the present cycle has searched a start for."""
    SEARCHES = 21
    """Searches for a start, in all."""
    CHANGED = 22
    """When something last changed that a cycle's outcome depends on."""
    DRAWN = 23
    """The last number drawn, from which the next one comes."""
    LISTS = 46
    """Entries that Slurm's list of jobs has had."""
    UNSURE = 24
    """Whether the last cycle stopped before it was known if it changes a time stamp."""
    IDLE_SINCE = 25
    """Since when nothing runs and nothing more will come while jobs wait; 0 where that is not so."""
    DELAYED = 26
    """Whether it was drawn how late the next cycle is."""
    CYCLE_STARTS = 27
    """Jobs that the present cycle has started."""
    HAPPENED = 28
    """Happenings that are past."""
    RETURNED = 29
    """Jobs that come back to the queue when the present pass is over."""
    GRACES = 30
    """Running jobs that have to go and have some time left."""
    VICTIMS = 31
    """Entries in the list of jobs that may be preempted."""
    BOOTING = 32
    """Nodes that are coming back, among the entries in the heap of epilogs."""
    SLICE_NEXT = 33
    """When the next time slice begins."""
    TURNS = 34
    """Places given so far in the order of turns."""
    RESET_DUE = 35
    """Whether the next calculation of priorities forgets all usage."""
    LOOKS_AHEAD = 36
    """Whether nodes are sought that will be free later, not now."""
    OF_PASS = 37
    """The second that the present pass or cycle is of; a cycle that is made up for is over."""
    UNDEALT = 38
    """Whether a job has ended since those that take turns were dealt to rows."""
    AGELESS_FROM = 39
    """Where ages are limited, the jobs from here on up to AGELESS_TO may have none yet."""
    AGELESS_TO = 40
    ENDS_LAID = 41
    """Whether the table AFTER has the ends of the jobs that run now; -1: there are too many."""
    OPENINGS = 42
    """Rows of openings that are laid for them."""
    LAST_ARRAY = 43
    """The array of the task that backfill planned last."""
    BY_KIND = 44
    """Whether a start is tried, which select/linear does kind by kind of nodes, the lightest first."""
    UNSETTLED = 45
    """Whether jobs were suspended since it was last found out who may go on."""


class Record(IntEnum):
    """An entry of the queue: a job in one of its partitions."""

    JOB = 0
    PARTITION = 1
    TIER = 2
    PRIORITY = 3
    PLACE = 4
    """Of the partition in the job's list."""
    LISTED = 5
    """In the list of jobs, as a pass found it; only where the right to preempt may run in circles."""


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
    BEST = 7
    """What it gives for the best of several alternatives."""
    NAMED = 8
    """The first required node of a run; -1: it has none."""
    FREE = 9
    """CPUs that are free on a node, whether the job can have them or not."""
    UNITS = 10
    """Units of generic resources that a node can give the job."""
    RUN_UNITS = 11
    DEALT = 12
    """Units that it gives."""
    GPUS = 13
    """What a node has free of the generic resource that a job asks for."""
    COUNT = 14
    """CPUs and these together, by which nodes are small, where a job asks for generic resources."""
    ENDS_FROM = 15
    """The columns of AFTER, up to ENDS_TO, with the ends of running jobs on a node."""
    ENDS_TO = 16


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
