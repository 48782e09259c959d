"""Keys that change with time: before each pass, the key of every waiting job is written down for the order.

The job rows behind the engine's hold the keys (as the bits of floats), then the columns that keys look at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from headway.engine.compiled import compiled_keyed_loop, hook_signature
from headway.engine.driver import Driver
from headway.engine.setup import Jobs, Progress, Setup
from headway.engine.tables import GONE, JOB_ROWS, Clock, Entry, Fault, List, Pool, State
from headway.errors import PolicyError
from headway.jit import kernels
from headway.policies.own.keys import KeyFunction, Rows

KEY_ROWS = 2
"""Rows for the keys of the order and of the backfill order, the first behind the engine's."""
BATCH = 20_000


@dataclass(frozen=True)
class MovingKey:
    """A key and the job row its values go to."""

    key: KeyFunction
    row: int


def fill_columns(state: State, rows: Rows) -> None:
    """Put what keys look at into the job rows, floats as their bits."""
    for place, column in enumerate(rows.columns.values()):
        whole = (
            column.astype(np.float64).view(np.int64) if column.dtype.kind == "f" else column.astype(np.int64)
        )
        state.jobs[JOB_ROWS + KEY_ROWS + place] = whole


_COMPILED: dict[Any, Callable[[int, State], None] | None] = {}
"""What was compiled before in this process, by keys and columns."""


def compiled_rekey(keys: list[MovingKey], rows: Rows) -> Callable[[int, State], None] | None:
    """A compiled function (t, state) that writes all keys down, or None if one cannot be compiled."""
    if kernels.INTERPRETED:
        return None
    functions = tuple(
        (getattr(k.key.function, "func", k.key.function), str(getattr(k.key.function, "keywords", "")), k.row)
        for k in keys
    )
    columns = tuple((name, column.dtype.kind) for name, column in rows.columns.items())
    if (functions, columns) not in _COMPILED:
        _COMPILED[functions, columns] = _rekey(keys, rows)
    return _COMPILED[functions, columns]


def _rekey(keys: list[MovingKey], rows: Rows) -> Callable[[int, State], None] | None:
    names: dict[str, Any] = {"Row": rows.row_type, "np": np}
    lines = [_ONE_HEAD, f"    job = Row({', '.join(_fields(rows))})"]
    try:
        for place, moving in enumerate(keys):
            function = moving.key.function
            params = dict(getattr(function, "keywords", {}))  # of a key with its parameters filled in
            # Keys may allocate; what calls them does not, which halves the time to compile.
            names[f"key{place}"] = kernels.unkept(getattr(function, "func", function), _nrt=True)
            names |= {f"key{place}_{name}": value for name, value in params.items()}
            given = "".join(f", {name}=key{place}_{name}" for name in params)
            lines += _ONE_KEY.format(place=place, row=moving.row, given=given).splitlines()
        lines.append("    return True")
        exec("\n".join(lines), names)
        names["one"] = kernels.routine(names["one"])
        exec(_ALL, names)
        rekey: Callable[[int, State], None]
        rekey = kernels.unkept(names["rekey"], hook_signature(), nogil=True, _nrt=False)
    except Exception:  # whatever the compiler does not like, Python can run
        return None
    return rekey


def _fields(rows: Rows) -> list[str]:
    """How each field of a job is read from the state, in Python text."""
    fields = []
    for place, (name, column) in enumerate(rows.columns.items()):
        entry = f"state.jobs[{JOB_ROWS + KEY_ROWS + place}, j]"
        if column.dtype.kind == "f":
            entry = f"np.int64({entry}).view(np.float64)"
        elif column.dtype.kind == "b":
            entry = f"({entry} != 0)"
        elif name in rows.times:
            entry = f"({entry} / 1e6 if {entry} >= 0 else -1.0)"
        fields.append(entry)
    return fields


_ONE_HEAD = "def one(state, j, now):"
_ONE_KEY = """\
    try:
        k = float(key{place}(job, now{given}))
    except Exception:
        return False
    if k != k:
        return False
    state.jobs[{row}, j] = np.float64(k).view(np.int64)
"""
_ALL = f"""\
def rekey(t, state):
    now = t / 1e6
    for i in range(state.pools[{Pool.HEAD}, 0], state.pools[{Pool.TAIL}, 0]):
        if state.queue[{Entry.PROCS}, i] != {GONE} and not one(state, state.queue[{Entry.JOB}, i], now):
            state.clock[{Clock.FAULT}] = {Fault.BAD_KEY}
            state.clock[{Clock.FAULT_JOB}] = state.queue[{Entry.JOB}, i]
            return
    for j in range(state.clock[{Clock.FIRST_NEW}], state.clock[{Clock.LAST_NEW}]):
        if not one(state, j, now):
            state.clock[{Clock.FAULT}] = {Fault.BAD_KEY}
            state.clock[{Clock.FAULT_JOB}] = j
            return
    for i in range(state.clock[{Clock.RETURNS}]):
        if not one(state, state.lists[{List.RETURNED}, i], now):
            state.clock[{Clock.FAULT}] = {Fault.BAD_KEY}
            state.clock[{Clock.FAULT_JOB}] = state.lists[{List.RETURNED}, i]
            return
"""


@dataclass(frozen=True)
class KeyedRun:
    """Runs a compiled policy whose order the user's keys give, compiled or in Python."""

    keys: list[MovingKey]
    rows: Rows
    rekey: Callable[[int, State], None] | None

    def __call__(self, jobs: Jobs, setup: Setup, progress: Progress | None) -> State:
        if self.rekey is not None:
            return self._compiled(jobs, setup, progress)
        driver, passes = Driver(jobs, setup), 0
        while driver.next():
            self._write(driver.state, jobs, driver.now)
            driver.decide()
            passes += 1
            if passes % BATCH == 0:
                driver.report(progress)
        return driver.finish()

    def _write(self, state: State, jobs: Jobs, now: int) -> None:
        """The keys of all who wait, by Python."""
        assert jobs.ids is not None
        places = slice(state.pools[Pool.HEAD, 0], state.pools[Pool.TAIL, 0])
        queued = state.queue[Entry.JOB, places][state.queue[Entry.PROCS, places] != GONE].tolist()
        returned = state.lists[List.RETURNED, : state.clock[Clock.RETURNS]].tolist()
        numbers = [*queued, *returned, *range(state.clock[Clock.FIRST_NEW], state.clock[Clock.LAST_NEW])]
        if not numbers:
            return
        rows = self.rows.rows
        for moving in self.keys:
            found = [moving.key.value(rows[n], now / 1e6, int(jobs.ids[n]), now) for n in numbers]
            state.jobs[moving.row, numbers] = np.array(found, np.float64).view(np.int64)

    def _compiled(self, jobs: Jobs, setup: Setup, progress: Progress | None) -> State:
        driver = Driver(jobs, setup, loop=partial(compiled_keyed_loop(), self.rekey))
        try:
            return driver.run(progress, BATCH)
        except PolicyError:
            if driver.state.clock[Clock.FAULT] == Fault.BAD_KEY:
                self._explain(driver.state, jobs)
            raise

    def _explain(self, state: State, jobs: Jobs) -> None:
        """Ask the Python key again for the job whose compiled key failed: it tells the line."""
        assert jobs.ids is not None
        number, now = int(state.clock[Clock.FAULT_JOB]), int(state.clock[Clock.NOW])
        for moving in self.keys:
            moving.key.value(self.rows.rows[number], now / 1e6, int(jobs.ids[number]), now)
