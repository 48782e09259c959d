"""The ledger: what was odd in a log, which rule was applied, and to how many jobs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from headway.arrays import Ints

LISTED = 20
"""How many job ids an entry names; the count is always complete."""


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One rule that acted: on how many jobs, the first of them by id, and whether they were dropped."""

    rule: str
    action: str
    count: int
    jobs: tuple[int, ...] = ()
    dropped: bool = False
    every: Ints | None = field(default=None, repr=False, compare=False)
    """Ids of all dropped jobs; None where jobs were kept."""

    @classmethod
    def of(cls, rule: str, action: str, jobs: npt.ArrayLike, *, dropped: bool) -> LedgerEntry:
        """An entry for these job ids."""
        ids = np.asarray(jobs, dtype=np.int64)
        listed = tuple(ids[:LISTED].tolist())
        return cls(rule, action, len(ids), listed, dropped, ids if dropped else None)


@dataclass(frozen=True, slots=True)
class Ledger:
    """Entries of a log with `total` job lines: total == kept + dropped, each line dropped at most once."""

    total: int
    entries: tuple[LedgerEntry, ...] = ()

    @property
    def dropped(self) -> int:
        """Job lines that no scheduled job stands for."""
        return sum(entry.count for entry in self.entries if entry.dropped)

    @property
    def kept(self) -> int:
        """Jobs to be scheduled."""
        return self.total - self.dropped

    def with_entries(self, *entries: LedgerEntry) -> Ledger:
        """This ledger with more entries at its end; those that count nothing are left out."""
        return Ledger(self.total, self.entries + tuple(entry for entry in entries if entry.count))

    def dropped_jobs(self) -> Ints:
        """Ids of all dropped jobs, entry by entry."""
        every = [entry.every for entry in self.entries if entry.every is not None]
        return np.concatenate([np.zeros(0, dtype=np.int64), *every])

    def why_dropped(self, job: int) -> LedgerEntry | None:
        """The entry under which the last record of a job was dropped, or None.

        Of a saved run only the jobs that are listed are known.
        """
        for entry in reversed(self.entries):
            every = entry.jobs if entry.every is None else entry.every
            if entry.dropped and job in every:
                return entry
        return None

    def rows(self) -> list[dict[str, object]]:
        """Entries as plain data, as they stand in run.json."""
        return [
            {"rule": entry.rule, "action": entry.action, "count": entry.count, "jobs": list(entry.jobs)}
            for entry in self.entries
        ]

    def __iter__(self) -> Iterator[LedgerEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)
