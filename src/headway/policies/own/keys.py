"""Evaluates keys of the user's own: once for all jobs where they do not change, else at each pass.

A key sees what is known of a job when it is submitted, times in seconds, and now in seconds, as the formulas
of the field do. It is compiled where numba can; what it cannot compile runs in Python and means the same.
"""

from __future__ import annotations

import dis
import inspect
import math
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from headway.engine.compiled import compiled_keyed_loop, hook_signature
from headway.engine.driver import Driver
from headway.engine.setup import Jobs, Progress, Setup
from headway.engine.tables import GONE, JOB_ROWS, Fault, JobTable, State
from headway.errors import PolicyError, UsageError
from headway.jit import kernels
from headway.policies.backfilling.easy import Rule, easy, easy_sorted
from headway.policies.backfilling.setup import LEARNED
from headway.policies.own import faults
from headway.policies.own.forms import parameters, unknown
from headway.policies.own.loading import find, source_of
from headway.policies.own.view import PUBLIC
from headway.policies.queueing.ordering import BACKFILL_ORDER, CLASS_WEIGHT, GIVEN, ORDER
from headway.policies.spec import Spec
from headway.units import LONGEST, SECOND, microseconds_up, seconds_text
from headway.workload.table import TIMES

if TYPE_CHECKING:
    from headway.policies.prepare import Arrivals, Prepared


Column = npt.NDArray[Any]

NOT_FOR_KEYS = ("job",)
"""A key does not see the number in the log: renaming jobs must not change a schedule."""


class Rows:
    """Jobs as keys see them: named tuples with times in seconds, in order of arrival."""

    def __init__(self, columns: dict[str, Column], plan: Column | None = None) -> None:
        names = [name for name in PUBLIC if name in columns and name not in NOT_FOR_KEYS]
        self.columns: dict[str, Column] = {name: columns[name] for name in names}
        if plan is not None:
            self.columns["estimate"] = plan
        self.times = [name for name in self.columns if name in TIMES or name == "estimate"]
        self.row_type: Any = namedtuple("Job", list(self.columns))  # type: ignore[misc]

    @cached_property
    def rows(self) -> list[Any]:
        values = [
            np.where(column < 0, -1.0, column / SECOND).tolist() if name in self.times else column.tolist()
            for name, column in self.columns.items()
        ]
        return list(map(self.row_type._make, zip(*values, strict=True)))


class KeyFunction:
    """A key, found and ready to be called with a job and now."""

    def __init__(self, key: Spec) -> None:
        self.key = key
        function: Any = key.given if key.given is not None else self._found(key)
        if not callable(function) or inspect.isclass(function):
            raise UsageError(f"{key.name}: this is not a function of a job, such as 'def key(job, now): ...'")
        self.function: Callable[..., Any] = function
        self.source = source_of(function)
        places = self._places(function)
        self.takes_now = places == 2
        self.moves = self.takes_now and uses_second(function)

    @staticmethod
    def _found(key: Spec) -> Callable[..., Any]:
        assert key.attribute is not None
        thing = find(key.file, key.module, key.attribute)
        if not key.params or inspect.isclass(thing):
            return thing
        accepted = [name for name in parameters(thing) if name != "now"]
        for name in key.params:
            if name not in accepted:
                raise unknown(key.name, name, accepted)
        return partial(thing, **key.params)

    def _places(self, function: Callable[..., Any]) -> int:
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            return 1
        # A second parameter that has a default is the user's own, unless it is called now.
        places = [
            p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        wants_now = len(places) > 1 and (
            places[1].default is inspect.Parameter.empty or places[1].name == "now"
        )
        try:
            signature.bind(*range(2 if wants_now else 1))
        except TypeError:
            pass
        else:
            return 2 if wants_now else 1
        raise UsageError(
            f"{faults.defined_at(function)}: a key is called with a job, or with a job and now; "
            f"{self.key} takes {signature}"
        )

    def value(self, row: Any, now: float, job: int, at: int) -> float:
        """The key of one job (``job`` is its number in the log, ``at`` is now in µs), checked."""
        try:
            value = self.function(row, now) if self.takes_now else self.function(row)
        except BaseException as error:
            place = faults.users_line(error.__traceback__) or faults.defined_at(self.function)
            words = _with_columns(error, row)
            raise PolicyError(f"{place}: {words}, for job {job} at {seconds_text(at)} s") from error
        try:
            number = math.nan if isinstance(value, str | bytes) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if math.isnan(number):
            raise PolicyError(
                f"{faults.defined_at(self.function)}: the key of job {job} at {seconds_text(at)} s is "
                f"{value!r:.40}; it must be a number"
            )
        return number

    def values(
        self, rows: Sequence[Any], jobs: Sequence[int], submit: Sequence[int]
    ) -> npt.NDArray[np.float64]:
        """The keys of all jobs, each at its submission."""
        found = (
            self.value(row, at / SECOND, job, at) for row, job, at in zip(rows, jobs, submit, strict=True)
        )
        return np.fromiter(found, np.float64, len(rows))


def key_functions(spec: Spec) -> dict[str, KeyFunction]:
    """The user's functions among the parameters of a policy."""
    return {name: KeyFunction(key) for name, key in spec.keys.items()}


def _with_columns(error: BaseException, row: Any) -> str:
    words = faults.error_words(error)
    if isinstance(error, AttributeError) and error.obj is row:
        fields: tuple[str, ...] = getattr(row, "_fields", ())
        return f"a job has no {error.name!r}; it has {', '.join(fields)}"
    return f"the key raised {words}"


def uses_second(function: Callable[..., Any]) -> bool:
    """Whether a function looks at its second argument; True where that cannot be seen."""
    function = getattr(function, "func", function)
    code = getattr(function, "__code__", None)
    if code is None or code.co_argcount < 2:
        return True
    name = code.co_varnames[1 + inspect.ismethod(function)]
    if name in code.co_cellvars:
        return True
    for instruction in dis.get_instructions(code):
        read = instruction.opname.startswith("LOAD")
        value = instruction.argval
        if read and (value == name or (isinstance(value, tuple) and name in value)):
            return True
    return False


# Keys that change with time: before each pass, the key of every waiting job is written down for the order.
#
# The job rows behind the engine's hold the keys (as the bits of floats), then the columns that keys look
# at.

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
    for i in range(state.pools.head[0], state.pools.tail[0]):
        if state.queue.procs[0, i] != {GONE} and not one(state, state.queue.job[0, i], now):
            state.clock.fault, state.clock.fault_job = {int(Fault.BAD_KEY)}, state.queue.job[0, i]
            return
    for j in range(state.clock.first_new, state.clock.last_new):
        if not one(state, j, now):
            state.clock.fault, state.clock.fault_job = {int(Fault.BAD_KEY)}, j
            return
    for i in range(state.clock.returns):
        if not one(state, state.lists.returned[i], now):
            state.clock.fault, state.clock.fault_job = {int(Fault.BAD_KEY)}, state.lists.returned[i]
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
        places = slice(state.pools.head[0], state.pools.tail[0])
        queued = state.queue.job[0, places][state.queue.procs[0, places] != GONE].tolist()
        returned = state.lists.returned[: state.clock.returns].tolist()
        numbers = [*queued, *returned, *range(state.clock.first_new, state.clock.last_new)]
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
            if driver.state.clock.fault == Fault.BAD_KEY:
                self._explain(driver.state, jobs)
            raise

    def _explain(self, state: State, jobs: Jobs) -> None:
        """Ask the Python key again for the job whose compiled key failed: it tells the line."""
        assert jobs.ids is not None
        number, now = int(state.clock.fault_job), int(state.clock.now)
        for moving in self.keys:
            moving.key.value(self.rows.rows[number], now / 1e6, int(jobs.ids[number]), now)


# Prepares a policy of the catalogue that a user's key orders, or whose estimates a user's function gives.

STAND_INS = ("saf", "laf")
"""Fixed orders that stand in for keys while the policy is prepared; their ranks are then overwritten."""

PLACES = {"order": (JobTable["key"], ORDER), "backfill": (JobTable["backfill_key"], BACKFILL_ORDER)}
"""The job row and the option of each order."""


def prepare_keyed(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """The policy with fixed orders in the place of the user's, then the user's keys put in."""
    found = key_functions(spec)
    columns = arrivals.columns
    changed: dict[str, Any] = {}
    if spec.params.get("estimate") in LEARNED:
        raise UsageError(f"{spec.name}: estimate={spec.params['estimate']} goes with no order of your own")
    if "estimate" in found:
        changed["estimate"] = "exact"
        arrivals = replace(arrivals, length=planned(found["estimate"], columns))
    orders = {name: found[name] for name in PLACES if name in found}
    changed |= stand_ins(spec, orders)
    plain = replace(spec, params={**spec.params, **changed}).policy.prepare(arrivals, procs)
    if "backfill" in orders and spec.params["backfill"] == spec.params["order"]:
        del orders["backfill"]  # one queue for both
    source = next(iter(found.values())).source
    prepared = with_orders(plain, orders, Rows(columns, plain.plan), arrivals)
    if "estimate" in found:
        options = list(prepared.setup.options)
        options[Rule.NEWCOMERS_ONLY] = 0  # that shortcut needs estimates that no job outlives
        prepared = replace(prepared, setup=replace(prepared.setup, options=tuple(options)))
    return replace(
        prepared,
        source=dict(source),
        promise_kind="" if orders or "estimate" in found else plain.promise_kind,
    )


def stand_ins(spec: Spec, orders: Mapping[str, KeyFunction]) -> dict[str, str]:
    """A fixed order for each of the user's; equal ones get the same, others one that is not in use."""
    chosen: dict[str, str] = {}
    for name in orders:
        if name == "backfill" and spec.params["backfill"] == spec.params["order"]:
            chosen[name] = chosen["order"]
            continue
        taken = {*chosen.values(), *(str(spec.params.get(other)) for other in PLACES)}
        chosen[name] = next(order for order in (*STAND_INS, "lqf") if order not in taken)
    return chosen


def with_orders(
    plain: Prepared, orders: Mapping[str, KeyFunction], rows: Rows, arrivals: Arrivals
) -> Prepared:
    """Put the user's keys in: ranks where they do not change, else a key for every pass."""
    options, moving = list(plain.setup.options), list[MovingKey]()
    ranks: dict[int, Column] = {}
    for name, key in orders.items():
        row, option = PLACES[name]
        if key.moves:
            kind = GIVEN + list(PLACES).index(name)
            options[option] = kind
            moving.append(MovingKey(key, JOB_ROWS + kind - GIVEN))
        else:
            jobs, submit = arrivals.columns["job"].tolist(), arrivals.submit.tolist()
            ranks[row] = np.unique(key.values(rows.rows, jobs, submit), return_inverse=True)[1]
    before = plain.setup.prepare

    def fill(state: State) -> None:
        if before is not None:
            before(state)
        for row, rank in ranks.items():
            state.jobs[row] -= state.jobs[row] % CLASS_WEIGHT  # keep the class, replace the rank
            state.jobs[row] += rank
        if moving:
            fill_columns(state, rows)

    setup = replace(plain.setup, options=tuple(options), prepare=fill)
    if moving:
        run = KeyedRun(moving, rows, compiled_rekey(moving, rows))
        setup = replace(
            setup,
            hook=easy_sorted if setup.hook is easy else setup.hook,
            drive=run,
            more_rows=KEY_ROWS + len(rows.columns),
        )
    return replace(plain, setup=setup)


def planned(estimate: KeyFunction, columns: dict[str, Column]) -> Column:
    """The user's estimates in µs, each made when its job is submitted."""
    jobs, submit = columns["job"].tolist(), columns["submit"].tolist()
    values = estimate.values(Rows(columns).rows, jobs, submit)
    for job, value in zip(jobs, values.tolist(), strict=True):
        if not (math.isfinite(value) and 0 <= value <= LONGEST / SECOND):
            raise PolicyError(
                f"{faults.defined_at(estimate.function)}: the estimate of job {job} is {value:g} s; "
                "it must be a number of seconds from 0 on"
            )
    return np.array([microseconds_up(value) for value in values.tolist()], np.int64)
