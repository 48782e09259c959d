"""The engine of a stream: tables for the jobs in the system and one window of arrivals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from headway.arrays import Ints
from headway.engine.driver import Driver, counts
from headway.engine.setup import Jobs
from headway.engine.tables import ALL_KNOWN, Ended, Phase
from headway.engine.windows import next_window, still_here
from headway.errors import InputError
from headway.policies.prepare import Arrivals, Prepared
from headway.simulate import warm
from headway.units import seconds_text
from headway.workload import Ledger, LedgerEntry, Workload
from headway.workload.ledger import LISTED
from headway.workload.table import ALWAYS

if TYPE_CHECKING:
    from headway.platform import Platform
    from headway.policies.policy import Policy


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


# The engine of a stream: tables for the jobs in the system and one window of arrivals.


class Simulation:
    """A policy on a machine, whose jobs come in windows."""

    def __init__(self, policy: Policy, machine: Platform, origin: int) -> None:
        self._policy, self._machine, self._origin = policy, machine, origin
        self._columns = dict.fromkeys(COLUMNS, np.zeros(0, np.int64))
        """Of the jobs in the tables."""
        self._driver: Driver | None = None
        self._runs = self._first_run = self._first_new = 0
        self._fresh = False
        self.promise_kind = ""

    @property
    def in_system(self) -> int:
        """Jobs that wait or run."""
        return 0 if self._driver is None else len(still_here(self._driver.state))

    def begin(self, window: Window) -> None:
        """Let the jobs that have ended make room for those of a window."""
        live = np.zeros(0, np.int64) if self._driver is None else still_here(self._driver.state)
        self._columns = {
            name: np.concatenate((values[live], window.columns[name]))
            for name, values in self._columns.items()
        }
        prepared = self._prepared()
        submit, procs, walltime, runtime, ids = (
            self._columns[name] for name in ("submit", "procs", "walltime", "runtime", "job")
        )
        jobs = Jobs(submit, procs, walltime, runtime, prepared.plan, ids)
        if self._driver is None:
            warm(prepared)
            self._driver = Driver(jobs, prepared.setup)
            self.promise_kind = prepared.promise_kind
        else:
            next_window(self._driver, live, jobs, prepared.setup)
        self._first_new, self._first_run = len(live), int(self._driver.state.clock.runs)
        self._fresh = True

    def _prepared(self) -> Prepared:
        """The policy for the jobs in the tables."""
        columns = self._columns
        arrivals = Arrivals(
            columns["submit"],
            columns["procs"],
            columns["walltime"],
            np.minimum(columns["runtime"], columns["walltime"]),
            platform=self._machine,
            origin=self._origin,
        )
        return self._policy.prepare(arrivals, self._machine.clusters[0].procs)

    def run_until(self, t: int) -> None:
        """Simulate every instant before ``t``."""
        assert self._driver is not None
        self._driver.run_until(t)

    def collect(self) -> tuple[Ints, dict[str, Ints]]:
        """Rows of the jobs that ended in this window, and what became of them; nothing when asked again."""
        if self._driver is None or not self._fresh:
            return np.zeros(0, np.int64), {}
        state = self._driver.state
        done = np.flatnonzero(state.jobs.phase[: state.clock.last_new] == Phase.DONE)
        run = state.jobs.run[done]
        self._runs += int(state.clock.runs) - self._first_run
        self._fresh = False
        return self._columns[ROW][done], {
            "start": state.runs.start[run],
            "end": state.runs.end[run],
            "why": state.runs.why[run],
            "killed": (state.runs.ended[run] == Ended.AT_WALLTIME).astype(np.int64),
            "promise": state.jobs.promise[done],
        }

    def came_and_went(self) -> tuple[Ints, Ints]:
        """When jobs were submitted in this window, and when jobs started in it."""
        assert self._driver is not None
        state = self._driver.state
        came = self._columns["submit"][self._first_new : int(state.clock.last_new)]
        return came, state.runs.start[self._first_run : int(state.clock.runs)]

    def finish(self) -> None:
        """Every job must have had its run."""
        assert self._driver is not None
        self._driver.finish()

    def counts(self) -> dict[str, float]:
        """Instants, events, runs and the queue as passes found it."""
        if self._driver is None:
            return {}
        made = counts(self._driver.state)
        return {**made, "runs": self._runs}
