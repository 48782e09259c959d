"""Parameters of Slurm's controller: the places of their values, and the kinds of preemption."""

from __future__ import annotations

from enum import IntEnum

from headway.jit.rows import Entries

NOTICED_LATE = 60
"""Seconds that may pass before a job beyond its limit is gone: a check every 30, and KillWait."""


class Settings(Entries):
    """Parameters of the controller that are whole numbers; seconds where nothing else is said."""

    sched_interval: int  # -1: there is no main loop.
    batch_delay: int
    queue_depth: int
    partition_depth: int
    max_starts: int
    bf_interval: int
    bf_window: int
    bf_resolution: int
    bf_max_test: int
    bf_max_start: int
    bf_max_user: int
    bf_max_part: int
    bf_max_user_part: int
    bf_max_assoc: int
    bf_min_priority: int
    bf_min_age: int
    bf_part_reserve: int
    bf_one_reservation: int
    # The least time from one pass of the main loop to the next (sched_min_interval), in whole seconds: 0 by
    # default, a few microseconds.
    min_interval: int
    bf_table: int  # Records the plan table may have (bf_node_space_size).
    bf_window_linear: int
    limit_stops: int  # assoc_limit_stop: a job held by a limit holds up its partition.
    defer: int
    complete_wait: int
    epilog: int  # How long a node is completing after a job's end, on average, in ms.
    min_job_age: int  # How long the controller remembers a job that is over; 0: for ever.
    kill_wait: int
    multifactor: int
    calc_period: int
    max_age: int
    favor_small: int
    size_by_time: int
    fair_tree: int
    cluster_nodes: int
    cluster_cpus: int
    enforce: int  # Whether limits are enforced at all.
    safe: int
    memory: int  # Whether memory is a resource that jobs take.
    memory_cpu: int
    memory_node: int
    qos: int  # How many QOS there are.
    plain: int  # Every cycle goes through the whole queue, also where no more job can start in it.
    users: int
    accounts: int
    has_accounting: int  # Whether there is an accounting daemon: age and fair share count only then.
    # Whether nodes are chosen by the tree of switches: 0 not, 1 for all jobs, 2 for those that ask.
    by_switches: int
    origin: int  # When the log's clock was 0, in seconds since 1970.
    full_late: int  # How much longer than its interval the time between full passes is, in ms.
    cycle_takes: int  # How long a backfill cycle takes on average, in ms.
    late: int  # How late a cycle is on average where something changed while backfill slept, in ms.
    bf_max_array: int  # Tasks of an array that a cycle plans.
    requeue_wait: int  # How long a job waits at least that comes back to the queue.
    # Whether a limit on minutes is set anywhere, so that it may end running jobs; `safe` ones end nobody.
    minutes_end_jobs: int
    preemption: int  # :class:`Preemption`: who may take whose place.
    preempt_exempt: int  # How long a job runs before it may be preempted.
    preempt_pause: int  # How long a job that took victims takes no more.
    preempt_reorders: int
    youngest_first: int
    strict_order: int
    core_words: int  # Words that the CPUs of a node take as bits, where jobs are suspended for others.
    saves_power: int  # Whether any node is switched off when it has been idle for long.
    slice: int  # How long a time slice is (SchedulerTimeSlice); 0: no jobs of a partition take turns.
    restricts: int  # Whether some job may not use a partition that it asks for.
    waives: int  # Whether a QOS waives bounds of partitions.
    # How long after its reservation's end a job may still run (ResvOverRun), in seconds.
    reservation_over: int
    # Whether a limit on the nodes that jobs hold together is set anywhere, and limits are enforced.
    limits_nodes: int
    # PriorityFlags=MAX_TRES: jobs are billed for the one resource that gives most, not for all of them.
    max_tres: int
    depth_oblivious: int  # PriorityFlags=DEPTH_OBLIVIOUS: another formula of the classic fair share.
    busy_first: int  # bf_busy_nodes: plans take nodes in use before idle ones.
    serial_last: int  # pack_serial_at_end: jobs of one CPU take the last nodes.
    reserve_running: int  # bf_running_job_reserve: running jobs on whole nodes hold them in backfill's table.
    # PriorityFlags=ACCRUE_ALWAYS: jobs gain age from their submission on, eligible or not.
    accrue_always: int
    # Whether some jobs let nobody but their user on their nodes (--exclusive=user, ExclusiveUser).
    keeps_nodes: int
    bf_licences: int  # bf_licenses: backfill plans licences as it plans nodes.
    increases_only: int  # PriorityFlags=INCR_ONLY: a calculation lowers nobody's priority.
    weighs_tres: int  # PriorityWeightTRES: what a job asks for counts in its priority.
    tests_all: int  # EnforcePartLimits=ALL: a submission is tested in each of its partitions.
    limits_age: int  # Whether only so many waiting jobs of somebody may gain age.
    linear: int  # select/linear: jobs take whole nodes, and plans are made with one end after the other.
    bounds_nodes: int  # Whether a limit of any kind on nodes is set anywhere, and limits are enforced.
    idle_at_most: int  # How long jobs wait for an idle machine before they are turned away: a week.
    circles: int  # Whether the right to preempt and the other terms of the queue's order may run in circles.
    # A plan, or a running job in the table, ends at the next step of backfill's resolution, not the last.
    ends_rounded_up: int
    # A later window is not tried as things are now: jobs that end before it are over in it, and no end after
    # the next window's begin is looked at.
    by_window: int
    over_at_begin: int  # Jobs that end just when a window begins are over in it, too.
    looks_past: int  # The window after the last one of a search begins when the stretch behind it ends.
    # A start is the last end of a job that has one of the chosen nodes, not the last of its group.
    last_needed: int
    # A job that may have one node only takes the first one in the order of weights that will do.
    first_node: int
    # Each test sets the weights of nodes anew; where now is tried, completing nodes are heavier.
    weighs_anew: int
    tested_once: int  # Jobs that share no CPUs are not tested on all CPUs first, as if none were in use.
    array_limits_plans: int  # An array's bound on running tasks bounds those that are planned, too.
    # A job that backfill starts by the shortest limit that it accepts gets as much of its own as plans and
    # reservations leave it.
    lengthened: int
    # A job that comes back to the queue gets its priority anew at once, not with the next calculation.
    priority_anew: int
    # A plan takes at least one step of backfill's resolution, also where it is compared with others.
    holds_a_step: int
    # After a window with too few nodes, reservations must leave a job its own limit in later ones, not the
    # shortest that it accepts; after a search without a result they always must.
    whole_limit_later: int
    # A job that reserves nothing is tested against reservations with its own limit, not with a minute.
    reserved_for_all: int
    # Jobs are planned on nodes that other users have for themselves after their jobs end.
    plans_after_others: int
    # Where nodes do not fit a job, the smallest ones are left out one after the other, not all of a size.
    drops_in_turn: int


class Weights(Entries):
    """Weights of priority, and other numbers with fractions."""

    age: float
    association: float
    fairshare: float
    size: float
    partition: float
    qos: float
    decay: float  # What a second leaves of usage.
    dampening: float


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
