"""The policies of a campaign: each with parameters, changes and seeds, and the baseline of each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from headway.campaign.sources import SEED, located, texts
from headway.changes import changes_of
from headway.errors import UsageError
from headway.grammar import Call, Value, parse_call
from headway.policies.spec import Spec, parse_spec

_KEYS = ("policy", "grid", "points", "changes", "baseline", "equal", "label")

Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class Variant:
    """One policy with one set of parameters, where its machine and jobs are as they are or changed.

    `parameters` are those that were written, which become columns of the results. `baseline` is the policy
    it is paired with, without the changes; where `equal`, on as many processors as the variant has in all.
    `seed` is the one in its text or in that of its baseline; None where neither has one.
    """

    spec: Spec
    parameters: Parameters
    label: str
    baseline: Spec | None = None
    equal: bool = True
    changes: str = ""
    seed: int | None = None
    base_label: str = ""


def variants(
    given: Sequence[object],
    baseline: str | None = None,
    folder: Path | None = None,
    seeds: Sequence[int] = (0,),
) -> list[Variant]:
    """Every policy with every point of its grid, in the order given; `baseline` is that of those without."""
    if isinstance(given, (str, Spec, Mapping)):
        given = [given]
    expanded = [list(_expand(each, baseline, folder, seeds)) for each in given]
    if not any(expanded):
        raise UsageError("a campaign needs at least one policy")
    _check_labels(expanded)
    return [variant for each in expanded for variant in each]


def _check_labels(expanded: list[list[Variant]]) -> None:
    """Refuse one label for several policies: tables would mix them."""
    named: dict[tuple[str, int | None], tuple[Spec, str]] = {
        (v.base_label, v.seed): (v.baseline, "") for each in expanded for v in each if v.baseline is not None
    }
    for each in expanded:
        for variant in each:
            spec, changes = named.setdefault((variant.label, variant.seed), (variant.spec, variant.changes))
            if (str(spec), changes) != (str(variant.spec), variant.changes):
                both = f"{_with(spec.brief, changes)} and {_with(variant.spec.brief, variant.changes)}"
                raise UsageError(f"{both} are both called {variant.label!r}; give one of them another label")


def _expand(
    given: object, baseline: str | None, folder: Path | None, seeds: Sequence[int]
) -> Iterator[Variant]:
    table = dict(given) if isinstance(given, Mapping) else {"policy": given}
    _check_table(table)
    policy, against = _Written.of(table["policy"], folder), table.get("baseline", baseline)
    paired = None if against in (None, "", "none") else _Written.of(against, folder)
    points, changes = list(_points(table)), _changes(table)
    drawn = policy.is_seeded or (paired is not None and paired.is_seeded)
    for point in points:
        written = policy.at(point)
        for change in changes:
            label = str(table.get("label", written.label))
            if "label" in table and len(points) > 1:  # each point is judged by itself
                label += f"({', '.join(f'{name}={value}' for name, value in point.items())})"
            if "label" not in table or len(changes) > 1:
                label = _with(label, change)
            for seed in seeds if drawn else (None,):
                yield Variant(
                    written.spec(seed),
                    written.parameters,
                    label,
                    None if paired is None else paired.spec(seed),
                    bool(table.get("equal", True)),
                    change,
                    seed,
                    "" if paired is None else paired.text if paired.is_seeded else paired.spec(None).brief,
                )


def _check_table(table: Mapping[str, Any]) -> None:
    """Refuse keys that there are not, and values that are none of theirs."""
    for key in table:
        if key not in _KEYS:
            raise UsageError(
                f"policy: there is no key {key!r}; there are {', '.join(_KEYS)}, and parameters go into "
                "grid (all combinations) or points (a list)"
            )
    if "policy" not in table:
        raise UsageError("policy: the key policy is missing, as in policy = 'easy(backfill=sjf)'")
    given, label = table["policy"], table.get("label", "-")
    if not isinstance(given, (str, Spec)) or getattr(given, "given", None) is not None:
        raise UsageError(
            f"a campaign names its policies by text, such as ./file.py:Name, so that workers find them, not "
            f"{given!r:.60}"
        )
    if not isinstance(label, str) or not label:
        raise UsageError(f"policy: label must be a text, not {label!r:.40}")
    if not isinstance(table.get("equal", True), bool):
        raise UsageError(f"policy: equal must be true or false, not {table['equal']!r:.40}")


def _changes(table: Mapping[str, Any]) -> list[str]:
    """The changes of each variant, as ``headway what-if --against`` takes them; an empty text is none."""
    given = texts(table.get("changes", ""), "policy: changes")
    for text in given:
        if any(change.partition("=")[0].strip().lower() == "policy" for change in changes_of(text)):
            raise UsageError(f"policy: changes = {text!r}: another policy gets a [[policy]] of its own")
    if not given or len(set(given)) < len(given):
        raise UsageError("policy: changes must be different texts, at least one, as in ['nodes=+10%']")
    return list(given)


def _with(label: str, changes: str) -> str:
    return f"{label}, {changes}" if changes else label


@dataclass(frozen=True)
class _Written:
    """A policy as it is written, perhaps with ``{seed}`` for a value."""

    call: Call
    folder: Path | None

    @classmethod
    def of(cls, given: object, folder: Path | None) -> _Written:
        return cls(parse_call(str(given).replace(SEED, f"'{SEED}'")), folder)

    def at(self, point: Parameters) -> _Written:
        return replace(self, call=Call(self.call.name, self.call.args, {**self.call.kwargs, **point}))

    @property
    def text(self) -> str:
        """The spec, the user's files looked up beside the campaign file."""
        return _located(self.call, self.folder).replace(f'"{SEED}"', SEED)

    @property
    def is_seeded(self) -> bool:
        return SEED in self.text

    def spec(self, seed: int | None) -> Spec:
        return parse_spec(self.text.replace(SEED, str(seed)))

    @property
    def label(self) -> str:
        """As briefly as it can be said; with a seed as it is written, as it stands for several."""
        if self.is_seeded:
            return self.text
        spec = self.spec(None)
        return spec.brief if self.folder is None else _from(self.folder, spec)

    @property
    def parameters(self) -> Parameters:
        """Those that are written, but seeds, which have a column of their own."""
        named = self.call.kwargs.items()
        return {name: _plain(value) for name, value in named if SEED not in str(value)}


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
