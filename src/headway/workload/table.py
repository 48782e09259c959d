"""The workload: jobs as columns, with the ledger of how they were read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from headway.arrays import Mask
from headway.errors import InputError
from headway.plain import counted
from headway.units import LONGEST, SECOND
from headway.workload.header import Header, Source
from headway.workload.ledger import Ledger, LedgerEntry

Column = npt.NDArray[Any]

ALWAYS = ("job", "submit", "procs", "walltime", "runtime", "user", "group", "queue", "partition")
"""Columns every workload has; all int64, times in µs."""

TIMES = frozenset((
    "submit", "walltime", "runtime", "requested_time", "wait", "cpu_time", "think_time", "deadline", "swap",
    "eligible", "recorded_start", "cancelled_after", "time_min", "think", "trace_submit",
))  # fmt: skip
"""Columns in µs; -1 means unknown or none."""

OPTIONAL = (
    "requested_procs", "requested_time", "requested_memory_kb", "allocated", "wait", "cpu_time",
    "memory_kb", "used_memory_kb", "status", "executable", "preceding", "think_time", "deadline", "swap",
    "file", "max_procs", "cluster", "follows", "think", "trace_submit",
)  # fmt: skip
"""Other int64 columns a workload may have. `memory_kb` is per processor; `requested_*` are the log's own
values, there only where procs, walltime or memory_kb differ from them, so that a log can be written back."""

TYPES: dict[str, type[np.generic]] = dict.fromkeys((*ALWAYS, *OPTIONAL), np.int64) | {
    "file_gb": np.float64,
    "needs_node_gb": np.float64,
    "parallel_fraction": np.float64,
    "urgent": np.bool_,
    "local": np.bool_,
}
"""Type of each known column; a column of another name keeps the type it comes with."""


MANY = 1 << 17
"""With more jobs, columns in order of submission are not kept: so much memory counts for more than time."""


class InOrder(NamedTuple):
    """Columns in order of submission, then of the file; nobody writes into them. Times in µs."""

    order: Column
    """The place of each job in the file."""
    submit: Column
    procs: Column
    walltime: Column
    runtime: Column
    length: Column
    """What each job will get, min(run, walltime)."""
    job: Column


class Workload:
    """Jobs to be scheduled, one row each, in the order of the log (not sorted by submit).

    Columns are read-only arrays and attributes too: `workload.submit`. Beside those in ALWAYS a workload has
    the optional columns its log had. `walltime` is the time requested, `runtime` what the program needs; the
    run may exceed the walltime, the kill is the engine's. Times are µs, -1 stands for unknown.
    `labels` names the codes of columns whose values were text (`labels["file"][code]`).
    `rules` are the reading rules in force, `transformations` what was done to the jobs afterwards.
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        *,
        header: Header | None = None,
        ledger: Ledger | None = None,
        source: Source | None = None,
        transformations: tuple[str, ...] = (),
        labels: Mapping[str, list[str]] | None = None,
        rules: Mapping[str, str] | None = None,
    ) -> None:
        missing = [name for name in ALWAYS if name not in columns]
        if missing:
            raise ValueError(f"a workload needs the columns {', '.join(missing)}")
        self._columns = {name: _read_only(name, values) for name, values in columns.items()}
        self._in_order: InOrder | None = None
        rows = len(self._columns["job"])
        uneven = [name for name, values in self._columns.items() if values.shape != (rows,)]
        if uneven:
            raise ValueError(f"columns of unequal length: {', '.join(uneven)}")
        self.ledger = Ledger(rows) if ledger is None else ledger
        if self.ledger.kept != rows:
            raise ValueError(f"the ledger keeps {self.ledger.kept} jobs, the columns hold {rows}")
        self.header = Header() if header is None else header
        self.source = Source("generated") if source is None else source
        self.transformations = transformations
        self.labels: dict[str, list[str]] = dict(labels or {})
        self.rules: dict[str, str] = dict(rules or {})

    @classmethod
    def from_arrays(
        cls,
        *,
        unit: Literal["s", "us"],
        submit: npt.ArrayLike,
        procs: npt.ArrayLike,
        runtime: npt.ArrayLike,
        walltime: npt.ArrayLike | None = None,
        header: Header | None = None,
        source: Source | None = None,
        labels: Mapping[str, list[str]] | None = None,
        transformations: tuple[str, ...] = (),
        **others: npt.ArrayLike,
    ) -> Workload:
        """A workload from arrays whose times are all in `unit`: "s" (fractions allowed) or "us" (whole µs).

        Defaults: walltime as the runtime, jobs numbered from 1, other columns of ALWAYS unknown (-1).
        """
        given = {"submit": submit, "procs": procs, "runtime": runtime, **others}
        given["walltime"] = runtime if walltime is None else walltime
        columns: dict[str, Column] = {}
        for name, values in given.items():
            array = np.array(values)
            columns[name] = _from_seconds(name, array) if unit == "s" and name in TIMES else array
        rows = len(columns["submit"])
        columns.setdefault("job", np.arange(1, rows + 1, dtype=np.int64))
        for name in ALWAYS:
            columns.setdefault(name, np.full(rows, -1, dtype=np.int64))
        ordered = {name: columns[name] for name in (*ALWAYS, *(n for n in columns if n not in ALWAYS))}
        return cls(ordered, header=header, source=source, labels=labels, transformations=transformations)

    @property
    def columns(self) -> Mapping[str, Column]:
        """All columns by name; read-only, as their arrays are."""
        return MappingProxyType(self._columns)

    @cached_property
    def widest(self) -> int:
        """Processors of the largest job; 0 without jobs."""
        return int(self.procs.max(initial=0))

    @cached_property
    def order(self) -> Column:
        """The places of the jobs in order of submission, then of the file: the order that most logs have."""
        submit = self._columns["submit"]
        sorted_already = bool((submit[1:] >= submit[:-1]).all())
        order = np.arange(len(submit)) if sorted_already else np.argsort(submit, kind="stable")
        order.flags.writeable = False
        return order

    @property
    def in_order(self) -> InOrder:
        """What every simulation takes of it, in order of submission; kept for the next one."""
        if self._in_order is not None:
            return self._in_order
        order = self.order.copy()
        names = ("submit", "procs", "walltime", "runtime", "job")
        submit, procs, walltime, runtime, job = (self._columns[name][order] for name in names)
        found = InOrder(order, submit, procs, walltime, runtime, np.minimum(runtime, walltime), job)
        if len(self) <= MANY:
            self._in_order = found
        return found

    def get(self, name: str) -> Column | None:
        """A column, or None where the workload has no such column."""
        return self._columns.get(name)

    def name_of(self, column: str, code: int, unknown: str = "-") -> str:
        """What the log calls a code of a column: its label where there are names, else the number itself."""
        labels = self.labels.get(column)
        return unknown if code < 0 else str(code) if labels is None else labels[code]

    def __getattr__(self, name: str) -> Column:
        # Reached only for names that are not attributes. Dunder and private names are never columns:
        # copy and pickle ask for them before the object is filled.
        if not name.startswith("_") and name in self._columns:
            return self._columns[name]
        raise AttributeError(f"this workload has no column {name!r}")

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def rows_of(self, jobs: Column) -> tuple[Column, Column]:
        """Which of some job numbers it has, and the rows of those that it has."""
        numbers = self.columns["job"]
        if not len(numbers):
            return np.zeros(len(jobs), np.bool_), np.zeros(0, np.int64)
        order = np.argsort(numbers, kind="stable")
        place = np.minimum(np.searchsorted(numbers, jobs, sorter=order), len(numbers) - 1)
        rows = order[place]
        known = numbers[rows] == jobs
        return known, rows[known]

    def __len__(self) -> int:
        return len(self._columns["job"])

    def __repr__(self) -> str:
        sizes = f"{counted(len(self), 'job')}, {counted(len(self._columns), 'column')}"
        return f"Workload({self.source.name!r}, {sizes})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Built anew, so that the columns of a copy are read-only as well.
        names = ("header", "labels", "ledger", "rules", "source", "transformations")
        return partial(Workload, **{name: getattr(self, name) for name in names}), (self._columns,)

    def with_columns(self, *, transformation: str | None = None, **arrays: npt.ArrayLike) -> Workload:
        """The same jobs with columns replaced or added; `transformation` says in provenance what was done."""
        changed = {name: np.asarray(values) for name, values in arrays.items()}
        return self.replaced(changed=changed, transformation=transformation)

    def with_ledger(self, ledger: Ledger) -> Workload:
        """The same jobs under another ledger, which must keep as many."""
        return self.replaced(ledger=ledger)

    def with_entries(self, *entries: LedgerEntry) -> Workload:
        """The same jobs with more in the ledger."""
        return self.replaced(ledger=self.ledger.with_entries(*entries))

    def with_header(self, header: Header) -> Workload:
        """The same jobs under other comment lines."""
        return self.replaced(header=header)

    def with_labels(self, **labels: list[str]) -> Workload:
        """The same jobs with the names of a column's codes replaced or added."""
        return self.replaced(labels=self.labels | labels)

    def select(
        self,
        rows: npt.ArrayLike,
        *,
        rule: str = "select",
        action: str = "not selected",
        transformation: str | None = None,
    ) -> Workload:
        """The rows of a mask or an index (each row once, any order); the others are dropped in the ledger."""
        chosen = np.asarray(rows)
        if chosen.dtype != np.bool_ and not len(chosen):
            chosen = chosen.astype(np.int64)
        left_out = np.ones(len(self), dtype=np.bool_)
        left_out[chosen] = False
        count = int(np.count_nonzero(left_out))
        kept = int(np.count_nonzero(chosen)) if chosen.dtype == np.bool_ else len(chosen)
        if kept + count != len(self):
            raise ValueError("select takes each row at most once")
        if not count and chosen.dtype == np.bool_:
            return self.replaced(transformation=transformation)
        entry = LedgerEntry.of(rule, action, self.job[left_out], dropped=True)
        columns = {name: values[chosen] for name, values in self._columns.items()}
        return self.replaced(
            columns=columns, ledger=self.ledger.with_entries(entry), transformation=transformation
        )

    def fit_to(self, procs: int, too_large: str | None = None) -> Workload:
        """Jobs a machine of `procs` processors can ever run; wider ones are dropped, or an error.

        `too_large` is "drop" or "error"; by default the reading rule in force.
        """
        if self.widest <= procs:
            return self
        action = f"more processors than the machine's {procs}: dropped"
        remedy = f"and the machine has {procs}; give a larger machine"
        return self.without_wide(self.procs <= procs, action, remedy, too_large)

    def without_wide(self, fits: Mask, action: str, remedy: str, too_large: str | None = None) -> Workload:
        """Without jobs that are too wide, under an entry; or an error, which goes on with the ``remedy``."""
        rule = self.rules.get("too_large", "drop") if too_large is None else too_large
        if rule == "error" and not fits.all():
            row = int(np.argmin(fits))
            raise InputError(
                f"job {self.job[row]} needs {self.procs[row]} processors {remedy}, or drop such jobs with "
                "the rule too_large=drop",
                file=self.source.name,
                field="processors",
            )
        return self.select(fits, rule="too_large", action=action)

    def replaced(
        self,
        *,
        columns: Mapping[str, Column] | None = None,
        changed: Mapping[str, Column] | None = None,
        ledger: Ledger | None = None,
        labels: Mapping[str, list[str]] | None = None,
        header: Header | None = None,
        transformation: str | None = None,
    ) -> Workload:
        """With all columns replaced, or some changed, or other parts; the source and the rules stay."""
        return Workload(
            {**(self._columns if columns is None else columns), **(changed or {})},
            header=self.header if header is None else header,
            ledger=self.ledger if ledger is None else ledger,
            source=self.source,
            transformations=self.transformations + ((transformation,) if transformation else ()),
            labels=self.labels if labels is None else labels,
            rules=self.rules,
        )


def _read_only(name: str, values: Column) -> Column:
    """A contiguous read-only view in the column's type; numbers of another type must be equal in it."""
    array = np.asarray(values)
    dtype = np.dtype(TYPES.get(name, array.dtype))
    if array.dtype != dtype:
        converted: Column = array.astype(dtype)
        if not np.array_equal(converted, array):
            raise ValueError(f"the column {name} holds values that are not {dtype.name}")
        array = converted
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def _from_seconds(name: str, seconds: Column) -> Column:
    """µs of seconds, to the nearest; negative, or not a number, means unknown or none."""
    if (seconds.astype(np.float64) > LONGEST // SECOND).any():
        raise ValueError(f"the column {name} holds a time above {LONGEST // SECOND:,} s")
    if seconds.dtype.kind in "iu":
        scaled = np.maximum(seconds.astype(np.int64), -1) * SECOND
    else:
        scaled = np.rint(np.fmax(seconds.astype(np.float64), -1) * SECOND).astype(np.int64)
    return np.where(scaled < 0, -1, scaled)
