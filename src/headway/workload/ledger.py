"""The ledger: what was odd in a log, which rule was applied, and to how many jobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

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

    @classmethod
    def of(cls, rule: str, action: str, jobs: Iterable[int], count: int, *, dropped: bool) -> LedgerEntry:
        """An entry that names the first of `jobs`; `count` is the number of all of them."""
        listed = tuple(int(job) for job, _ in zip(jobs, range(LISTED), strict=False))
        return cls(rule, action, int(count), listed, dropped)


@dataclass(frozen=True, slots=True)
class Ledger:
    """Entries of a log with `total` job lines: total == kept + dropped, each line dropped at most once."""

    total: int
    entries: tuple[LedgerEntry, ...] = field(default=())

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
