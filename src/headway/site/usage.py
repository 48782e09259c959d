"""Usage at an instant before the export: what sshare showed less what the log's own runs have added since.

sshare's usage is that of the export, at which sdiag's file tells the time. A run that ended t seconds before
it is in there with d^t of itself, if a second leaves d of all usage. So what was there at an earlier instant
is known from the rest, as long as not too much of it has decayed since.

Farther back next to nothing of it is left at the export. Then what users spend after the log begins stands
for what they had spent before, the nearer the more: a run t seconds after counts as one t seconds before
would. What the log's runs add until the instant is known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from headway.arrays import Floats, Ints
from headway.units import SECOND
from headway.workload.slurm.json_jobs import SacctJson
from headway.workload.slurm.records import UNKNOWN, Records
from headway.workload.slurm.runs import repeats
from headway.workload.slurm.text import SacctText
from headway.workload.stream import LogStream

if TYPE_CHECKING:
    from headway.site.site import Site

HALF_LIVES = 3
"""So many half-lives before the export usage is computed back; beyond, too little of it is left, and it is
estimated from what follows."""
SILENT = 0.25
"""So much of a half-life the log may end before the export: what ran after its end is unknown."""

Usage = Mapping[tuple[str, str], float]


NEEDED = frozenset((
    "JobID", "JobIDRaw", "State", "User", "UID", "Account", "QOS", "Submit", "Start", "End", "ElapsedRaw",
    "Elapsed", "AllocTRES", "AllocCPUS", "NCPUS",
))  # fmt: skip
"""The columns that tell it."""


@dataclass(frozen=True, eq=False)
class Spent:
    """Runs, earlier ones of requeued jobs and those that are not over too; times in s since 1970."""

    who: list[tuple[str, str, str]]
    """Account, user and QOS of several runs, each once."""
    of: Ints
    """Which of them each run is of."""
    start: Ints
    end: Ints
    """Of a run that is not over: how far it had come."""
    rate: Ints
    """What a second of it is billed."""


def read_spent(path: str | Path) -> Spent:
    """The runs of an export, as text or JSON; none where its times are those of a clock on the wall.

    Nobody knows then how they stand to the time of the export.
    """
    stream = LogStream(path)
    gathered = Records(stream.name, "UTC")
    for table in SacctJson(stream) if ".json" in Path(path).name else SacctText(stream):
        frame = table.frame
        gathered.add(table._replace(frame=frame.select(name for name in frame.columns if name in NEEDED)))
    records = gathered.columns()
    if not records or "start" not in records or gathered.clock_times:
        return Spent([], *(np.zeros(0, np.int64) for _ in range(4)))
    start, seen = records["start"], repeats(records, records["key"])
    unknown = np.full(len(start), UNKNOWN, np.int64)
    elapsed, billed = records.get("elapsed", unknown), records.get("billing", unknown)
    rate = np.where(billed == UNKNOWN, records.get("allocated", unknown), billed)
    ran = (start != UNKNOWN) & (elapsed > 0) & (rate > 0) & ~seen.again & ~seen.part
    begun = start[ran] // SECOND
    kinds = ("account", "user", "qos")
    names = [[*gathered.labels[kind], ""] for kind in kinds]  # -1, none, is the last
    many = [len(each) for each in names]
    codes = [np.maximum(records.get(kind, unknown)[ran], -1).astype(np.int64) + 1 for kind in kinds]
    different, of = np.unique(np.ravel_multi_index(codes, many), return_inverse=True)
    places = zip(*(part.tolist() for part in np.unravel_index(different, many)), strict=True)
    who = [(names[0][a - 1], names[1][b - 1], names[2][c - 1]) for a, b, c in places]
    return Spent(who, of, begun, begun + elapsed[ran] // SECOND, rate[ran])


def usage_at(site: Site, instant: int) -> Usage:
    """Raw usage by account and user at an instant (s since 1970), or as exported where nobody can tell."""
    half_life, exported, log = site.config.seconds("PriorityDecayHalfLife"), site.exported, site.jobs
    if not site.usage or exported is None or log is None or ".swf" in log.name:
        return site.usage
    too_long = half_life and exported - instant > HALF_LIVES * half_life
    if forgets(site) or instant >= exported:
        return site.usage
    spent = _spent(log, log.stat().st_mtime_ns)
    silent = exported - int(spent.end.max(initial=0))
    if not len(spent.end) or silent > SILENT * (half_life or math.inf):
        return site.usage
    left = left_of(half_life)
    if too_long:
        estimated = _by_association(site, spent, mirrored(spent, instant, left))
        return {key: estimated.get(key, 0.0) for key in site.usage}
    return _less(site, spent, instant, exported, left)


def usage_of_log(site: Site, instant: int) -> Usage:
    """Raw usage at an instant (s since 1970) of a site that does not tell any: what the log's runs added."""
    half_life, log = site.config.seconds("PriorityDecayHalfLife"), site.jobs
    if log is None or ".swf" in log.name or forgets(site):
        return {}
    spent = _spent(log, log.stat().st_mtime_ns)
    begin = int(spent.start.min(initial=instant))
    return _by_association(site, spent, remaining(spent, begin, instant, left_of(half_life)))


def forgets(site: Site) -> bool:
    """Whether a site forgets all usage now and then."""
    return site.config.get("PriorityUsageResetPeriod").upper() not in ("", "NONE")


def left_of(half_life: float | None) -> float:
    """How much a second leaves of usage."""
    return 1 - 0.693 / half_life if half_life else 1.0


@lru_cache(maxsize=2)
def _spent(jobs: Path, changed: int) -> Spent:
    """The runs of a log, read once as long as it is not changed."""
    return read_spent(jobs)


def remaining(spent: Spent, instant: int, exported: int, left: float) -> Floats:
    """What each run after ``instant`` adds to the usage at the export, if a second leaves ``left`` of it."""
    start, end = (np.clip(t, instant, exported) for t in (spent.start, spent.end))
    if left == 1.0:
        return np.asarray(spent.rate * (end - start), np.float64)
    decay = -math.log(left)
    at_end, at_start = (np.exp(-decay * (exported - t)) for t in (end, start))
    return np.asarray(spent.rate * (at_end - at_start) / decay)


def mirrored(spent: Spent, instant: int, left: float) -> Floats:
    """What each run is in the usage at an instant: as it ran until then, and as if it had run as long before
    the log begins as it did after. Of an instant in the midst of the log nothing later is known."""
    begin = min(int(spent.start.min()), instant)
    known = int(spent.end.max()) if instant == begin else instant
    start, end = (np.clip(t, begin, known) - begin for t in (spent.start, spent.end))
    before = spent.rate * (left**start - left**end) / -math.log(left)
    return remaining(spent, begin, instant, left) + before * left ** (instant - begin)


def _less(site: Site, spent: Spent, instant: int, exported: int, left: float) -> Usage:
    """The exported usage without what the log's runs have added since the instant, as it was then."""
    own = _by_association(site, spent, remaining(spent, instant, exported, left))
    decayed = left ** (exported - instant)
    return {key: max(usage - own.get(key, 0.0), 0.0) / decayed for key, usage in site.usage.items()}


def _by_association(site: Site, spent: Spent, added: Floats) -> Usage:
    """What runs add to the usage of each account and user, and of the accounts above them."""
    factors = {one.name: one.usage_factor for one in site.qos}
    place = {(one.account, one.user): k for k, one in enumerate(site.associations) if not one.partition}
    own = np.zeros(len(site.associations))
    sums = np.bincount(spent.of, added, len(spent.who)).tolist()
    for (account, user, qos), usage in zip(spent.who, sums, strict=True):
        at = place.get((account, user), place.get((account, ""), -1))
        while at >= 0:
            own[at] += usage * factors.get(qos, 1.0)
            at = site.associations[at].parent
    return {key: float(own[at]) for key, at in place.items()}
