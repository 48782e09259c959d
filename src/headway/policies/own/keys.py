"""Evaluates keys of the user's own: once for all jobs where they do not change, else at each pass.

A key sees what is known of a job when it is submitted, times in seconds, and now in seconds, as the formulas
of the field do. It is compiled where numba can; what it cannot compile runs in Python and means the same.
"""

from __future__ import annotations

import dis
import inspect
import math
from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.errors import PolicyError, UsageError
from headway.policies.own import faults
from headway.policies.own.forms import parameters, unknown
from headway.policies.own.loading import find, source_of
from headway.policies.own.view import PUBLIC
from headway.policies.spec import Spec
from headway.units import SECOND, seconds_text
from headway.workload.table import TIMES

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
