"""A site: a machine with rules, and where its jobs are recorded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.site import values
from headway.site.config import CORRECT, Config
from headway.site.diagnosis import Diagnosis
from headway.site.model import (
    UNLIMITED,
    Association,
    Node,
    NodeEvent,
    NotModelled,
    Partition,
    Qos,
    Reservation,
    Switch,
)
from headway.site.node_names import expanded
from headway.site.parameters import NEVER, SCHEDULER, TAKEN, VERSION, Version
from headway.site.version import OLDEST
from headway.values import LARGEST

if TYPE_CHECKING:
    from headway.platform import Platform
    from headway.workload import Workload

_COUNTED = re.compile(r"((?:[^,:\[\]]|\[[^\]]*\])+)(?::(\d+))?")
"""A node, or n[1-8], and the number behind it as in n[1-8]:2."""


@dataclass(frozen=True)
class Site:
    """A Slurm site. `load` reads a folder with what a site has, or a TOML file written by hand.

    Associations have the root first and parents before children; there are none where a site has no
    accounting. `scheduler` is SchedulerParameters taken apart. `usage` is raw usage (s x billing) by account
    and user, before the log begins or when it was `exported`.
    """

    name: str
    nodes: tuple[Node, ...]
    partitions: tuple[Partition, ...]
    qos: tuple[Qos, ...] = ()
    associations: tuple[Association, ...] = ()
    config: Config = field(default_factory=Config)
    scheduler: Mapping[str, str] = field(default_factory=dict)
    usage: Mapping[tuple[str, str], float] = field(default_factory=dict)
    exported: int | None = None
    """When `usage` was what it is (s since 1970), by sdiag.txt; None where nobody says."""
    diagnosis: Diagnosis | None = None
    """How often backfill ran, and how long it took, by sdiag.txt."""
    delays: Mapping[str, float] = field(default_factory=dict)
    """Seconds by which backfill is delayed according to that, by the names of the policy's parameters."""
    licenses: Mapping[str, int] = field(default_factory=dict)
    groups: Mapping[str, frozenset[str]] | None = None
    """Users by group (groups.txt), for AllowGroups; None where nobody says who is in which."""
    events: tuple[NodeEvent, ...] = ()
    reservations: tuple[Reservation, ...] = ()
    switches: tuple[Switch, ...] = ()
    """The tree of the network (topology/tree); none where nodes are chosen without it."""
    not_modelled: tuple[NotModelled, ...] = ()
    jobs: Path | None = None
    """The log that goes with the site."""
    folder: Path | None = None
    zone: str = "UTC"
    """The time zone of clock times in its files, the log among them."""

    def __post_init__(self) -> None:
        if self.is_linear:  # where MaxCPUsPerNode bounds nobody
            free = tuple(replace(one, max_cpus_per_node=None) for one in self.partitions)
            object.__setattr__(self, "partitions", free)

    @classmethod
    def load(cls, folder: str | Path, zone: str = "UTC") -> Site:
        """The site of a folder with slurm.conf, or what scontrol shows, and what sacctmgr shows.

        Its parts must agree; what is not modelled of them is said.
        """
        from headway.site.checks import check
        from headway.site.folder import read
        from headway.site.modelled import rules_not_modelled

        parts = read(Path(folder), zone)
        site, lines = cls(**parts.fields()), parts.lines
        check(site, lines)
        not_modelled = (*parts.not_modelled(), *rules_not_modelled(site, lines))
        interval, diagnosis = site.scheduling_number("bf_interval"), site.diagnosis
        delays = {} if diagnosis is None else diagnosis.delays(interval)
        return replace(site, not_modelled=not_modelled, delays=delays)

    @cached_property
    def made_of_it(self) -> dict[str, Any]:
        """What others have made of the site, by who made it (:mod:`headway.site.once`)."""
        return {}

    @cached_property
    def cpus(self) -> int:
        """CPUs of all nodes."""
        return sum(node.cpus for node in self.nodes)

    @property
    def version(self) -> Version:
        """The version of Slurm whose rules are taken: the site's, else the oldest that is known."""
        return self.config.version or OLDEST

    def at_version(self, text: str) -> Site:
        """The same site under another version of Slurm."""
        return replace(self, config=self.config.with_value(VERSION, text))

    @property
    def is_linear(self) -> bool:
        """Whether jobs take whole nodes by ``select/linear``."""
        return "linear" in self.config.get("SelectType").lower()

    @cached_property
    def node_place(self) -> Mapping[str, int]:
        """The place of each node in the list, by its name."""
        return {node.name: place for place, node in enumerate(self.nodes)}

    def power(self) -> list[tuple[int, int]]:
        """Of each node the seconds after which it is switched off when idle (SuspendTime), or UNLIMITED, and
        those that it takes to come back (ResumeTimeout): its own, else the longest of its partitions, else
        the site's."""
        text, boot = self.config.get("SuspendTime"), self.config.seconds("ResumeTimeout") or 0
        never = values.nothing(text) or values.endless(text)
        after = UNLIMITED if never else self.config.seconds("SuspendTime") or 0
        times: list[list[int]] = [[] for _ in self.nodes]
        boots: list[list[int]] = [[] for _ in self.nodes]
        for one in self.partitions:
            for place in one.nodes:
                times[place] += [] if one.off_after is None else [one.off_after]
                boots[place] += [] if one.boot_seconds is None else [one.boot_seconds]
        found = []
        for place, node in enumerate(self.nodes):
            own = times[place] if node.off_after is None else [node.off_after]
            longest = UNLIMITED if UNLIMITED in own else max(own, default=after)
            off = UNLIMITED if place in self.always_on else longest
            found.append((off, max(boots[place], default=boot)))
        return found

    @cached_property
    def always_on(self) -> frozenset[int]:
        """Nodes that are never switched off to save power (SuspendExcNodes, SuspendExcParts).

        Of a list with a number behind it, n[1-8]:2, the first so many: Slurm keeps as many idle ones on.
        """
        given = self.config.get("SuspendExcNodes")
        found: set[int] = set()
        for names, count in _COUNTED.findall("" if values.nothing(given) else given):
            known = [self.node_place[name] for name in expanded(names) if name in self.node_place]
            found.update(known[: int(count or len(known))])
        for name in values.names(self.config.get("SuspendExcParts")):
            if name in self.partition_place:
                found.update(self.partitions[self.partition_place[name]].nodes)
        return frozenset(found)

    @cached_property
    def partition_place(self) -> Mapping[str, int]:
        """The place of each partition in the list, by its name."""
        return {partition.name: place for place, partition in enumerate(self.partitions)}

    @cached_property
    def qos_place(self) -> Mapping[str, int]:
        """The place of each QOS in the list, by its name."""
        return {qos.name: place for place, qos in enumerate(self.qos)}

    @cached_property
    def account_place(self) -> Mapping[str, int]:
        """The place of each account's own association in the list, by its name in lower case."""
        listed = enumerate(self.associations)
        return {one.account.lower(): place for place, one in listed if not one.user}

    @property
    def default_partition(self) -> Partition | None:
        """The partition of jobs that name none."""
        return next((partition for partition in self.partitions if partition.is_default), None)

    def default_memory(self, partition: Partition) -> tuple[int, int]:
        """MB for each CPU or for each node that a job has which asks for none; 0 and 0: all of a node."""
        own = partition.def_mem_per_cpu_mb or 0, partition.def_mem_per_node_mb or 0
        if any(own):
            return own
        return self.config.number("DefMemPerCPU"), self.config.number("DefMemPerNode")

    def scheduling(self, name: str) -> str | None:
        """A part of SchedulerParameters: the site's value, else Slurm's default; None where it is off.

        Parts that are only switched on, such as bf_continue, give "" where they are on.
        """
        if name in self.scheduler:
            return self.scheduler[name]
        return SCHEDULER.get(name) or None

    def scheduling_number(self, name: str) -> int:
        """A part of SchedulerParameters that is a whole number; the default where Slurm takes no such."""
        text = self.scheduling(name) or "0"
        try:
            number = int(text)
        except ValueError:
            message = f"{name}={text} is not a whole number; {CORRECT}"
            raise self.config.error(message, "SchedulerParameters") from None
        if abs(number) > LARGEST:
            raise self.config.error(f"{name}: is a number out of range; {CORRECT}", "SchedulerParameters")
        least, most = TAKEN.get(name, (0, number))
        taken = least <= number <= most or number == NEVER.get(name)
        return number if taken else int(SCHEDULER.get(name) or 0)

    def platform(self) -> Platform:
        """The machine: the CPUs of all nodes for policies that count them, the site for those that know."""
        from headway.platform import Cluster, Platform

        return Platform((Cluster(self.name or "site", procs=self.cpus),), str(self.folder or ""), self)

    def origin(self) -> dict[str, Any]:
        """Plain data for ``run.json``: its name, where it was read, the digest of that, and its delays."""
        from headway.site.described import digest

        folder = "" if self.folder is None else str(self.folder.resolve())
        found = {"name": self.name, "folder": folder, "sha256": digest(self)}
        return found | ({"delays": dict(self.delays)} if self.delays else {})

    def read_jobs(self, log: str | None = None, **rules: str) -> Workload:
        """The jobs of the site's log, or of another, with all that Slurm knew of their requests."""
        from headway.site.jobs import read_jobs

        return read_jobs(self, log, rules)
