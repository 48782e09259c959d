"""Base and variant over the same jobs: who waits shorter, who longer, by how much, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.campaign.intervals import Paired, paired
from headway.metrics.classes import size_class, size_classes
from headway.schedule import Schedule
from headway.units import SECOND
from headway.workload.divisions import divisions

WEEK = 7 * 86_400 * SECOND
FEWEST = 5
"""Jobs that a class must have to be named among those that gain or lose."""

Run = Callable[[str], Schedule]


@dataclass(frozen=True)
class Class:
    """Jobs of one partition, account, QOS or size: mean waits (s) under base and variant."""

    kind: str
    name: str
    jobs: int
    base: float
    value: float

    @property
    def difference(self) -> float:
        """How much longer they wait (s)."""
        return self.value - self.base


@dataclass(frozen=True)
class Answer:
    """One variant held against the base; waits in seconds."""

    name: str
    base: Schedule
    variant: Schedule
    overall: Paired
    """Over weeks; its blocks are weeks of submission."""
    changes: tuple[float, ...]
    """Relative change of the mean wait for each seed of the clock phases."""
    classes: tuple[Class, ...]
    recorded: float | None
    """Mean recorded wait of the jobs compared; None where the log has none."""
    simulated: float
    """Mean wait of the same jobs in the base."""

    def describe(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "change": self.name, "jobs": len(self.base), "weeks": self.overall.blocks,
            "mean_wait_base": self.overall.base, "mean_wait": self.overall.value,
            "difference": self.overall.difference, "relative": self.overall.change,
            "interval": [self.overall.change_low, self.overall.change_high],
            "by_seed": list(self.changes), "recorded_mean_wait": self.recorded,
            "base_mean_wait_of_recorded": self.simulated,
            "classes": [vars(one) | {"difference": one.difference} for one in self.classes],
        }  # fmt: skip


def answer(name: str, bases: Sequence[Schedule], variants: Sequence[Schedule]) -> Answer:
    """Compare runs pairwise, one pair for each seed; the jobs that both have are compared."""
    base, variant = bases[0], variants[0]
    rows, others = _common(base, variant)
    waits = [
        (one.wait[rows].astype(np.float64) / SECOND, two.wait[others].astype(np.float64) / SECOND)
        for one, two in zip(bases, variants, strict=True)
    ]
    week = (base.submit[rows] - base.submit.min()) // WEEK
    first, second = waits[0]
    overall = paired(week, second, first, np.ones(len(rows)))
    recorded = base.workload.get("wait")
    known = np.zeros(len(rows), np.bool_) if recorded is None else recorded[rows] >= 0
    mean = float(recorded[rows][known].mean()) / SECOND if recorded is not None and known.any() else None
    return Answer(
        name=name,
        base=base,
        variant=variant,
        overall=overall,
        changes=tuple(float(new.mean() / old.mean() - 1) if old.mean() else 0.0 for old, new in waits),
        classes=tuple(_classes(base, rows, first, second)),
        recorded=mean,
        simulated=float(first[known].mean()) if known.any() else float(first.mean()),
    )


def _common(base: Schedule, variant: Schedule) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows of the jobs that are in both, in both."""
    _, rows, others = np.intersect1d(base.workload.job, variant.workload.job, return_indices=True)
    return rows.astype(np.int64), others.astype(np.int64)


def _classes(
    base: Schedule,
    rows: npt.NDArray[np.int64],
    first: npt.NDArray[np.float64],
    second: npt.NDArray[np.float64],
) -> list[Class]:
    workload = base.workload
    kinds: dict[str, tuple[npt.NDArray[np.int64], Callable[[int], str]]] = {
        "size": (size_classes(workload.procs[rows]).astype(np.int64), size_class)
    }
    for kind, column in divisions(workload).items():
        labels = workload.labels.get(column)

        def label(code: int, labels: list[str] | None = labels) -> str:
            return str(code) if labels is None or code < 0 else labels[code]

        kinds[kind] = (workload.columns[column][rows], label)
    found = []
    for kind, (codes, name) in kinds.items():
        for code in np.unique(codes).tolist():
            here = codes == code
            found.append(
                Class(
                    kind, name(code), int(here.sum()), float(first[here].mean()), float(second[here].mean())
                )
            )
    return found


def sentences(found: Answer) -> list[str]:
    """What a person should take away, one sentence each."""
    overall = found.overall
    said = [_overall(found), *_who(found)]
    if found.recorded:
        off = found.simulated / found.recorded - 1
        way = "longer" if off > 0 else "shorter"
        said.append(
            f"How true the base is: its mean wait is {abs(off):.0%} {way} than the recorded one; do not "
            "trust changes smaller than that."
        )
    if len(found.variant) != len(found.base):
        said.append(
            f"{len(found.base):,} jobs run in the base and {len(found.variant):,} in the variant; the "
            f"{overall.pairs:,} that both have are compared."
        )
    said.append(
        "What it does not know: people would react to the change, with other requests and at other times; "
        "and whatever is not modelled."
    )
    return said


def _overall(found: Answer) -> str:
    overall = found.overall
    way = "shorter" if overall.difference < 0 else "longer"
    text = f"With {found.name} the mean wait is {spoken(overall.value)} instead of {spoken(overall.base)}"
    if overall.change is not None:
        text += f", {abs(overall.change):.0%} {way}"
    if overall.enough and overall.change_low is not None and overall.change_high is not None:
        sure = "" if overall.significant else ", so it may be chance"
        text += (
            f" (95 % interval over {overall.blocks} weeks: {overall.change_low:+.0%} to "
            f"{overall.change_high:+.0%}{sure})"
        )
    else:
        weeks = "1 week is" if overall.blocks == 1 else f"{overall.blocks} weeks are"
        text += f"; {weeks} too few for an interval"
    if len(found.changes) > 1:
        low, high = min(found.changes), max(found.changes)
        text += f"; {len(found.changes)} phases of the controller's clocks give {low:+.0%} to {high:+.0%}"
    return text + "."


def _who(found: Answer) -> list[str]:
    """Who gains and who loses most, of partitions, accounts, QOS and sizes."""
    named = [one for one in found.classes if one.jobs >= FEWEST and abs(one.difference) >= 1]
    said = []
    for title, chosen in (
        ("Who gains", sorted((one for one in named if one.difference < 0), key=lambda one: one.difference)),
        ("Who loses", sorted((one for one in named if one.difference > 0), key=lambda one: -one.difference)),
    ):
        listed = [
            f"{one.kind} {one.name} ({one.jobs:,} jobs) {spoken(abs(one.difference))}"
            f" {'less' if one.difference < 0 else 'more'}"
            for one in chosen[:4]
        ]
        said.append(f"{title}: {'; '.join(listed) if listed else 'nobody by a second or more'}.")
    return said


def spoken(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86400:.1f} d"
