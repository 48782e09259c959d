"""A cell: one simulation; what a worker makes of it, wherever it runs: simulate and measure the schedule."""

from __future__ import annotations

import hashlib
import io
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from inspect import signature
from pathlib import Path
from typing import Any

from headway.campaign.identity import code_digest, policy_key, source_file
from headway.errors import HeadwayError, UsageError
from headway.jit import kernels
from headway.metrics.at_once import metrics_at_once
from headway.metrics.catalogue import BY_NAME, METRICS
from headway.metrics.sample import Sample, check_bounds
from headway.metrics.statistics import COUNT
from headway.metrics.summary import by_division, by_queue, by_size, by_user
from headway.outcome import Ran, result_of
from headway.platform import Platform
from headway.policies.own.faults import error_words
from headway.policies.own.loading import digests, load_file, load_module
from headway.policies.spec import Spec, parse_spec
from headway.simulate import Begun, begin
from headway.workload import Workload

DESCRIBED = frozenset((
    "cell", "workload", "part", "block", "seed", "machine", "procs", "policy", "label", "baseline", "status",
    "changes", "error", "turn",
))  # fmt: skip
"""Columns of the results that say which cell a row is and how it ended: names that no number may have."""


@dataclass(frozen=True)
class Cell:
    """One simulation, and its place in the campaign.

    `widest` is the largest job of the pair it belongs to: a policy and its baseline get the same jobs.
    """

    id: str
    platform: Platform
    spec: Spec
    seed: int
    widest: int
    columns: dict[str, Any] = field(compare=False)
    """What describes it in the results."""
    parameters: dict[str, Any] = field(compare=False)
    policy_key: object = field(compare=False)
    measures_key: tuple[str, ...] = field(compare=False)


@dataclass(frozen=True)
class Batch:
    """One workload and all cells on it."""

    workload: Workload
    cells: list[Cell]
    site: str = ""
    """Digest of the site that the workload is on, before any changes."""


WHOLE = frozenset(("dropped", "max_queue", *(metric.name for metric in METRICS if metric.by is COUNT)))
"""Metrics that are counts; every other one is a float, so that a column has one type in all files."""

EVERY_METRIC = tuple(metric.name for metric in METRICS)

Row = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """What is measured of each schedule; tau in seconds, trim in percent at either end."""

    tau: float = 10
    trim: float = 0
    metrics: tuple[str, ...] = EVERY_METRIC
    measures: tuple[str, ...] = ()
    """Functions of the user's own, ``./file.py:function`` or ``module:function``: schedule to numbers.

    One whose parameter is called ``sample`` gets the jobs that metrics are taken of, with tau and trim."""
    classes: bool = False
    """Keep the means by size, user and queue."""
    schedules: bool = False
    """Keep the schedule of every cell."""

    def __post_init__(self) -> None:
        check_bounds(self.tau, self.trim)
        for name in self.metrics:
            if not isinstance(name, str) or name not in BY_NAME:
                raise UsageError(f"there is no metric {name!r:.40}; there are {', '.join(BY_NAME)}")

    def key(self) -> dict[str, Any]:
        """Plain data for a cell's identity."""
        return {
            "tau": float(self.tau), "trim": float(self.trim), "metrics": list(self.metrics),
            "classes": self.classes, "schedules": self.schedules,
        }  # fmt: skip


def measures_key(settings: Settings) -> tuple[str, ...]:
    """The users' own measures by the bytes of their sources, as they are now."""
    return tuple(_measure_digest(name) for name in settings.measures)


def _measure_digest(name: str) -> str:
    loaded = json.dumps(digests(measure_file(name)))
    return f"{name.rpartition(':')[2]} {hashlib.sha256(loaded.encode()).hexdigest()}"


def measure_file(name: str) -> Path:
    home, colon, attribute = name.rpartition(":")
    if not colon or not attribute.isidentifier():
        raise UsageError(f"measure {name!r} must be written ./file.py:function or module:function")
    return source_file(home, None, name) if home.endswith(".py") else source_file(None, home, name)


def _measure(name: str) -> Callable[[Sample], Mapping[str, Any]]:
    home, _, attribute = name.rpartition(":")
    module = load_file(home) if home.endswith(".py") else load_module(home)
    function = getattr(module, attribute, None)
    if not callable(function):
        raise UsageError(f"measure {name}: there is no function {attribute} in {home}")
    if next(iter(signature(function).parameters), "") == "sample":
        return function  # type: ignore[no-any-return]
    return lambda sample: function(sample.schedule)


@dataclass(frozen=True)
class Task:
    """A cell as a worker needs it."""

    id: str
    platform: Platform
    policy: str
    policy_key: object
    measures_key: tuple[str, ...]
    seed: int
    widest: int

    @classmethod
    def of(cls, cell: Cell) -> Task:
        policy: str = cell.columns["policy"]
        keys = cell.policy_key, cell.measures_key
        return cls(cell.id, cell.platform, policy, *keys, cell.seed, cell.widest)


@dataclass(frozen=True)
class Chunk:
    """Some cells on one workload, done by one worker in one go."""

    workload: Workload = field(repr=False)
    tasks: tuple[Task, ...]
    settings: Settings
    code: str = field(default_factory=code_digest)


@dataclass
class Outcome:
    """What came of one cell: a row of numbers, or an error; and the tables that were asked for."""

    id: str
    row: Row = field(default_factory=dict)
    error: str | None = None
    classes: list[Row] = field(default_factory=list)
    schedule: bytes | None = None
    seconds: float = 0.0
    """CPU time it took."""
    python: float = 0.0
    """CPU time outside the simulation proper: in Python, which runs on one core at a time."""


def run_chunk(chunk: Chunk) -> list[Outcome]:
    """Run the cells of a chunk one after the other; a failing one does not stop the others."""
    if chunk.code != code_digest():
        raise UsageError("a worker has another headway than the campaign; install the same version")
    return [run_task(task, chunk.workload, chunk.settings) for task in chunk.tasks]


def run_task(task: Task, workload: Workload, settings: Settings) -> Outcome:
    """Simulate and measure one cell; every error is kept as a sentence."""

    def simulated() -> Outcome:
        since = time.thread_time()
        return measured(task, begun(task, workload, settings).run(), settings, since)

    return guarded(task, simulated)


def guarded(task: Task, work: Callable[[], Outcome]) -> Outcome:
    """The outcome of some work on a cell; every error is kept as a sentence."""
    try:
        return work()
    except HeadwayError as error:
        return Outcome(task.id, error=str(error))
    except BaseException as error:  # in a policy or a measure of the user's
        where = error.__traceback__
        while where is not None and where.tb_next is not None:
            where = where.tb_next
        place = f" ({where.tb_frame.f_code.co_filename}:{where.tb_lineno})" if where else ""
        return Outcome(task.id, error=f"{error_words(error)}{place}")


@lru_cache(4096)
def _parsed(policy: str) -> Spec:
    return parse_spec(policy)


def begun(task: Task, workload: Workload, settings: Settings) -> Begun:
    """The simulation of a cell, ready to run."""
    spec = _parsed(task.policy)
    if spec.uses_own and policy_key(spec) != task.policy_key:
        raise UsageError(f"{task.policy}: its source changed after the campaign began; run it again")
    if settings.measures and measures_key(settings) != task.measures_key:
        raise UsageError("the source of a measure changed after the campaign began; run it again")
    return begin(workload.fit_to(task.widest), task.platform, spec)


def measured(task: Task, ran: Ran, settings: Settings, since: float) -> Outcome:
    """The numbers of a cell that was begun when this thread's CPU time was ``since``."""
    row = None if kernels.INTERPRETED else _row_at_once(ran, settings)
    outcome = _of_schedule(task, ran, settings) if row is None else Outcome(task.id, row)
    outcome.seconds = time.thread_time() - since
    outcome.python = outcome.seconds - ran.timing["simulation_cpu_seconds"]
    return outcome


def _row_at_once(ran: Ran, settings: Settings) -> Row | None:
    """The numbers of a plain simulation of which nothing else is wanted; None of any other."""
    if settings.measures or settings.classes or settings.schedules or not ran.is_plain:
        return None
    capacity, dropped = ran.capacity, ran.workload.ledger.dropped
    found = metrics_at_once(ran.state, ran.jobs, capacity, dropped, settings.tau, settings.trim)
    if found is None or not found.keys() >= set(settings.metrics):
        return None
    return {"capacity": capacity, **{name: found[name] for name in settings.metrics}}


def _of_schedule(task: Task, ran: Ran, settings: Settings) -> Outcome:
    """Whatever is wanted of any simulation, from its schedule."""
    schedule = result_of(ran, {"seed": task.seed, **ran.provenance})
    sample = Sample(schedule, settings.tau, settings.trim)
    row: Row = {"capacity": schedule.capacity}
    row |= {name: _number(name, BY_NAME[name].compute(sample)) for name in settings.metrics}
    _add(row, schedule.own, "the policy's own number")
    for name in settings.measures:
        _add(row, _measure(name)(sample), f"measure {name}: the number")
    outcome = Outcome(task.id, row)
    if settings.classes:
        outcome.classes = class_rows(sample)
    if settings.schedules:
        kept = io.BytesIO()
        schedule.frame().write_parquet(kept)
        outcome.schedule = kept.getvalue()
    return outcome


def _number(name: str, value: float | None) -> float | int | None:
    return value if value is None or name in WHOLE else float(value)


def _add(row: Row, numbers: Mapping[str, Any], whose: str) -> None:
    """Add plain numbers and texts to a row; tables among them are left out, and what is no number is none."""
    if not isinstance(numbers, Mapping):
        raise UsageError(f"{whose} must have a name, as in {{'mean': 1.5}}; not {numbers!r:.40}")
    for name, value in numbers.items():
        if hasattr(value, "item"):
            value = value.item()
        if value is not None and not isinstance(value, (bool, int, float, str)):
            continue
        if isinstance(value, float) and math.isnan(value):
            value = None  # a mean of nothing, which pairs must leave out
        if not isinstance(name, str) or not name:
            raise UsageError(f"{whose} is called {name!r:.40}, which is not text; give it a name")
        if name in row or name in DESCRIBED:
            raise UsageError(f"{whose} {name!r} has the name of another column; rename it")
        row[name] = value


def class_rows(sample: Sample) -> list[Row]:
    """Means by size, user and each division as rows of one table: by, class, jobs and the metrics."""

    tables = {"size": by_size(sample), "user": by_user(sample), "queue": by_queue(sample)}
    tables |= by_division(sample)

    return [{"by": by, "class": str(row.pop(by)), **row} for by, table in tables.items() for row in table]
