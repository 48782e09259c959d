"""What a Slurm site consists of, as plain data in Slurm's own terms.

Times are whole seconds or minutes as the names say, memory is MB, None stands for "not set" or "no limit".
Resources that are counted (TRES) are dictionaries by Slurm's names: cpu, mem (MB), node, gres/gpu, billing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

PARENT = (1 << 31) - 1
"""Shares of an association that has FairShare=parent."""

UNLIMITED = -1
"""OverTimeLimit=UNLIMITED: a job is never stopped at its limit; SuspendTime=INFINITE: a node is never off."""

DAY = 86_400
PERIODS = {"DAILY": DAY, "WEEKLY": 7 * DAY, "HOURLY": 3600}
"""Seconds after which a reservation with such a flag recurs."""

Tres = Mapping[str, int]


def outage_of(state: str) -> str | None:
    """What a node's state as Slurm writes it is: down, drain (what runs goes on, nothing starts), or None.

    A node that does not answer gets no jobs, unless it is being switched on. One that is switched off to save
    power, or that a reservation has for maintenance, is no outage by itself.

    >>> outage_of("DOWN+DRAIN"), outage_of("mixed+DRAIN"), outage_of("IDLE*"), outage_of("IDLE+POWERED_DOWN")
    ('down', 'drain', 'drain', None)
    """
    words = set(re.split(r"[^A-Z_]+", state.upper()))
    if words & {"DOWN", "FAIL", "FAILING", "ERROR", "FUTURE"}:
        return "down"
    silent = "*" in state or words & {"NO_RESPOND", "NOT_RESPONDING"}
    wakes = words & {"POWERING_UP", "POWER_UP"}
    drains = any(word.startswith("DRAIN") for word in words)
    return "drain" if drains or (silent and not wakes) else None


@dataclass(frozen=True, slots=True)
class Node:
    """One node. Where a node stands in its site's list decides placements: the order of definition."""

    name: str
    cpus: int
    sockets: int = 1
    cores_per_socket: int = 1
    threads_per_core: int = 1
    memory_mb: int = 1
    memory_spec_mb: int = 0
    """Memory kept for the system (MemSpecLimit)."""
    weight: int = 1
    features: tuple[str, ...] = ()
    gres: Mapping[str, int] = field(default_factory=dict)
    """Generic resources: by name, and by name:type where there is a type."""
    shared_gres: frozenset[str] = frozenset()
    """Those that jobs ask for and do not consume (no_consume)."""
    state: str = "UNKNOWN"
    off_after: int | None = None
    """Seconds after which it is switched off when idle, or UNLIMITED; None: as its partitions have it."""

    @property
    def memory_for_jobs_mb(self) -> int:
        """All memory but what is kept for the system."""
        return self.memory_mb - self.memory_spec_mb


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch of the network: its level, 0 for leaves, the switch above it (itself at the top), and the
    nodes below it at any depth, by their places in the site's list."""

    name: str
    level: int
    parent: int
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition: nodes by their places in the site's list, ascending, and who may use them how."""

    name: str
    nodes: tuple[int, ...]
    state: str = "UP"
    tier: int = 1
    job_factor: int = 1
    max_minutes: int | None = None
    default_minutes: int | None = None
    min_nodes: int = 0
    max_nodes: int | None = None
    max_cpus_per_node: int | None = None
    def_mem_per_cpu_mb: int | None = None
    def_mem_per_node_mb: int | None = None
    max_mem_per_cpu_mb: int | None = None
    max_mem_per_node_mb: int | None = None
    oversubscribe: str = "NO"
    """NO, EXCLUSIVE, YES or FORCE."""
    oversubscribe_count: int = 4
    exclusive_user: bool = False
    """Whether only one user at a time has jobs on a node (ExclusiveUser)."""
    lln: bool = False
    qos: str = ""
    over_time_limit: int | None = None
    """Minutes, or UNLIMITED; None: as the site has it."""
    preempt_mode: str = ""
    """Empty: as the site has it."""
    grace_seconds: int = 0
    allow_accounts: tuple[str, ...] | None = None
    deny_accounts: tuple[str, ...] = ()
    allow_qos: tuple[str, ...] | None = None
    deny_qos: tuple[str, ...] = ()
    allow_groups: tuple[str, ...] | None = None
    alloc_nodes: tuple[str, ...] | None = None
    root_only: bool = False
    req_resv: bool = False
    billing_weights: Mapping[str, float] = field(default_factory=dict)
    """Weight of one unit by TRES; of one MB for mem."""
    is_default: bool = False
    off_after: int | None = None
    """Seconds after which idle nodes are switched off, or UNLIMITED; None: as the site has it."""
    boot_seconds: int | None = None
    """How long they take to come back (ResumeTimeout); None: as the site has it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a QOS or an association; the ones of one kind only are not set in the other."""

    grp_jobs: int | None = None
    grp_jobs_accrue: int | None = None
    grp_submit: int | None = None
    grp_wall_minutes: int | None = None
    grp_tres: Tres = field(default_factory=dict)
    grp_tres_mins: Tres = field(default_factory=dict)
    grp_tres_run_mins: Tres = field(default_factory=dict)
    max_jobs: int | None = None
    max_jobs_accrue: int | None = None
    max_submit: int | None = None
    max_wall_minutes: int | None = None
    max_tres: Tres = field(default_factory=dict)
    max_tres_per_node: Tres = field(default_factory=dict)
    max_tres_mins: Tres = field(default_factory=dict)
    min_tres: Tres = field(default_factory=dict)
    max_jobs_per_user: int | None = None
    max_jobs_per_account: int | None = None
    max_jobs_accrue_per_user: int | None = None
    max_jobs_accrue_per_account: int | None = None
    max_submit_per_user: int | None = None
    max_submit_per_account: int | None = None
    max_tres_per_user: Tres = field(default_factory=dict)
    max_tres_per_account: Tres = field(default_factory=dict)
    max_tres_run_mins_per_user: Tres = field(default_factory=dict)
    max_tres_run_mins_per_account: Tres = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Qos:
    """A quality of service."""

    name: str
    priority: int = 0
    flags: frozenset[str] = frozenset()
    usage_factor: float = 1.0
    limit_factor: float | None = None
    preempt: tuple[str, ...] = ()
    preempt_mode: str = ""
    """Empty: as the site has it."""
    preempt_exempt_seconds: int | None = None
    grace_seconds: int = 0
    min_prio_threshold: int | None = None
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True)
class Association:
    """An account, or a user in an account (perhaps of one partition only); `parent` is its place.

    `limits` has what the association has inherited too: a user's Max* limits are his own, else those of the
    nearest account above. Grp* limits belong to the association that sets them.
    """

    account: str
    user: str = ""
    partition: str = ""
    parent: int = -1
    shares: int = 1
    priority: int = 0
    default_qos: str = ""
    qos: tuple[str, ...] = ()
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True)
class NodeEvent:
    """A node that was down, drained or the like from `start` to `end` (s since 1970; None: still)."""

    node: str
    start: int
    end: int | None
    state: str
    reason: str = ""
    partition: str = ""
    """Where a whole partition was closed: its name; the node has none then."""

    @property
    def is_outage(self) -> bool:
        """Whether anything was closed; not so where a node was only switched off to save power."""
        return bool(self.partition or not self.state or outage_of(self.state))

    @property
    def ends_jobs(self) -> bool:
        """Whether what runs on the node is lost; DRAIN only keeps new jobs away."""
        return outage_of(self.state) == "down"

    @property
    def stops_starts(self) -> bool:
        """Whether no job that waits for the node or partition starts there.

        A partition that drains takes no new jobs, but starts those that it has.
        """
        return not self.partition or "DRAIN" not in self.state.upper()


@dataclass(frozen=True, slots=True)
class Reservation:
    """Nodes kept from `start` to `end` (s since 1970) for some users or accounts, or for nobody."""

    name: str
    start: int
    end: int
    nodes: tuple[int, ...] = ()
    flags: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    partition: str = ""
    cores: int | None = None
    announced: int | None = None
    """When it was made (s since 1970); None: before the log begins."""
    number: str = ""
    """Slurm's number of it, which the accounting has; one that recurs gets another each time."""
    gone: tuple[str, ...] = ()
    """Its nodes that the site does not have, such as those that were taken down since."""

    def has(self, *flags: str) -> bool:
        """Whether it was made with one of these flags."""
        return not {flag.upper() for flag in self.flags}.isdisjoint(flags)

    @property
    def recurs(self) -> bool:
        """Whether it goes on to a next time by itself when it ends."""
        return self.has(*PERIODS, "WEEKDAY", "WEEKEND")

    def may_overlap(self, other: Reservation) -> bool:
        """Whether jobs of this reservation may use nodes that another one has at the same time."""
        return self.has("MAINT") or (self.has("OVERLAP") and not other.has("MAINT"))

    def instances(self, last: int) -> list[tuple[int, int]]:
        """Its starts and ends up to a time: one, or one for each period in which it recurs."""
        found = [(self.start, self.end)]
        step = next((seconds for name, seconds in PERIODS.items() if self.has(name)), 0)
        while self.recurs:
            start, end = found[-1]
            ahead = step or DAY * days_ahead(datetime.fromtimestamp(end, UTC), self.has("WEEKEND"))
            if start + ahead > last:
                break
            found.append((start + ahead, end + ahead))
        return found


def days_ahead(over: datetime, weekend: bool) -> int:
    """By how many days a reservation that is over moves on, to the next working day or day of a weekend.

    >>> days_ahead(datetime(2023, 11, 17), False), days_ahead(datetime(2023, 11, 19), True)
    (3, 6)
    """
    day = over.isoweekday()  # Monday is 1
    if weekend:
        return {6: 1, 7: 6}.get(day, 6 - day)
    return {5: 3, 6: 2}.get(day, 1)


@dataclass(frozen=True, slots=True)
class NotModelled:
    """Something of a site's configuration that no simulation takes into account, and where it stands."""

    name: str
    value: str
    where: str
