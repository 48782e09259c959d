"""Rows of Slurm's tables: nodes, partitions, those who set limits, and switches."""

from __future__ import annotations

from enum import IntEnum

from headway.jit.rows import FloatRow, Row, Rows


class SlurmNodes(Rows):
    """What a node has beyond the engine's rows."""

    weight: Row
    threads: Row  # CPUs of a core: the least that can be given.
    usable: Row  # 1: yes; less: it is down or drained, for so many reasons at once.
    completing: Row  # Runs that ended on it whose epilog is not over.
    idle_since: Row  # When the last job on it ended.
    off_after: Row  # How long it is idle before it is switched off; -1: it never is.
    boot_takes: Row  # How long it takes to come back.
    # The same for nodes that differ in their names only; under select/linear lighter ones have less.
    kind: Row
    # Its weight as the last tests left it: jobs with generic resources make nodes lighter for others, limits
    # on nodes make those heavier that would count anew.
    set_weight: Row
    weight_before: Row  # The same when the last cycle began.


class Partitions(Rows):
    """A partition."""

    tier: Row
    factor: Row
    max_minutes: Row
    min_nodes: Row
    max_nodes: Row
    max_cpus: Row  # CPUs of a node that its jobs may have together.
    memory_cpu: Row
    memory_node: Row
    exclusive: Row
    qos: Row
    up: Row
    nodes: Row
    failed: Row  # Whether a job of it was refused in the present pass.
    tested: Row  # Jobs of it that the present pass has looked at.
    preempt: Row  # :class:`Mode` of preempting its jobs.
    grace: Row
    alike: Row  # Whether all its nodes have the same CPUs, memory and weight.
    # Which level its jobs are on, where jobs are suspended for others; the first, if they take turns.
    level: Row
    rows: Row  # How many of its jobs may have the same core and take turns on it.
    rows_preempting: Row  # The same for jobs that may preempt one of another QOS there by suspension.
    # Which of the nodes' further rows counts the CPUs of its jobs, for MAX_CPUS or because they may share
    # them; -1: none.
    cpus_row: Row
    # Which of them counts the CPUs of all jobs that share none; -1: none, or its jobs share theirs.
    private_row: Row
    avoids_from: Row
    # From which to before which of them count CPUs of jobs that its jobs meet on no node; not its own.
    avoids_to: Row
    least_loaded: Row  # Whether jobs take the least loaded nodes first (LLN).
    keeps_nodes: Row  # Whether each of its jobs lets nobody but its user on its nodes (ExclusiveUser).
    over_time: Row  # How many seconds beyond their limit its jobs may run; -1: as long as they like.


class Choices(Rows):
    """How a constraint chooses nodes: its parts are further sets of nodes with features."""

    first: Row
    parts: Row  # 0: any of the allowed nodes.
    nodes: Row  # Of a part: how many nodes are to be of it; 0: all, or all of another part.


class Factors(Rows):
    """Numbers of a partition, a QOS or an association that priority reads, from 0 to 1."""

    partition: FloatRow
    qos: FloatRow
    association: FloatRow


class Tres(IntEnum):
    """What limits, bills and weights of the priority count; generic resources follow."""

    CPU = 0
    MEMORY = 1
    NODE = 2
    BILLING = 3


class Holders(Rows):
    """Who sets limits and is charged: QOS first, then associations."""

    parent: Row  # The association above; -1 for the root and for QOS.
    shares: Row
    is_user: Row
    running: Row
    no_decay: Row
    over_partition: Row  # A QOS whose limits come before those of the partition's.
    min_priority: Row
    no_reserve: Row
    grp_jobs: Row
    grp_wall: Row
    max_jobs: Row  # Of an association.
    max_wall: Row
    max_jobs_user: Row
    max_jobs_account: Row
    priority: Row  # Of a QOS.
    exempt: Row  # How long a job of a QOS runs before it may be preempted; -1: as the site has it.
    preempt: Row  # :class:`Mode` of preempting jobs of a QOS.
    grace: Row
    submitted: Row  # Jobs that wait or run.
    grp_submit: Row
    max_submit: Row  # Of an association.
    max_submit_user: Row
    waives: Row  # Which bounds of partitions do not bind jobs of a QOS (:class:`Waiver`, as bits).
    max_submit_account: Row
    # Until when the present cycle plans nobody of a QOS, because a limit stopped one (assoc_limit_stop).
    blocked: Row
    ageing: Row  # Waiting jobs that gain age, where that is limited.
    grp_ageing: Row
    max_ageing: Row  # Of an association.
    max_ageing_user: Row
    max_ageing_account: Row


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


class Usage(Rows):
    """Numbers of a QOS or an association that change."""

    raw: FloatRow  # Billing seconds, decayed.
    wall: FloatRow
    fairshare: FloatRow  # The fair share factor of a user, as last calculated.
    shares_norm: FloatRow
    level: FloatRow
    effective: FloatRow
    factor: FloatRow  # UsageFactor of a QOS.
    shares_product: FloatRow  # Parts of the shares multiplied up to the root.
    # What a minute of a job of a QOS counts for limits before it starts: UsageFactor if UsageFactorSafe.
    limit_factor: FloatRow


class Switches(Rows):
    """A switch of the network, and what the choice of nodes notes about it."""

    level: Row  # 0 for leaves.
    parent: Row  # The switch above it; itself where there is none.
    nodes: Row  # How many nodes below it may be taken.
    distance: Row  # Steps from the switches in use, all together; -1: some cannot be reached.
    in_use: Row
