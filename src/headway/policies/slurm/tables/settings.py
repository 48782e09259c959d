"""Parameters of Slurm's controller: the places of their values, and the kinds of preemption."""

from __future__ import annotations

from enum import IntEnum

NOTICED_LATE = 60
"""Seconds that may pass before a job beyond its limit is gone: a check every 30, and KillWait."""


class Setting(IntEnum):
    """Parameters of the controller that are whole numbers; seconds where nothing else is said."""

    SCHED_INTERVAL = 0
    """-1: there is no main loop."""
    BATCH_DELAY = 1
    QUEUE_DEPTH = 2
    PARTITION_DEPTH = 3
    MAX_STARTS = 4
    BF_INTERVAL = 5
    BF_WINDOW = 6
    BF_RESOLUTION = 7
    BF_MAX_TEST = 8
    BF_MAX_START = 9
    BF_MAX_USER = 10
    BF_MAX_PART = 11
    BF_MAX_USER_PART = 12
    BF_MAX_ASSOC = 13
    BF_MIN_PRIORITY = 14
    BF_MIN_AGE = 15
    BF_PART_RESERVE = 16
    BF_ONE_RESERVATION = 17
    BF_TABLE = 19
    """Records the plan table may have (bf_node_space_size)."""
    BF_WINDOW_LINEAR = 20
    LIMIT_STOPS = 21
    """assoc_limit_stop: a job held by a limit holds up its partition."""
    DEFER = 22
    COMPLETE_WAIT = 23
    EPILOG = 24
    """How long a node is completing after a job's end, on average, in ms."""
    MIN_JOB_AGE = 25
    """How long the controller remembers a job that is over; 0: for ever."""
    KILL_WAIT = 26
    MULTIFACTOR = 27
    CALC_PERIOD = 28
    MAX_AGE = 29
    FAVOR_SMALL = 30
    SIZE_BY_TIME = 31
    FAIR_TREE = 32
    CLUSTER_NODES = 33
    CLUSTER_CPUS = 34
    ENFORCE = 35
    """Whether limits are enforced at all."""
    SAFE = 36
    MEMORY = 37
    """Whether memory is a resource that jobs take."""
    MEMORY_CPU = 38
    MEMORY_NODE = 39
    QOS = 40
    """How many QOS there are."""
    PLAIN = 41
    """Every cycle goes through the whole queue, also where no more job can start in it."""
    USERS = 42
    ACCOUNTS = 43
    HAS_ACCOUNTING = 44
    """Whether there is an accounting daemon: age and fair share count only then."""
    FULL_LATE = 47
    """How much longer than its interval the time between full passes is, in ms."""
    LATE = 49
    """How late a cycle is on average where something changed while backfill slept, in ms."""
    CYCLE_TAKES = 48
    """How long a backfill cycle takes on average, in ms."""
    ORIGIN = 46
    """When the log's clock was 0, in seconds since 1970."""
    BF_MAX_ARRAY = 50
    """Tasks of an array that a cycle plans."""
    REQUEUE_WAIT = 51
    """How long a job waits at least that comes back to the queue."""
    PREEMPTION = 53
    """:class:`Preemption`: who may take whose place."""
    PREEMPT_EXEMPT = 54
    """How long a job runs before it may be preempted."""
    MINUTES_END_JOBS = 52
    """Whether a limit on minutes is set anywhere, so that it may end running jobs; `safe` ones end nobody."""
    PREEMPT_PAUSE = 55
    """How long a job that took victims takes no more."""
    PREEMPT_REORDERS = 56
    YOUNGEST_FIRST = 57
    STRICT_ORDER = 58
    SAVES_POWER = 60
    """Whether any node is switched off when it has been idle for long."""
    CORE_WORDS = 59
    """Words that the CPUs of a node take as bits, where jobs are suspended for others."""
    RESTRICTS = 62
    """Whether some job may not use a partition that it asks for."""
    WAIVES = 63
    """Whether a QOS waives bounds of partitions."""
    LIMITS_NODES = 65
    """Whether a limit on the nodes that jobs hold together is set anywhere, and limits are enforced."""
    ACCRUE_ALWAYS = 71
    """PriorityFlags=ACCRUE_ALWAYS: jobs gain age from their submission on, eligible or not."""
    KEEPS_NODES = 72
    """Whether some jobs let nobody but their user on their nodes (--exclusive=user, ExclusiveUser)."""
    BF_LICENCES = 73
    """bf_licenses: backfill plans licences as it plans nodes."""
    BUSY_FIRST = 68
    """bf_busy_nodes: plans take nodes in use before idle ones."""
    SERIAL_LAST = 69
    """pack_serial_at_end: jobs of one CPU take the last nodes."""
    BY_SWITCHES = 45
    """Whether nodes are chosen by the tree of switches: 0 not, 1 for all jobs, 2 for those that ask."""
    RESERVE_RUNNING = 70
    """bf_running_job_reserve: running jobs on whole nodes hold them in backfill's table."""
    DEPTH_OBLIVIOUS = 67
    """PriorityFlags=DEPTH_OBLIVIOUS: another formula of the classic fair share."""
    MAX_TRES = 66
    """PriorityFlags=MAX_TRES: jobs are billed for the one resource that gives most, not for all of them."""
    RESERVATION_OVER = 64
    """How long after its reservation's end a job may still run (ResvOverRun), in seconds."""
    INCREASES_ONLY = 74
    """PriorityFlags=INCR_ONLY: a calculation lowers nobody's priority."""
    LIMITS_AGE = 77
    """Whether only so many waiting jobs of somebody may gain age."""
    TESTS_ALL = 76
    """EnforcePartLimits=ALL: a submission is tested in each of its partitions."""
    WEIGHS_TRES = 75
    """PriorityWeightTRES: what a job asks for counts in its priority."""
    BOUNDS_NODES = 79
    """Whether a limit of any kind on nodes is set anywhere, and limits are enforced."""
    LINEAR = 78
    """select/linear: jobs take whole nodes, and plans are made with one end after the other."""
    MIN_INTERVAL = 18
    """The least time from one pass of the main loop to the next (sched_min_interval), in whole seconds:
    0 by default, a few microseconds."""
    IDLE_AT_MOST = 80
    """How long jobs wait for an idle machine before they are turned away: a week."""
    CIRCLES = 81
    """Whether the right to preempt and the other terms of the queue's order may run in circles."""
    ENDS_ROUNDED_UP = 82
    """A plan, or a running job in the table, ends at the next step of backfill's resolution, not the last."""
    BY_WINDOW = 83
    """A later window is not tried as things are now: jobs that end before it are over in it, and no end after
    the next window's begin is looked at."""
    OVER_AT_BEGIN = 84
    """Jobs that end just when a window begins are over in it, too."""
    LOOKS_PAST = 85
    """The window after the last one of a search begins when the stretch behind it ends."""
    LAST_NEEDED = 86
    """A start is the last end of a job that has one of the chosen nodes, not the last of its group."""
    FIRST_NODE = 87
    """A job that may have one node only takes the first one in the order of weights that will do."""
    WEIGHS_ANEW = 88
    """Each test sets the weights of nodes anew; where now is tried, completing nodes are heavier."""
    TESTED_ONCE = 89
    """Jobs that share no CPUs are not tested on all CPUs first, as if none were in use."""
    ARRAY_LIMITS_PLANS = 90
    """An array's bound on running tasks bounds those that are planned, too."""
    LENGTHENED = 91
    """A job that backfill starts by the shortest limit that it accepts gets as much of its own as plans and
    reservations leave it."""
    PRIORITY_ANEW = 92
    """A job that comes back to the queue gets its priority anew at once, not with the next calculation."""
    HOLDS_A_STEP = 93
    """A plan takes at least one step of backfill's resolution, also where it is compared with others."""
    WHOLE_LIMIT_LATER = 94
    """After a window with too few nodes, reservations must leave a job its own limit in later ones, not the
    shortest that it accepts; after a search without a result they always must."""
    RESERVED_FOR_ALL = 95
    """A job that reserves nothing is tested against reservations with its own limit, not with a minute."""
    PLANS_AFTER_OTHERS = 96
    """Jobs are planned on nodes that other users have for themselves after their jobs end."""
    DROPS_IN_TURN = 97
    """Where nodes do not fit a job, the smallest ones are left out one after the other, not all of a size."""
    SLICE = 61
    """How long a time slice is (SchedulerTimeSlice); 0: no jobs of a partition take turns."""


class Weight(IntEnum):
    """Weights of priority, and other numbers with fractions."""

    AGE = 0
    ASSOCIATION = 1
    FAIRSHARE = 2
    SIZE = 3
    PARTITION = 4
    QOS = 5
    DECAY = 6
    """What a second leaves of usage."""
    DAMPENING = 7


class Placing(IntEnum):
    """In which order nodes of one weight are taken."""

    BEST_FIT = 0
    """By runs of neighbours."""
    BUSY_FIRST = 1
    """In their order, those in use before idle ones."""
    LEAST_LOADED = 2
    """Those with the largest part of their CPUs free first (LLN)."""
    FROM_THE_END = 3
    FIRST_NODE = 5
    """The first of the lowest weight that will do by itself."""
    BY_SWITCHES = 4
    """On few switches that are close to each other (topology/tree)."""


class Preemption(IntEnum):
    """Who may preempt whom."""

    OFF = 0
    BY_QOS = 1
    BY_TIER = 2


class Mode(IntEnum):
    """How jobs are preempted."""

    OFF = 0
    REQUEUE = 1
    CANCEL = 2
    SUSPEND = 3


class Waiver(IntEnum):
    """Bounds of a partition that a QOS may waive."""

    MIN_NODES = 1
    MAX_NODES = 2
    TIME = 4
