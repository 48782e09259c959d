"""The registry of transformations: one entry serves Python, `--apply` and sweep files.

A transformation is a function from a workload and parameters to a workload. Its name, signature and
docstring are the catalogue entry; the decorator checks the arguments and writes the call, with every
parameter, into the provenance of what comes out.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec

from headway.binding import Parameter, bind, canonical, check, describe, numbers_of, summary
from headway.errors import UsageError
from headway.grammar import Call, parse_call
from headway.plain import close
from headway.workload.table import Workload

P = ParamSpec("P")


@dataclass(frozen=True)
class Transformation:
    """A registered transformation; `many` marks those that give a list of workloads."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    run: Callable[..., list[Workload]]
    many: bool


TRANSFORMATIONS: dict[str, Transformation] = {}
"""All transformations by the name used in specs."""


def transformation(
    function: Callable[Concatenate[Workload, P], Workload],
) -> Callable[Concatenate[Workload, P], Workload]:
    """Register a function from workload to workload; calls are checked and recorded in provenance."""
    name = function.__name__.rstrip("_")
    parameters = describe(function, skip=1)
    signature = inspect.signature(function)

    @functools.wraps(function)
    def recorded(workload: Workload, /, *args: P.args, **kwargs: P.kwargs) -> Workload:
        given = dict(list(signature.bind(workload, *args, **kwargs).arguments.items())[1:])
        checked: dict[str, Any] = {
            p.keyword: check(p, given[p.keyword], name) for p in parameters if p.keyword in given
        }
        result = function(workload, **checked)  # type: ignore[call-arg]
        shown = {key: _shown(value) for key, value in checked.items()}
        return result.with_columns(transformation=canonical(name, parameters, shown))

    def run(workload: Workload, **arguments: Any) -> list[Workload]:
        return [recorded(workload, **arguments)]  # type: ignore[call-arg]

    TRANSFORMATIONS[name] = Transformation(name, summary(function), parameters, run, many=False)
    return recorded


def register_many(name: str, function: Callable[..., Any], run: Callable[..., list[Workload]]) -> None:
    """Register a transformation that gives several workloads; `function` documents it."""
    parameters = describe(function, skip=1)
    TRANSFORMATIONS[name] = Transformation(name, summary(function), parameters, run, many=True)


def apply(workload: Workload, *specs: str | Call) -> Workload:
    """Apply transformations one after the other: ``apply(w, "window(from=0, to=604800)", "exact")``."""
    for spec in specs:
        entry, arguments = _resolved(spec)
        if entry.many:
            raise UsageError(
                f"{entry.name} gives several workloads, and one is wanted here; write them with "
                "headway convert LOG FOLDER --apply, or in Python call apply_each"
            )
        with numbers_of(entry.name):
            [workload] = entry.run(workload, **arguments)
    return workload


def apply_each(workload: Workload, *specs: str | Call) -> list[Workload]:
    """Like `apply`; where a transformation gives several workloads the following ones see each of them."""
    workloads = [workload]
    for spec in specs:
        entry, arguments = _resolved(spec)
        with numbers_of(entry.name):
            workloads = [result for each in workloads for result in entry.run(each, **arguments)]
    return workloads


def _shown(value: Any) -> Any:
    """An argument as provenance writes it; a workload is named by its source and what was done to it."""
    if isinstance(value, list):
        return [_shown(item) for item in value]
    if not isinstance(value, Workload):
        return value
    return "; ".join([f"{value.source.name} {value.source.sha256[:12]}".strip(), *value.transformations])


def _resolved(spec: str | Call) -> tuple[Transformation, dict[str, Any]]:
    call = parse_call(spec) if isinstance(spec, str) else spec
    entry = TRANSFORMATIONS.get(call.name)
    if entry is None:
        known = ", ".join(sorted(TRANSFORMATIONS))
        hint = close(call.name, TRANSFORMATIONS)
        raise UsageError(f"no transformation {call.name}{hint}; there are {known}")
    return entry, bind(call, entry.parameters, where=call.name)
