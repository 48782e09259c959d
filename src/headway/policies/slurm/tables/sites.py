"""Rows of Slurm's tables: nodes, partitions, those who set limits, and switches."""

from __future__ import annotations

from enum import IntEnum


class SlurmNode(IntEnum):
    """What a node has beyond the engine's rows."""

    WEIGHT = 0
    THREADS = 1
    """CPUs of a core: the least that can be given."""
    USABLE = 2
    """1: yes; less: it is down or drained, for so many reasons at once."""
    COMPLETING = 3
    """Runs that ended on it whose epilog is not over."""
    IDLE_SINCE = 4
    """When the last job on it ended."""
    OFF_AFTER = 5
    """How long it is idle before it is switched off; -1: it never is."""
    BOOT_TAKES = 6
    """How long it takes to come back."""
    KIND = 7
    """The same for nodes that differ in their names only; under select/linear lighter ones have less."""
    SET_WEIGHT = 8
    """Its weight as the last tests left it: jobs with generic resources make nodes lighter for others, limits
    on nodes make those heavier that would count anew."""
    WEIGHT_BEFORE = 9
    """The same when the last cycle began."""


class Partition(IntEnum):
    """A partition."""

    TIER = 0
    FACTOR = 1
    MAX_MINUTES = 2
    MIN_NODES = 3
    MAX_NODES = 4
    MAX_CPUS = 5
    """CPUs of a node that its jobs may have together."""
    MEMORY_CPU = 6
    MEMORY_NODE = 7
    EXCLUSIVE = 8
    QOS = 9
    UP = 10
    NODES = 11
    FAILED = 12
    """Whether a job of it was refused in the present pass."""
    TESTED = 13
    """Jobs of it that the present pass has looked at."""
    PREEMPT = 14
    """:class:`Mode` of preempting its jobs."""
    GRACE = 15
    ALIKE = 16
    """Whether all its nodes have the same CPUs, memory and weight."""
    LEVEL = 17
    """Which level its jobs are on, where jobs are suspended for others; the first, if they take turns."""
    ROWS = 18
    """How many of its jobs may have the same core and take turns on it."""
    ROWS_PREEMPTING = 19
    """The same for jobs that may preempt one of another QOS there by suspension."""
    CPUS_ROW = 20
    """Which of the nodes' further rows counts the CPUs of its jobs, for MAX_CPUS or because they may share
    them; -1: none."""
    PRIVATE_ROW = 21
    """Which of them counts the CPUs of all jobs that share none; -1: none, or its jobs share theirs."""
    AVOIDS_FROM = 22
    AVOIDS_TO = 23
    """From which to before which of them count CPUs of jobs that its jobs meet on no node; not its own."""
    LEAST_LOADED = 24
    """Whether jobs take the least loaded nodes first (LLN)."""
    KEEPS_NODES = 25
    """Whether each of its jobs lets nobody but its user on its nodes (ExclusiveUser)."""
    OVER_TIME = 26
    """How many seconds beyond their limit its jobs may run; -1: as long as they like."""


class Choice(IntEnum):
    """How a constraint chooses nodes: its parts are further sets of nodes with features."""

    FIRST = 0
    PARTS = 1
    """0: any of the allowed nodes."""
    NODES = 2
    """Of a part: how many nodes are to be of it; 0: all, or all of another part."""


class Factor(IntEnum):
    """Numbers of a partition, a QOS or an association that priority reads, from 0 to 1."""

    PARTITION = 0
    QOS = 1
    ASSOCIATION = 2


class Tres(IntEnum):
    """What limits, bills and weights of the priority count; generic resources follow."""

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
    PRIORITY = 14
    """Of a QOS."""
    EXEMPT = 15
    """How long a job of a QOS runs before it may be preempted; -1: as the site has it."""
    PREEMPT = 16
    """:class:`Mode` of preempting jobs of a QOS."""
    GRACE = 17
    SUBMITTED = 18
    """Jobs that wait or run."""
    GRP_SUBMIT = 19
    MAX_SUBMIT = 20
    """Of an association."""
    MAX_SUBMIT_USER = 21
    WAIVES = 22
    """Which bounds of partitions do not bind jobs of a QOS (:class:`Waiver`, as bits)."""
    MAX_SUBMIT_ACCOUNT = 23
    BLOCKED = 24
    """Until when the present cycle plans nobody of a QOS, because a limit stopped one (assoc_limit_stop)."""
    AGEING = 25
    """Waiting jobs that gain age, where that is limited."""
    GRP_AGEING = 26
    MAX_AGEING = 27
    """Of an association."""
    MAX_AGEING_USER = 28
    MAX_AGEING_ACCOUNT = 29


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
    LIMIT_FACTOR = 8
    """What a minute of a job of a QOS counts for limits before it starts: UsageFactor if UsageFactorSafe."""


class Switch(IntEnum):
    """A switch of the network, and what the choice of nodes notes about it."""

    LEVEL = 0
    """0 for leaves."""
    PARENT = 1
    """The switch above it; itself where there is none."""
    NODES = 2
    """How many nodes below it may be taken."""
    DISTANCE = 3
    """Steps from the switches in use, all together; -1: some cannot be reached."""
    IN_USE = 4
