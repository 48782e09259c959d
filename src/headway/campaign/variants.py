"""The policies of a campaign: each with a grid or a list of parameters, and the baseline of each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from headway.campaign.sources import located
from headway.errors import UsageError
from headway.grammar import Call, Value, parse_call
from headway.policies.spec import Spec, parse_spec

_KEYS = ("policy", "grid", "points", "baseline", "equal", "label")

Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class Variant:
    """One policy with one set of parameters.

    `parameters` are those that were written, which become columns of the results. `baseline` is the policy
    it is paired with; where `equal`, on as many processors as the variant has in all.
    """

    spec: Spec
    parameters: Parameters
    label: str
    baseline: Spec | None = None
    equal: bool = True


def variants(
    given: Sequence[object], baseline: str | None = None, folder: Path | None = None
) -> list[Variant]:
    """Every policy with every point of its grid, in the order given; `baseline` is that of those without."""
    if isinstance(given, (str, Spec, Mapping)):
        given = [given]
    expanded = [list(_expand(each, baseline, folder)) for each in given]
    if not any(expanded):
        raise UsageError("a campaign needs at least one policy")
    _check_labels(expanded)
    return [variant for each in expanded for variant in each]


def _check_labels(expanded: list[list[Variant]]) -> None:
    """Refuse one label for several policies: tables would mix them."""
    named: dict[str, Spec] = {
        v.baseline.brief: v.baseline for each in expanded for v in each if v.baseline is not None
    }
    for each in expanded:
        for variant in each:
            spec = named.setdefault(variant.label, variant.spec)
            if str(spec) != str(variant.spec):
                raise UsageError(
                    f"{spec.brief} and {variant.spec.brief} are both called {variant.label!r}; give one of "
                    "them another label"
                )


def _expand(given: object, baseline: str | None, folder: Path | None) -> Iterator[Variant]:
    table = dict(given) if isinstance(given, Mapping) else {"policy": given}
    for key in table:
        if key not in _KEYS:
            raise UsageError(
                f"policy: there is no key {key!r}; there are {', '.join(_KEYS)}, and parameters go into "
                "grid (all combinations) or points (a list)"
            )
    if "policy" not in table:
        raise UsageError("policy: the key policy is missing, as in policy = 'easy(backfill=sjf)'")
    given = table["policy"]
    if not isinstance(given, (str, Spec)) or getattr(given, "given", None) is not None:
        raise UsageError(
            f"a campaign names its policies by text, such as ./file.py:Name, so that workers find them, not "
            f"{given!r:.60}"
        )
    label = table.get("label", "-")
    if not isinstance(label, str) or not label:
        raise UsageError(f"policy: label must be a text, not {label!r:.40}")
    if not isinstance(table.get("equal", True), bool):
        raise UsageError(f"policy: equal must be true or false, not {table['equal']!r:.40}")
    call = parse_call(str(given))
    against = table.get("baseline", baseline)
    paired = None if against in (None, "", "none") else parse_spec(_located(parse_call(str(against)), folder))
    points = list(_points(table))
    for point in points:
        written = _located(Call(call.name, call.args, {**call.kwargs, **point}), folder)
        spec = parse_spec(written)
        label = str(table.get("label", spec.brief if folder is None else _from(folder, spec)))
        if "label" in table and len(points) > 1:  # each point is judged by itself
            label += f"({', '.join(f'{name}={value}' for name, value in point.items())})"
        parameters = {name: _plain(value) for name, value in {**call.kwargs, **point}.items()}
        yield Variant(spec, parameters, label, paired, bool(table.get("equal", True)))


def _points(table: Mapping[str, Any]) -> Iterator[dict[str, Value]]:
    grid = table.get("grid", {})
    points = table.get("points", [{}])
    listed = isinstance(points, (list, tuple))
    if not isinstance(grid, Mapping) or not (listed and all(isinstance(point, Mapping) for point in points)):
        raise UsageError("policy: grid is a table of lists and points a list of tables of parameters")
    axes = {
        name: list(values) if isinstance(values, (list, tuple, range)) else [values]
        for name, values in grid.items()
    }
    for name in [name for name, values in axes.items() if not values] + ["points"] * (not points):
        raise UsageError(f"policy: the list of {name} is empty; give at least one, or leave it out")
    for point in points:
        for values in product(*axes.values()):
            yield {**point, **dict(zip(axes, values, strict=True))}


def _located(call: Call, folder: Path | None) -> str:
    """The spec's text, with the user's files (policies, keys, agents) looked up beside the campaign file."""

    def found(name: str) -> str:
        if name.endswith(".npz"):
            return located(name, folder)
        home, colon, attribute = name.rpartition(":")
        return f"{located(home, folder)}:{attribute}" if colon and home.endswith(".py") else name

    def nested(value: Value) -> Value:
        if isinstance(value, Call):
            return Call(
                found(value.name), value.args, {key: nested(each) for key, each in value.kwargs.items()}
            )
        return found(value) if isinstance(value, str) else value

    return str(nested(call))


def _from(folder: Path, spec: Spec) -> str:
    """The spec as briefly as it can be said, its files as seen from the campaign file's folder."""
    label = spec.brief
    for file in spec.files().values():
        label = label.replace(file, os.path.relpath(file, folder))
    return label


def _plain(value: Value) -> Any:
    return str(value) if isinstance(value, (Call, list)) else value
