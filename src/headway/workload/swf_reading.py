"""A log while reading rules are applied to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from headway.arrays import Ints, Mask
from headway.errors import InputError
from headway.workload.ledger import LedgerEntry
from headway.workload.rules import RULES
from headway.workload.swf_fields import place
from headway.workload.table import Column


@dataclass
class Before:
    """What the parts of a log above this one have left, where a log is read in parts."""

    job: int = -1
    """The largest job number."""
    submit: int = 0
    """The latest submission (µs)."""
    runtime: float = 0.0
    """The sum of the run times (µs)."""


@dataclass(eq=False)
class Reading:
    """A log while rules are applied: its columns, which lines still stand for a job, what happened so far."""

    columns: dict[str, Ints]
    line: Column
    rules: Mapping[str, str]
    file: str
    place: Callable[[int], str] = place
    before: Before | None = None
    """None where this is the whole log."""
    whole_jobs: bool = False
    entries: list[LedgerEntry] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.alive: Mask = np.ones(len(self.line), dtype=np.bool_)

    def get(self, name: str) -> Ints:
        """A column, which may be written to; made, unknown throughout, where the log has none."""
        if name not in self.columns:
            self.columns[name] = np.full(len(self.line), -1, dtype=np.int64)
        return self.columns[name]

    def note(self, rule: str, action: str, lines: Mask, dropped: bool = False) -> None:
        """An entry about some lines, which no longer stand for a job where they are dropped."""
        if lines.any():
            jobs = self.get("job")[lines]
            self.entries.append(LedgerEntry.of(rule, action, jobs, dropped=dropped))
        if dropped:
            self.alive &= ~lines

    def error(self, problem: str, row: int, field: int | None) -> InputError:
        """What is wrong with a field of a line."""
        named = None if field is None else self.place(field)
        return InputError(problem, file=self.file, line=int(self.line[row]), field=named)

    def act(
        self, rule: str, lines: Mask, field: int | None, problem: str, value: str = "", **done: str
    ) -> Mask:
        """Apply a rule to the lines that have a problem; `done` says what each of its values does.

        The value "drop" drops them, "error" stops; any other effect is the caller's, on the lines returned.
        Where the caller gives a value, the rule's own does not count.
        """
        lines = lines & self.alive
        if not lines.any():
            return lines
        value = value or self.rules[rule]
        if value == "error":
            remedy = f"correct the line, or choose the rule {rule}={RULES[rule][0]}"
            raise self.error(f"{problem}; {remedy}", int(np.argmax(lines)), field)
        self.note(rule, f"{problem}: {done[value]}", lines, dropped=value == "drop")
        return lines
