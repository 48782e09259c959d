"""From a log and a site to what concerns the life of jobs: arrays, dependencies, begin times and holds,
reservations, nodes that are lost and come back, generic resources and licences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from headway.engine.tables import Table
from headway.jit.rows import zeros
from headway.policies.slurm.setup.versions import SHARED_BY_REQUEST
from headway.policies.slurm.tables.controller import UNSET
from headway.policies.slurm.tables.jobs import SlurmJobs
from headway.policies.slurm.tables.life import (
    After,
    Arrays,
    Dependencies,
    Happenings,
    Licences,
    Reservations,
    What,
)
from headway.site import Site, values
from headway.site.happenings import times_of
from headway.site.model import Partition
from headway.site.model import Reservation as Reserved
from headway.site.node_names import expanded
from headway.site.once import once
from headway.units import LATEST, MINUTE, NEVER, SECOND

DAY = 24 * 3600
STARTED, CORRESPONDING, SINGLETON = "after", "aftercorr", "singleton"
KINDS = {
    STARTED: After.STARTED, "afterany": After.ENDED, "afterok": After.OK, CORRESPONDING: After.OK,
    "afternotok": After.NOT_OK,
}  # fmt: skip


class Life:
    """What the log's jobs depend on; ``column`` and ``labels`` give its columns."""

    def __init__(self, site: Site, count: int, origin: int, column, labels) -> None:  # type: ignore[no-untyped-def]
        self.site, self.count, self.origin = site, count, origin
        self.column, self.labels = column, labels
        self.arrays = zeros(Arrays, 0)
        self.dependencies = zeros(Dependencies, 0)
        self.required = np.zeros((1, -(-len(site.nodes) // 8) * 8), np.uint8)
        self.cancelled_at = np.full(count, NEVER)
        self.by_users: list[tuple[int, int, int]] = []
        """Jobs that are released or cancelled: when, which of the two, and the job."""

    def fill(self, rows: SlurmJobs) -> None:
        """Fill the rows of jobs that belong here."""
        submit, texts, codes = (
            rows.begin.copy(),
            self.labels("end_by"),
            self.column("end_by", UNSET),
        )
        for job in np.flatnonzero((codes >= 0) & (codes < len(texts))).tolist():
            rows.deadline[job] = moment(texts[codes[job]], int(submit[job]), UNSET)
        after = self.column("cancelled_after", UNSET)
        self.cancelled_at = np.where(after >= 0, submit + after // SECOND, NEVER)
        rows.cancelled[:] = after >= 0
        self.by_users = [
            (int(self.cancelled_at[job]), What.CANCEL, job) for job in np.flatnonzero(after >= 0).tolist()
        ]
        named = by_name(self.site.reservations).items()
        reserved = {
            name: places[0]
            for name, places in named
            if not self.site.reservations[places[0]].has("ANY_NODES")
        }
        rows.reservation[:] = self.coded("reservation", lambda name: reserved.get(name, UNSET), UNSET)
        self.fill_arrays(rows)
        self.fill_begins(rows)
        self.fill_dependencies(rows)
        rows.succeeds[:] = np.isin(self.column("status", 1), (1, UNSET))
        rows.outcome[:] = rows.attempts[:] = 0
        shortest = self.column("time_min", UNSET)
        rows.minutes_min[:] = np.where(shortest > 0, -(-shortest // MINUTE), UNSET)
        asked = self.column("requeue", UNSET)
        by_default = self.site.config.number("JobRequeue") > 0
        rows.requeues[:] = np.where(asked == UNSET, by_default, asked > 0)
        asked = self.column("kill_invalid", UNSET)
        rows.kill_invalid[:] = np.where(asked == UNSET, "kill_invalid_depend" in self.site.scheduler, asked)
        rows.accepted[:] = (self.column("recorded_start", UNSET) >= 0) | (rows.cancelled > 0)
        rows.required[:] = self.coded("required_nodes", self.required_set, 0)
        side_by_side = self.column("contiguous", 0) > 0
        for job in np.flatnonzero((rows.required > 0) & side_by_side).tolist():
            rows.required[job] = self.without_gaps(rows.required[job])
        self.go_on(rows, submit)

    def go_on(self, rows: SlurmJobs, submit: Table) -> None:
        """Jobs from before the simulation: who ran has the nodes that it had, and waits for nobody."""
        since = self.column("since", UNSET)
        before = since != UNSET
        rows.since[:] = np.where(before, since // SECOND + self.origin, UNSET)
        rows.accepted[:] |= before
        rows.ran[:] = self.column("ran", 0)
        ran = np.flatnonzero(rows.ran)
        rows.begin[ran] = submit[ran]
        for row in (SlurmJobs["held"], SlurmJobs["kept_back"], SlurmJobs["dependencies"]):
            rows[row, ran] = 0
        self.by_users = [
            (at, what, job) for at, what, job in self.by_users if what != What.RELEASE or not rows.ran[job]
        ]
        names, codes = self.labels("node_list"), self.column("node_list", UNSET)
        for job in ran.tolist():
            places = self.node_places(names[codes[job]]) if 0 <= codes[job] < len(names) else []
            if places:
                rows.required[job] = self.required_set(names[codes[job]])
                rows[[SlurmJobs["min_nodes"], SlurmJobs["max_nodes"]], job] = len(places)

    def coded(self, name: str, of_label, otherwise: int) -> Table:  # type: ignore[no-untyped-def]
        """What a function makes of the text of each job in a column of texts."""
        labels = self.labels(name)
        codes, place = np.unique(self.column(name, UNSET), return_inverse=True)
        found = [of_label(labels[code]) if 0 <= code < len(labels) else otherwise for code in codes.tolist()]
        return np.array(found, np.int64)[place.reshape(-1)]

    def node_places(self, text: str) -> list[int]:
        """The nodes of a list such as n[1-3,7] that the site has."""
        try:
            names = expanded(text)
        except ValueError:
            return []
        return [self.site.node_place[name] for name in names if name in self.site.node_place]

    def required_set(self, text: str) -> int:
        """The number of the set of nodes that a job must have; 0 where it names none that the site has."""
        row = np.zeros((1, self.required.shape[1]), np.uint8)
        row[0, self.node_places(text)] = 1
        if not row.any():
            return 0
        self.required = np.vstack([self.required, row])
        return len(self.required) - 1

    def without_gaps(self, required: int) -> int:
        """The set of the same required nodes and all between them, for a job that wants them side by side."""
        row = np.zeros_like(self.required[:1])
        places = np.flatnonzero(self.required[required])
        row[0, places[0] : places[-1] + 1] = 1
        self.required = np.vstack([self.required, row])
        return len(self.required) - 1

    def fill_arrays(self, rows: SlurmJobs) -> None:
        """Which tasks belong together, and how many of them may run at once."""
        rows.first_task[:], rows.array[:] = np.arange(self.count), UNSET
        numbers = self.column("array", UNSET)
        in_array = np.flatnonzero(numbers >= 0)
        if not len(in_array):
            return
        names, first, place = np.unique(numbers[in_array], return_index=True, return_inverse=True)
        rows.array[in_array] = place
        rows.first_task[in_array] = in_array[first][place]
        self.arrays = Arrays(np.full((len(Arrays), len(names)), UNSET, np.int64))
        limit = self.column("array_limit", 0)[in_array[first]]
        self.arrays.limit[:] = np.where(limit > 0, limit, UNSET)
        self.arrays[[Arrays["running"], Arrays["plans"]]] = 0

    def fill_begins(self, rows: SlurmJobs) -> None:
        """When jobs may start at the earliest; holds are released when the log says the job was eligible.

        A job that was cancelled before it was eligible, for no reason that the log gives, never is.

        A job that became eligible later than it was submitted, for no reason that the log gives, may have
        had a begin time or a dependency in its script: it is eligible then in a simulation, too. Slurm also
        calls a job eligible only when the limit of its array lets it in, or its reservation has begun; a
        simulation finds out for itself when that is.
        """
        submit = rows.begin.copy()
        eligible = self.eligible()
        self.share_eligible(rows, eligible)
        later = np.maximum(eligible, submit)
        held = self.column("held", 0) > 0
        depends = self.column("dependency", UNSET) >= 0
        asked = self.column("begin", UNSET) >= 0
        texts, codes = self.labels("begin"), self.column("begin", UNSET)
        reserved = rows.reservation != UNSET
        rows.begin[:] = np.where(held | ((depends | reserved) & ~asked), submit, later)
        for job in np.flatnonzero(asked & (eligible <= submit)).tolist():
            at = int(submit[job])
            rows.begin[job] = max(moment(texts[codes[job]], at, at), at)
        rows.held[:] = rows.kept_back[:] = held
        released = held & (later < self.cancelled_at)
        self.by_users += [(int(later[job]), What.RELEASE, job) for job in np.flatnonzero(released).tolist()]

    def eligible(self) -> Table:
        """When jobs were eligible, in seconds since 1970; UNSET where the log does not say.

        A job that was cancelled, and of which it does not say that as it does of others, was not eligible
        until then.
        """
        eligible = self.column("eligible", UNSET)
        never = (self.cancelled_at < NEVER) & (eligible >= 0).any()
        otherwise = np.where(never, self.cancelled_at, UNSET)
        return np.where(eligible >= 0, eligible // SECOND + self.origin, otherwise)

    def share_eligible(self, rows: SlurmJobs, eligible: Table) -> None:
        """Let tasks of an array with a limit be eligible when the first of them was."""
        if not self.arrays.shape[1]:
            return
        arrays = rows.array
        limited = np.flatnonzero((arrays != UNSET) & (self.arrays.limit[arrays] != UNSET))
        first = np.full(self.arrays.shape[1], np.iinfo(np.int64).max)
        np.minimum.at(first, arrays[limited], eligible[limited])
        eligible[limited] = first[arrays[limited]]

    def fill_dependencies(self, rows: SlurmJobs) -> None:
        """Whom jobs wait for: jobs of the log by their numbers; others are over already.

        A job that waits for none of the log, perhaps for one that was cancelled before it ran, is eligible
        when the log says that it was.
        """
        rows[[SlurmJobs["depends"], SlurmJobs["dependencies"], SlurmJobs["depends_on_any"]]] = 0
        texts, codes = self.labels("dependency"), self.column("dependency", UNSET)
        dependent = np.flatnonzero((codes >= 0) & (codes < len(texts)))
        if not len(dependent):
            return
        targets = self.jobs_by_number()
        eligible = self.eligible()
        entries: list[tuple[int, int, int, int]] = []
        shared: dict[str, tuple[int, int]] = {}
        alone = self.of_the_same_name([job for job in dependent.tolist() if SINGLETON in texts[codes[job]]])
        for job in dependent.tolist():
            text = texts[codes[job]]
            by_itself = CORRESPONDING in text or SINGLETON in text
            if by_itself or text not in shared:
                first = len(entries)
                entries += self.entries(text, job, targets, alone, first)
                shared[text] = first, len(entries) - first
            rows.depends[job], rows.dependencies[job] = shared[text]
            rows.depends_on_any[job] = "?" in text
            if rows.dependencies[job] > 0:
                rows.kept_back[job] = 1
            elif not rows.held[job]:
                rows.begin[job] = max(rows.begin[job], eligible[job])
        self.dependencies = Dependencies(np.array(entries, np.int64).reshape(-1, len(Dependencies)).T.copy())

    def jobs_by_number(self) -> dict[str, list[int]]:
        """The jobs of each number: a job, a task as 12_3, all tasks of an array."""
        found: dict[str, list[int]] = {}
        numbers, arrays, tasks = (self.column(name, UNSET) for name in ("job", "array", "array_task"))
        for job in range(self.count):
            if arrays[job] >= 0:
                found.setdefault(str(arrays[job]), []).append(job)
                found[f"{arrays[job]}_{tasks[job]}"] = [job]
        for job, number in enumerate(numbers.tolist()):
            found.setdefault(str(number), [job])
        return found

    def entries(
        self,
        text: str,
        job: int,
        targets: dict[str, list[int]],
        alone: dict[int, list[tuple[int, int]]],
        group: int,
    ) -> list[tuple[int, int, int, int]]:
        """The entries of one job's dependencies; what refers to jobs that are not in the log is left out."""
        found: list[tuple[int, int, int, int]] = []
        task = int(self.column("array_task", UNSET)[job])
        for part in re.split(r"[,?]", text):
            kind, *numbers = part.split(":")
            kind = re.sub(r"\(.*\)$", "", kind.strip())
            if kind == SINGLETON:
                for other, target in alone.get(job, []):
                    found.append((other, target, 0, group + len(found)))
            for number in numbers if kind in KINDS else []:
                name, _, minutes = re.sub(r"\(.*\)$", "", number).partition("+")
                if kind == CORRESPONDING and f"{name}_{task}" in targets:
                    name = f"{name}_{task}"
                together = group + len(found)
                for target in targets.get(name.removesuffix("_*"), []):
                    if target != job:
                        wait = int(minutes) if minutes.isdigit() else 0
                        found.append((KINDS[kind], target, wait, together))
        return found

    def of_the_same_name(self, singletons: Sequence[int]) -> dict[int, list[tuple[int, int]]]:
        """For each job that wants to be the only one of its name and user: what it waits for, and of whom.

        Whoever came before it is to be over, whether it asked for the like or not; the last of those that did
        has waited for all before itself. Who came later and did not ask must not be running. The tasks of an
        array do not wait for each other.
        """
        names, users = self.column("name", UNSET), self.column("user", UNSET)
        asked = frozenset(singletons)
        key = {int(names[job]) for job in singletons} - {UNSET}
        members: dict[tuple[int, int], list[int]] = {}
        for job in np.flatnonzero(np.isin(names, list(key))).tolist():
            members.setdefault((int(users[job]), int(names[job])), []).append(job)
        arrays = self.column("array", UNSET)
        found: dict[int, list[tuple[int, int]]] = {}
        for jobs in members.values():
            before: list[int] = []
            own: list[tuple[int, int]] = []
            for place, job in enumerate(jobs):
                if job in asked and (arrays[job] < 0 or not before or arrays[before[0]] != arrays[job]):
                    later = [other for other in jobs[place + 1 :] if other not in asked]
                    own = [
                        *((After.ENDED, other) for other in before),
                        *((After.NOT_RUNNING, other) for other in later),
                    ]
                    before = []
                if job in asked:
                    found[job] = own
                before.append(job)
        return found


def moment(text: str, submit: int, otherwise: int) -> int:
    """The second since 1970 that ``--begin`` or ``--deadline`` names; ``otherwise`` where it cannot be told.

    A time of day is the next one after the submission. Times are UTC, as those of the log are taken to be.

    >>> moment("now+1hour", 1000, 0), moment("now+90", 1000, 0), moment("1700000000", 1000, 0)
    (4600, 1090, 1700000000)
    >>> moment("00:30", 1000, 0), moment("00:10", 1000, 0), moment("1970-01-02", 1000, 0), moment("?", 1, 7)
    (1800, 87000, 86400, 7)
    """
    given = text.strip().lower()
    scale = {"": 1, "second": 1, "minute": 60, "hour": 3600, "day": DAY, "week": 7 * DAY}
    # A number of more digits than these is no time that Slurm could have taken.
    if match := re.fullmatch(r"now(?:\+(\d{1,10})([a-z]*?)s?)?", given):
        return min(submit + int(match[1] or 0) * scale.get(match[2] or "", 1), LATEST // SECOND)
    if re.fullmatch(r"\d{9,11}", given):
        return int(given)
    named = {"midnight": "00:00", "noon": "12:00", "fika": "15:00", "teatime": "16:00"}
    if match := re.fullmatch(r"(\d{1,2}):(\d\d)(?::(\d\d))?\s*(am|pm)?", named.get(given, given)):
        hour = int(match[1]) % 12 + 12 * (match[4] == "pm") if match[4] else int(match[1])
        second = hour * 3600 + int(match[2]) * 60 + int(match[3] or 0)
        return submit + (second - submit) % DAY
    try:
        found = datetime.fromisoformat(text.strip().upper())
    except ValueError:
        return otherwise
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())


def reservation_tables(site: Site, last: int, ahead: int) -> tuple[Reservations, npt.NDArray[np.uint8]]:
    """Reservations and their nodes, until ``ahead`` seconds after the ``last`` submission.

    Those that recur stand behind the others again, once for each further time. Of those with one name only
    one exists at a time: the next is known of when the last is over.
    """
    times = list(times_of(site.reservations, last, ahead))
    times.sort(key=lambda time: time[1] > site.reservations[time[0]].start)
    table = Reservations(np.full((len(Reservations), len(times)), UNSET, np.int64))
    sets = np.zeros((len(times), -(-len(site.nodes) // 8) * 8), np.uint8)
    for which, (place, start, end) in enumerate(times):
        one = site.reservations[place]
        sets[which, list(one.nodes or site_nodes(site, one))] = 1
        everything = one.has("ALL_NODES") or len(one.nodes) == len(site.nodes)
        table[: Reservations["next"], which] = [
            one.announced or 0, start, end, one.has("MAINT"), one.has("FLEX"), everything, one.has("OVERLAP"),
            one.recurs, partition_of(site, one),
        ]  # fmt: skip
    for places in by_name([replace(site.reservations[at], start=start) for at, start, _ in times]).values():
        for before, after in pairwise(places):
            table.next[before] = after
            known = max(table.end[before], table.known[after])
            table.known[after] = known
    return table, sets


def by_name(reservations: Sequence[Reserved]) -> dict[str, list[int]]:
    """The places of reservations with the same name, in the order of time."""
    found: dict[str, list[int]] = {}
    for place in sorted(range(len(reservations)), key=lambda at: reservations[at].start):
        found.setdefault(reservations[place].name, []).append(place)
    return found


def partition_of(site: Site, one: Reserved) -> int:
    """The partition that a reservation was made for as a whole (PART_NODES); UNSET where it was not."""
    if not one.has("PART_NODES"):
        return UNSET
    if one.partition in site.partition_place:
        return site.partition_place[one.partition]
    nodes = set(one.nodes)
    return next((p for p, part in enumerate(site.partitions) if set(part.nodes) == nodes), UNSET)


def site_nodes(site: Site, one: Reserved) -> Sequence[int]:
    """The nodes of a reservation that names only its partition, or none."""
    if one.partition in site.partition_place:
        return site.partitions[site.partition_place[one.partition]].nodes
    return range(len(site.nodes)) if one.has("ALL_NODES") else ()


def usage_resets(site: Site, first: int, last: int) -> Iterator[int]:
    """The midnights (UTC) between two seconds at which PriorityUsageResetPeriod has usage forgotten."""
    period, day = site.config.get("PriorityUsageResetPeriod").upper(), first // DAY * DAY
    begins = {"WEEKLY": "%w", "MONTHLY": "%d", "QUARTERLY": "%d", "YEARLY": "%j"}
    while period == "DAILY" or period in begins:
        day += DAY
        if day > last:
            return
        date = datetime.fromtimestamp(day, UTC)
        whole = period == "DAILY" or int(date.strftime(begins[period])) == (period != "WEEKLY")
        if whole and (period != "QUARTERLY" or date.month % 3 == 1):
            yield day


def happenings(
    site: Site, reservations: Reservations, by_users: list[tuple[int, int, int]], first: int, last: int
) -> Happenings:
    """All that happens beside jobs coming and ending, by time, for submissions between two seconds."""
    found = list(by_users)
    found += [(day, What.RESET, 0) for day in usage_resets(site, first, last + 30 * DAY)]
    for event in site.events:
        if event.partition:
            part = site.partition_place.get(event.partition)
            if part is not None and event.stops_starts:
                found.append((event.start, What.PARTITION_DOWN, part))
                if event.end is not None:
                    found.append((event.end, What.PARTITION_UP, part))
            continue
        node = site.node_place.get(event.node)
        if node is None:
            continue
        found.append((event.start, What.NODE_DOWN if event.ends_jobs else What.NODE_DRAINS, node))
        if event.end is not None:
            found.append((event.end, What.NODE_UP, node))
    for row in (Reservations["known"], Reservations["start"], Reservations["end"]):
        found += [(int(t), What.RESERVATION, which) for which, t in enumerate(reservations[row]) if t > 0]
    found.sort(key=lambda entry: entry[0])
    return Happenings(np.array(found, np.int64).reshape(-1, len(Happenings)).T.copy())


@once
def gres_names(site: Site) -> list[str]:
    """The generic resources that nodes have."""
    names: dict[str, None] = {}
    for node in site.nodes:
        names.update(dict.fromkeys(node.gres))
    return list(names)


def gres_asked(site: Site, count: int, life: Life) -> Table:
    """What each job wants of each node; a resource of a type counts as one of its name, too.

    What is left of partitions' CPUs follows; no job asks for that by itself.
    """
    names = gres_names(site)
    table = np.zeros((len(names) + count_rows(site), count), np.int64)
    for place, name in enumerate(names):
        table[place] = life.coded("gres", lambda text, name=name: asked_of(text, name), 0)
    return table


@once
def gres_of(site: Site) -> Table:
    """[resource] where the same resource without its type stands; -1 where it has none."""
    names = gres_names(site)
    kinds = [name.rpartition(":")[0] for name in names] + [""] * count_rows(site)
    return np.array([names.index(kind) if kind in names else UNSET for kind in kinds], np.int64)


def forced(partition: Partition) -> bool:
    """Whether all jobs of a partition share their CPUs (OverSubscribe=FORCE)."""
    return partition.oversubscribe == "FORCE"


def may_share(partition: Partition) -> bool:
    """Whether two jobs of a partition may have the same CPUs."""
    return partition.oversubscribe in ("YES", "FORCE") and partition.oversubscribe_count > 1


def meets(one: Partition, other: Partition) -> bool:
    """Whether two partitions have a node in common."""
    return one is not other and not set(one.nodes).isdisjoint(other.nodes)


@once
def kept_apart(site: Site) -> list[Partition]:
    """Partitions whose jobs may share CPUs, where jobs of others that do not might have the same nodes."""
    alone = [one for one in site.partitions if one.oversubscribe in ("NO", "YES")]
    sharing = [] if site.is_linear else filter(may_share, site.partitions)
    forced_only = site.version >= SHARED_BY_REQUEST
    return [
        one
        for one in sharing
        if (forced(one) or not forced_only) and any(meets(one, other) for other in alone)
    ]


@once
def keeps_forced_off(site: Site) -> bool:
    """Whether jobs that all share their CPUs might have the same nodes as jobs that do not."""
    return not site.is_linear and any(
        forced(one) and other.oversubscribe in ("NO", "YES") and meets(one, other)
        for one in site.partitions
        for other in site.partitions
    )


@once
def counted(site: Site) -> list[Partition]:
    """Partitions whose CPUs on each node are counted: for a bound on them (MaxCPUsPerNode), then those whose
    jobs are kept apart from others."""
    apart = kept_apart(site)
    bounded = [one for one in site.partitions if one.max_cpus_per_node is not None and one not in apart]
    return bounded + apart


def count_rows(site: Site) -> int:
    """How many counts of CPUs each node has: of those partitions, and of all jobs that share none."""
    return len(counted(site)) + keeps_forced_off(site)


MOST_ASKED = 1 << 53
"""Units of a resource above which a request is taken for so many."""


def asked_of(text: str, name: str) -> int:
    """How many of a resource a request asks for.

    >>> asked_of("gpu:a100:2,shard:1", "gpu"), asked_of("gpu:a100:2", "gpu:a100"), asked_of("gpu", "gpu")
    (2, 2, 1)
    >>> asked_of("tmp:2K", "tmp")
    2048
    """
    return min(values.gres(text.replace("=", ":")).get(name, 0), MOST_ASKED)


def gres_total(site: Site) -> Table:
    """[resource, node]; of what nobody consumes there is enough for every job that a node may have."""
    names = gres_names(site)
    return np.array(
        [
            [node.gres.get(name, 0) * (node.cpus if name in node.shared_gres else 1) for node in site.nodes]
            for name in names
        ],
        np.int64,
    ).reshape(len(names), len(site.nodes))


def licence_tables(site: Site, count: int, life: Life) -> tuple[Licences, Table]:
    """Licences of the cluster, and what jobs ask of them."""
    names = list(site.licenses)
    table = zeros(Licences, len(names))
    table.total[:] = [site.licenses[name] for name in names]
    asked = np.zeros((len(names), count), np.int64)
    for place, name in enumerate(names):
        asked[place] = life.coded("licenses", lambda text, name=name: licences_of(text, name), 0)
    return table, asked


def licences_of(text: str, name: str) -> int:
    """How many of a licence a request asks for; a remote one is named with its server.

    >>> licences_of("matlab:2,ansys@flex:1", "matlab"), licences_of("matlab,ansys@flex:3", "ansys@flex")
    (2, 3)
    """
    for part in re.split(r"[,;|]", text):
        asked, _, number = part.replace("*", ":").partition(":")
        if asked == name:
            return int(number) if number.isdigit() else 1
    return 0
