"""What the runs of an export of sacct used, by account, user and QOS."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from headway.units import SECOND
from headway.workload.slurm.json_jobs import SacctJson
from headway.workload.slurm.records import UNKNOWN, Records
from headway.workload.slurm.runs import repeats
from headway.workload.slurm.text import SacctText
from headway.workload.stream import LogStream

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
    of: npt.NDArray[np.int64]
    """Which of them each run is of."""
    start: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    """Of a run that is not over: how far it had come."""
    rate: npt.NDArray[np.int64]
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
