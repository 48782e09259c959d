"""From a log to what its jobs ask of a site: the table of jobs before the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from headway.engine.tables import Table
from headway.jit.rows import zeros
from headway.policies.prepare import Arrivals
from headway.policies.slurm.nodes.constraints import Constraint, Features
from headway.policies.slurm.nodes.memory_bounds import Asked, Idle, bounds, by_place, least_memory
from headway.policies.slurm.setup.life import Life
from headway.policies.slurm.tables.controller import UNSET
from headway.policies.slurm.tables.jobs import Adapted, SlurmJobs
from headway.policies.slurm.tables.reasons import Reason
from headway.policies.slurm.tables.sites import Choices
from headway.site import Site
from headway.site.access import DOORS, Asker, askers, enforces, restricts, rule_against
from headway.site.once import once
from headway.units import MINUTE, SECOND

REQUEST = [SlurmJobs["cpus"], SlurmJobs["cpus_per_task"], SlurmJobs["memory_cpu"], SlurmJobs["node_cpus"]]
"""What partitions make of what a job asks for, in the order of :class:`Adapted`."""


def padded(lists: Sequence[Sequence[int]], behind: int) -> Table:
    """Lists as rows, ``behind`` after the last of each."""
    width = max((len(row) for row in lists), default=0) + 1
    table = np.full((max(len(lists), 1), width), behind, np.int64)
    for row, places in enumerate(lists):
        table[row, : len(places)] = places
    return table


def standing(site: Site, part: int, asker: Asker) -> int:
    """Why a job may not use a partition (:class:`Reason`), if it was not refused at submission; 0: it may.

    Accounts and QOS are looked at when a job would start, unless EnforcePartLimits lets them be looked at
    each time the queue is built.
    """
    rule = rule_against(site, site.partitions[part], asker)
    if not rule:
        return Reason.NONE
    if rule in DOORS or enforces(site):
        return Reason.PARTITION_CONFIG
    return Reason.QOS_NOT_ALLOWED if rule.endswith("Qos") else Reason.ACCOUNT_NOT_ALLOWED


@once
def node_sizes(site: Site) -> list[tuple[Table, Table]]:
    """Of CPUs, then of memory: the sizes that nodes have, ascending, and which of them each node has."""
    both = np.array([(node.cpus, node.memory_mb) for node in site.nodes], np.int64).reshape(-1, 2).T
    return [np.unique(has, return_inverse=True) for has in both]


@once
def node_features(site: Site) -> list[set[str]]:
    """The features of each node."""
    return [set(node.features) for node in site.nodes]


PARTITIONS_BY_TIER = (24, 5, 5)
"""Since then the partitions that a job names come in the order of their tiers, the highest first."""


class Requests:
    """What the jobs of a log ask of a site."""

    def __init__(self, site: Site, arrivals: Arrivals) -> None:
        self.site, self.arrivals = site, arrivals
        self.count = len(arrivals.submit)
        self.partition_lists: list[list[int]] = []
        self.standings: list[list[int]] = []
        self.adapted = np.zeros((0, 0), np.int64)
        self.features = np.ones((1, len(site.nodes)), np.uint8)
        self.choices = zeros(Choices, 1)
        self.sizes = node_sizes(site)
        self.users = int(self.column("user", 0).max(initial=-1)) + 1 or 1
        self.accounts = int(self.column("account", 0).max(initial=-1)) + 1 or 1
        self.life = Life(site, self.count, arrivals.origin, self.column, self.labels)

    def column(self, name: str, otherwise: int) -> Table:
        """A column of the log; a value for all where it has none."""
        given = self.arrivals.extra.get(name)
        return np.full(self.count, otherwise, np.int64) if given is None else given.astype(np.int64)

    def labels(self, name: str) -> list[str]:
        """The names of a column's codes."""
        return list(self.arrivals.labels.get(name, ()))

    def table(self, resources: int) -> SlurmJobs:
        """[row, job] before the run, with rows for what jobs hold of so many resources."""
        rows = SlurmJobs(np.full((SlurmJobs["holds"] + resources, self.count), UNSET, np.int64))
        rows[SlurmJobs["holds"] :] = 0
        asked = Asked.of(self.column, self.arrivals.procs)
        rows.min_nodes[:] = np.maximum(self.column("min_nodes", 1), 1)
        rows.cpus[:], rows.tasks[:], rows.max_nodes[:] = (
            asked.cpus,
            asked.tasks,
            asked.max_nodes,
        )
        rows.cpus_per_task[:] = asked.cpus_per_task
        rows.node_cpus[:] = asked.node_cpus(asked.cpus_per_task)
        rows.tasks_per_node[:] = np.maximum(asked.tasks_per_node, 0)
        rows.contiguous[:] = self.column("contiguous", 0) > 0
        rows.switches[:] = np.maximum(self.column("switches", 0), 0)
        longest, wait = self.site.scheduling_number("max_switch_wait"), self.column("switch_wait", UNSET)
        rows.switch_wait[:] = np.where(wait < 0, longest, np.minimum(wait // SECOND, longest))
        rows.memory_node[:], rows.memory_cpu[:] = asked.memory_node, asked.memory_cpu
        for row, name in (
            (SlurmJobs["units"], "gres_units"), (SlurmJobs["by_task"], "gres_by_task"),
            (SlurmJobs["memory_unit"], "memory_gpu_mb"), (SlurmJobs["cpus_unit"], "cpus_per_gpu"),
            (SlurmJobs["any_tasks"], "any_tasks"),
        ):  # fmt: skip
            rows[row] = self.column(name, 0)
        rows.node_cpus[:] = np.maximum(rows.node_cpus, rows.cpus_unit)
        rows.exclusive[:] = asked.exclusive
        rows.keeps_nodes[:] = self.column("exclusive_user", 0) > 0
        rows.partitions[:] = self.partitions()
        rows.features[:] = self.constraints(self.too_small(rows, asked))
        rows.min_nodes[:] = self.raised(rows)
        if any(any(bounds(self.site, one)) for one in self.site.partitions):
            self.adapt(rows, asked)
        rows.size[:], rows.cpus_each[:] = rows.cpus, 1
        self.by_core(rows)
        rows.qos[:] = self.qos()
        rows.user[:] = np.maximum(self.column("user", 0), 0)
        rows.account[:] = np.maximum(self.column("account", 0), 0)
        rows.association[:] = self.associations()
        rows.limit[:] = -(-self.arrivals.walltime // MINUTE)
        rows.begin[:] = self.arrivals.submit // SECOND + self.arrivals.origin
        rows.nice[:] = self.column("nice", 0)
        rows[
            [
                SlurmJobs["reason"],
                SlurmJobs["limited"],
                SlurmJobs["loop"],
                SlurmJobs["tested"],
                SlurmJobs["row"],
            ]
        ] = 0
        self.life.fill(rows)
        rows.sized[:] = self.sized(rows)
        return rows

    def raised(self, rows: SlurmJobs) -> Table:
        """The fewest nodes of each job, as its tasks and each of its partitions want, if it accepts that."""
        bound = self.of_partitions(rows, min)
        per_node = rows.tasks_per_node
        for_tasks = -(-rows.tasks // np.maximum(per_node, 1))
        bound = np.where(per_node > 0, np.maximum(bound, for_tasks), bound)
        accepts = (rows.max_nodes == UNSET) | (rows.max_nodes >= bound)
        return np.where(accepts, np.maximum(rows.min_nodes, bound), rows.min_nodes)

    def adapt(self, rows: SlurmJobs, asked: Asked) -> None:
        """Let jobs ask for what their first partition makes of it; note where another differs."""
        lists = padded(self.partition_lists, UNSET)[rows.partitions, :-1]
        every = by_place(self.site, lists, asked)
        first = every[: len(Adapted)]
        differs = (every != np.tile(first, (lists.shape[1], 1))).any(axis=0) | (first[Adapted["cpus"]] < 0)
        rows[REQUEST] = np.where(first[Adapted["cpus"]] < 0, rows[REQUEST], first)
        rows.adapted[:] = np.where(differs, np.cumsum(differs) - 1, UNSET)
        self.adapted = np.ascontiguousarray(every[:, differs])

    def by_core(self, rows: SlurmJobs) -> None:
        """Let jobs that leave threads idle ask for all threads of their cores.

        Where they use one thread of a core, memory for each CPU is for that one.
        """
        idle = Idle.of(self.column, self.site)
        if not (idle.alone | idle.tasks).any():
            return
        per_task, by_node = rows.cpus_per_task, rows.memory_node
        rows.cpus_each[:] = idle.whole_cores(per_task, per_task) // per_task
        lists = padded(self.partition_lists, UNSET)
        parts = np.where(lists < 0, lists[:, :1], lists)[rows.partitions]
        some = rows.adapted != UNSET
        rows[REQUEST] = self.in_cores(rows[REQUEST], by_node, parts[:, 0], idle)
        for place, first in enumerate(range(0, len(self.adapted), len(Adapted))):
            ways = self.adapted[first : first + len(Adapted)]
            ways[:] = self.in_cores(ways, by_node[some], parts[some, place], idle.of_rows(some))

    def in_cores(self, ways: Table, by_node: Table, parts: Table, idle: Idle) -> Table:
        """[Adapted, job] what jobs ask for in the partitions ``parts``, with all threads of their cores."""
        cpus, per_task, by_cpu, node_cpus = ways
        default = np.array([self.site.default_memory(one)[0] for one in self.site.partitions])[parts]
        given = np.where(np.maximum(by_cpu, by_node) == UNSET, default, by_cpu)
        held = [idle.whole_cores(count, per_task) for count in (cpus, per_task, node_cpus)]
        by_thread = np.where(idle.alone & (given > 0), -(-given // idle.threads), by_cpu)
        return np.stack([*held[:2], by_thread, held[2]])

    def sized(self, rows: SlurmJobs) -> Table:
        """Whether a search may change the size of a job in its priority: 1 no, 0 the first, -1 each.

        A job that shares nodes has the CPUs that it asks for if it takes one node, or one CPU for each task.
        """
        if self.site.config.number("PriorityWeightJobSize") == 0:
            return np.ones(self.count, np.int64)
        if "bf_busy_nodes" in self.site.scheduler:  # plans take more nodes than a job asks for, or not
            return np.full(self.count, -1, np.int64)
        sizes = {(node.cpus, node.threads_per_core) for node in self.site.nodes}
        size, threads = max(sizes, default=(1, 1))
        in_some = [one.oversubscribe == "EXCLUSIVE" for one in self.site.partitions]
        whole = (rows.exclusive > 0) | self.site.is_linear | all(in_some)
        least = np.maximum(rows.min_nodes, self.of_partitions(rows, max))
        one_width = (rows.max_nodes == rows.min_nodes) & (len(sizes) == 1)
        one_node = (least <= 1) & ((rows.max_nodes == 1) | (rows.tasks == 1))
        by_task = (rows.cpus_per_task <= 1) & (rows.tasks_per_node == 0)
        by_task &= (rows.node_cpus <= 1) & (rows.cpus >= least)
        shared = ~whole & (threads == 1) & (not any(in_some)) & (rows.adapted == UNSET)
        shared &= by_task | (one_node & (rows.cpus >= rows.node_cpus))
        exact = whole & one_width & (rows.size == rows.min_nodes * size)
        return np.where(shared | exact, 1, np.where(whole & one_width, 0, -1))

    def of_partitions(self, rows: SlurmJobs, which: Callable[[Iterable[int]], int]) -> Table:
        """The smallest or largest MinNodes of the partitions of each job."""
        bounds = [which(self.site.partitions[part].min_nodes for part in row) for row in self.partition_lists]
        return np.array(bounds, np.int64)[rows.partitions]

    def too_small(self, rows: SlurmJobs, asked: Asked) -> Table:
        """[size, job] how many sizes of nodes, of CPUs and of memory, are less than a job wants of each node.

        0 where no node of its partitions is large enough: then it is the choice of nodes that finds none.
        """
        lists, cpus = rows.partitions, rows.node_cpus
        first = np.array([row[0] for row in self.partition_lists], np.int64)[lists]
        wanted = cpus, least_memory(self.site, first, asked, cpus)
        less = [np.searchsorted(sizes, want) for (sizes, _), want in zip(self.sizes, wanted, strict=True)]
        different, place = np.unique(np.stack([lists, *less]), axis=1, return_inverse=True)
        for row in different.T:
            members = [self.site.partitions[part].nodes for part in self.partition_lists[row[0]]]
            if not self.large_enough(row[1:].tolist())[[node for part in members for node in part]].any():
                row[1:] = 0
        return np.asarray(different[1:, np.asarray(place).reshape(-1)])

    def large_enough(self, less: Sequence[int]) -> npt.NDArray[np.uint8]:
        """Nodes that are not of the ``less`` smallest sizes, of CPUs and of memory."""
        enough = np.ones_like(self.features[0])
        for (_, place), count in zip(self.sizes, less, strict=True):
            enough &= place >= count
        return enough

    def constraints(self, too_small: Table) -> Table:
        """Which set of nodes each job could ever have; the first is all of them.

        Its constraint and excluded nodes decide that, and which nodes are too small for it.
        """
        names, excluded = self.labels("constraint"), self.labels("excluded_nodes")
        wanted, without = self.column("constraint", UNSET), self.column("excluded_nodes", UNSET)
        wanted = np.where(wanted < len(names), wanted, UNSET)
        without = np.where(without < len(excluded), without, UNSET)
        kinds, place = np.unique(np.stack([wanted, without, *too_small]), axis=1, return_inverse=True)
        rows, choices = [self.features[0]], [(0, 0, 0)]
        parts: list[tuple[npt.NDArray[np.uint8], int]] = []
        for constraint, barred, *less in kinds.T.tolist():
            found = Constraint.of(names[constraint] if constraint >= 0 else "")
            others = self.large_enough(less)
            if barred >= 0:
                others[self.life.node_places(excluded[barred])] = 0
            rows.append(self.having(found.allowed) & others)
            choices.append((1 + kinds.shape[1] + len(parts), len(found.parts), 0))
            parts += [(self.having(words) & others, count) for words, count in found.parts]
        self.features = np.vstack([*rows, *(row for row, _ in parts)])
        choices += [(0, 0, count) for _, count in parts]
        self.choices = Choices(np.array(choices, np.int64).T.copy())
        return np.asarray(place, np.int64).reshape(-1) + 1

    def having(self, words: Features) -> npt.NDArray[np.uint8]:
        """Nodes that have all features of one of several sets."""
        return np.array([any(one <= has for one in words) for has in node_features(self.site)], np.uint8)

    def partitions(self) -> Table:
        """Which list of partitions each job has; lists that name none are the default partition."""
        default = [p for p, one in enumerate(self.site.partitions) if one.is_default][:1] or [0]
        place, names = self.site.partition_place, self.labels("partition")
        lists = [[place[name] for name in label.split(",") if name in place] for label in names]
        if self.site.version >= PARTITIONS_BY_TIER:
            lists = [sorted(row, key=lambda part: -self.site.partitions[part].tier) for row in lists]
        self.partition_lists = [*(row or default for row in lists), default]
        self.standings = [[Reason.NONE] * len(row) for row in self.partition_lists]
        codes = self.column("partition", UNSET)
        codes = np.where((codes >= 0) & (codes < len(names)), codes, len(names))
        return self.by_standing(codes) if any(map(restricts, self.site.partitions)) else codes

    def by_standing(self, codes: Table) -> Table:
        """Lists of partitions apart for jobs that some partition of a list keeps out."""
        who, place = askers(self.site, self.arrivals.extra.get, self.arrivals.labels)
        different, found = np.unique(np.stack([codes, place], axis=1), axis=0, return_inverse=True)
        rows: dict[tuple[int, tuple[int, ...]], int] = {}
        of_pair = np.empty(len(different), np.int64)
        plain, self.standings = self.partition_lists, []
        self.partition_lists = []
        for pair, (code, asker) in enumerate(different.tolist()):
            listed = plain[code]
            barred = tuple(standing(self.site, part, who[asker]) for part in listed)
            if (code, barred) not in rows:
                rows[code, barred] = len(self.standings)
                self.standings.append(list(barred))
                self.partition_lists.append(listed)
            of_pair[pair] = rows[code, barred]
        return of_pair[np.asarray(found).reshape(-1)]

    def qos(self) -> Table:
        """The QOS of each job: its own, else its association's or the site's normal one."""
        place = self.site.qos_place
        normal = place.get("normal", UNSET)
        of_label = np.array([place.get(name, normal) for name in self.labels("qos")] + [normal], np.int64)
        return of_label[self.column("qos", UNSET)]

    def associations(self) -> Table:
        """The association of each job; -1 where the site has none for its user."""
        first = len(self.site.qos)
        place: dict[tuple[str, str], int] = {}
        default: dict[str, int] = {}
        for h, one in enumerate(self.site.associations, start=first):
            if one.user and not one.partition:
                place[one.account, one.user] = h
                default.setdefault(one.user, h)
        users, accounts = [*self.labels("user"), ""], [*self.labels("account"), ""]
        pairs: dict[tuple[int, int], int] = {}
        found = np.full(self.count, UNSET, np.int64)
        of_user, of_account = (self.column(name, UNSET).tolist() for name in ("user", "account"))
        for job, pair in enumerate(zip(of_user, of_account, strict=True)):
            if pair not in pairs:
                user = users[pair[0]] if pair[0] < len(users) else ""
                account = accounts[pair[1]] if pair[1] < len(accounts) else ""
                pairs[pair] = place.get((account, user), default.get(user, UNSET) if not account else UNSET)
            found[job] = pairs[pair]
        return found
