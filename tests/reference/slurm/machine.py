"""The things Slurm schedules: nodes, partitions, jobs and what a running job holds.

Times are whole Unix seconds, limits whole minutes, memory is in MB.  A node set is an integer whose bit i is
the node defined i-th.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

YEAR = 365 * 24 * 60
"""Minutes that stand for "no limit"."""


def members(nodes: int) -> Iterator[int]:
    """The indices of a node set, from low to high."""
    while nodes:
        low = nodes & -nodes
        yield low.bit_length() - 1
        nodes ^= low


def node_set(indices: Iterable[int]) -> int:
    total = 0
    for i in indices:
        total |= 1 << i
    return total


@dataclass(frozen=True)
class Node:
    name: str
    cpus: int = 1
    memory: int = 1
    weight: int = 1
    features: frozenset[str] = frozenset()
    gpus: int = 0
    threads: int = 1
    """CPUs of a core; a core goes to one job."""


@dataclass
class Partition:
    name: str
    nodes: int
    tier: int = 1
    job_factor: int = 1
    max_time: int | None = None
    """Minutes; None is no limit."""
    default_time: int | None = None
    min_nodes: int = 0
    max_nodes: int | None = None
    max_cpus_per_node: int | None = None
    exclusive: bool = False
    sharing: int = 1
    """Jobs that may have the same CPU, if they ask for it (OverSubscribe=YES) or all of them (FORCE)."""
    forced: bool = False
    preempt_mode: str = ""
    grace: int = 0
    up: bool = True
    qos: str = ""
    least_loaded: bool = False


@dataclass
class Job:
    """A job or one task of an array, as it was asked for and as it stands."""

    id: int
    submit: int
    nodes: int
    cpus: int
    limit: int
    partitions: tuple[str, ...]
    user: str = ""
    account: str = ""
    qos: str = ""
    whole: bool = False
    memory: int = 0
    """MB on each node, or on each CPU with `per_cpu`; 0 asks for all of a node where memory is counted."""
    per_cpu: bool = False
    cpus_per_task: int = 1
    tasks_per_node: int = 0
    """Tasks that each node gets; 0: as many as there is room for."""
    gpus: int = 0
    """GPUs on each node."""
    features: frozenset[str] = frozenset()
    required: int = 0
    excluded: int = 0
    time_min: int = 0
    reservation: str = ""
    licences: dict[str, int] = field(default_factory=dict)
    nice: int = 0
    name: str = ""
    array: int = 0
    """Identity shared by the tasks of one array; 0 for a plain job."""
    task: int = -1
    waiting_tasks: tuple[int, ...] = ()
    """Tasks of an array that have not started; one record stands for all of them."""
    array_limit: int = 0
    """Tasks that may run at once; 0 is no limit."""
    dependency: str = ""
    begin: int = 0
    eligible: int = 0
    priority: int = 0
    priority_in: dict[str, int] = field(default_factory=dict)
    """Priority in each partition of a job that lists several."""
    requeue: bool = False
    made: int = 0
    """When the controller made this entry of its list of jobs: a number that grows."""

    @property
    def tasks(self) -> int:
        return self.cpus // self.cpus_per_task

    @property
    def node_cpus(self) -> int:
        """CPUs that each node must give it at least."""
        return self.cpus_per_task * (self.tasks_per_node if self.tasks > 1 and self.tasks_per_node else 1)

    def next_task(self) -> Job:
        """What starts when this job starts: itself, or the lowest waiting task of an array."""
        if not self.waiting_tasks:
            return self
        return replace(self, task=self.waiting_tasks[0], waiting_tasks=())

    def priority_for(self, partition: str) -> int:
        return self.priority_in.get(partition, self.priority)


@dataclass
class Allocation:
    """What a running or suspended job holds."""

    job: Job
    partition: str
    nodes: int
    cpus: dict[int, int]
    memory: dict[int, int]
    start: int
    end: int
    """Start plus the limit: all that planning knows."""
    suspended: bool = False
    cores: dict[int, int] = field(default_factory=dict)
    """Which cores of each node, as bits; kept only where jobs are suspended for others."""
    gres: dict[int, dict[str, int]] = field(default_factory=dict)
    """Resource with its type -> how many, of each node for which a log tells it."""

    @property
    def total_cpus(self) -> int:
        return sum(self.cpus.values())


@dataclass
class Settings:
    """What slurm.conf says beyond nodes and partitions; the defaults are Slurm's."""

    counts_memory: bool = False
    bf_interval: int = 30
    bf_window: int = 1440 * 60
    bf_resolution: int = 60
    bf_max_job_test: int = 500
    bf_max_job_start: int = 0
    bf_max_job_user: int = 0
    bf_max_job_part: int = 0
    bf_max_job_user_part: int = 0
    bf_max_job_assoc: int = 0
    bf_max_job_array_resv: int = 20
    bf_node_space_size: int = 0
    bf_min_age_reserve: int = 0
    bf_min_prio_reserve: int = 0
    bf_job_part_count_reserve: int = 0
    bf_one_resv_per_job: bool = False
    bf_running_job_reserve: bool = False
    bf_window_linear: int = 0
    bf_busy_nodes: bool = False
    default_queue_depth: int = 100
    partition_job_depth: int = 0
    sched_max_job_start: int = 0
    sched_interval: int = 60
    batch_sched_delay: int = 3
    defer: bool = False
    assoc_limit_stop: bool = False
    complete_wait: int = 0
    kill_wait: int = 30
    message_timeout: int = 10
    over_time_limit: int = 0
    pack_serial_at_end: bool = False
    preempt_type: str = ""
    preempt_mode: str = "OFF"
    preempt_exempt_time: int = 0
    preempt_youngest_first: bool = False
    preempt_strict_order: bool = False
    preempt_reorder_count: int = 1
    cred_expire: int = 120
    enforce: frozenset[str] = frozenset()
    version: tuple[int, ...] = (22, 5)

    def since(self, *version: int) -> bool:
        """Whether a rule of this version is in force."""
        return self.version >= version

    @property
    def gang(self) -> bool:
        """Whether jobs are suspended for others on the same cores."""
        return "GANG" in self.preempt_mode

    @property
    def table_size(self) -> int:
        return self.bf_node_space_size or self.bf_max_job_test


@dataclass(frozen=True)
class Switch:
    """A switch of the network with all nodes below it."""

    name: str
    level: int
    parent: int
    nodes: int


@dataclass
class Machine:
    nodes: tuple[Node, ...]
    partitions: dict[str, Partition]
    settings: Settings
    switches: tuple[Switch, ...] = ()

    @property
    def all_nodes(self) -> int:
        return (1 << len(self.nodes)) - 1
