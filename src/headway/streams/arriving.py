"""The jobs of a log that is read in parts, in order of submission.

    lines of the log    [ released | held back: sorted, at least LOOKAHEAD jobs | not read yet ]

A job may stand in the log behind jobs that were submitted later, by up to LOOKAHEAD lines; that is sorted out
here. One that comes later still is an error, because the simulation has gone past its submission.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from headway.arrays import Ints
from headway.engine.tables import ALL_KNOWN
from headway.errors import InputError
from headway.units import seconds_text
from headway.workload import Ledger, LedgerEntry, Workload
from headway.workload.ledger import LISTED
from headway.workload.table import ALWAYS

LOOKAHEAD = 100_000
"""Jobs that are held back."""

ROW = "row"
"""The column with a job's place among the scheduled jobs of the log."""
COLUMNS = (*ALWAYS, ROW)

IN_ORDER = (
    *("missing_fields", "extra_fields", "fraction", "foreign_status", "negative", "partial", "no_submit"),
    *("cancelled", "unknown_runtime", "no_procs", "procs", "zero_runtime", "no_estimate", "overrun"),
    *("out_of_order", "too_large"),
)
"""Rules in the order in which they are applied, and so in which a ledger has them."""


@dataclass(frozen=True)
class Window:
    """Jobs by columns, in order of submission, then of the log; every job submitted before ``until`` is here
    or was in a window before."""

    columns: dict[str, Ints]
    until: int

    def __len__(self) -> int:
        return len(self.columns[ROW])


class Arriving:
    """Windows of a log, and what is known of it so far."""

    def __init__(self, parts: Iterator[Workload], procs: int, lookahead: int = LOOKAHEAD) -> None:
        self._parts, self._procs, self._lookahead = parts, procs, lookahead
        self._held = dict.fromkeys(COLUMNS, np.zeros(0, np.int64))
        self._released = -1
        """Every job submitted before this (µs) has been released."""
        self.ended = False
        """Whether the log has been read to its end."""
        self.jobs = 0
        """Jobs read so far that can run."""
        self.ledger = Ledger(0)
        self.last: Workload | None = None
        """The last part read, which has header, rules and source."""

    def window(self, jobs: int) -> Window:
        """The next jobs, about so many; those that are submitted at one instant stay together."""
        while not self.ended and len(self._held[ROW]) < jobs + self._lookahead:
            self._read()
        while True:
            submit, ready = self._held["submit"], len(self._held[ROW]) - self._lookahead
            if self.ended:
                return self._release(len(submit), ALL_KNOWN)
            count = int(np.searchsorted(submit, submit[ready]))
            if count:
                return self._release(count, int(submit[ready]))
            self._read()

    def _release(self, count: int, until: int) -> Window:
        window = Window({name: values[:count] for name, values in self._held.items()}, until)
        self._held = {name: values[count:].copy() for name, values in self._held.items()}
        self._released = until
        return window

    def _read(self) -> None:
        """Take in the next part of the log."""
        read = next(self._parts, None)
        if read is None:
            self.ended = True
            return
        part = read.fit_to(self._procs)
        self.last = read
        self.ledger = together(self.ledger, part.ledger)
        if not len(part):
            return
        early = part.submit < self._released
        if early.any():
            first = int(np.argmax(early))
            at = seconds_text(int(part.submit[first]))
            raise InputError(
                f"job {part.job[first]} was submitted at {at} s, before jobs "
                f"that stand more than {self._lookahead:,} lines above it; sort the log by submit time, or "
                "simulate it without --stream",
                file=part.source.name,
                field="submit",
            )
        row = self.jobs + np.arange(len(part))
        self.jobs += len(part)
        held = {
            name: np.concatenate((values, row if name == ROW else part.columns[name]))
            for name, values in self._held.items()
        }
        order = np.argsort(held["submit"], kind="stable")
        self._held = {name: values[order] for name, values in held.items()}


def together(above: Ledger, below: Ledger) -> Ledger:
    """The ledger of two parts of a log; of the dropped jobs it knows how many, and the first."""
    entries: dict[tuple[str, str], LedgerEntry] = {}
    for entry in (*above, *below):
        known = entries.get((entry.rule, entry.action))
        if known is not None:
            jobs = (*known.jobs, *entry.jobs)[:LISTED]
            entry = replace(entry, count=known.count + entry.count, jobs=jobs)
        entries[entry.rule, entry.action] = replace(entry, every=None)
    order = {rule: place for place, rule in enumerate(IN_ORDER)}
    ordered = sorted(entries.values(), key=lambda entry: order.get(entry.rule, len(order)))
    return Ledger(above.total + below.total, tuple(ordered))
