"""Several schedules of one workload side by side: the values of each metric, better or worse."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from headway.errors import UsageError
from headway.metrics.catalogue import BY_NAME
from headway.schedule import Schedule
from headway.schedule.files import write_json

Verdict = Literal["better", "worse", "same", ""]


@dataclass(frozen=True)
class Row:
    """One metric over all schedules.

    ``change`` is (value - first) / first, None where that is not a number. ``verdict`` is empty for the
    first schedule and where no direction is better.
    """

    metric: str
    unit: str
    better: str
    values: tuple[int | float | None, ...]
    change: tuple[float | None, ...]
    verdict: tuple[Verdict, ...]


@dataclass(frozen=True)
class Comparison:
    """Schedules, what to call them, and their summaries; the first is what the others are held against."""

    schedules: tuple[Schedule, ...]
    names: tuple[str, ...]
    summaries: tuple[dict[str, Any], ...]

    def rows(self) -> list[Row]:
        """Every single number that one of the summaries has."""
        names = dict.fromkeys(name for summary in self.summaries for name in summary)
        return [
            _row(name, [summary.get(name) for summary in self.summaries])
            for name in names
            if all(isinstance(summary.get(name), int | float | None) for summary in self.summaries)
        ]

    def describe(self) -> dict[str, Any]:
        """Plain data for comparison.json."""
        return {
            "base": self.names[0],
            "policies": [
                {"name": name, "policy": schedule.policy, "processors": schedule.capacity, "summary": summary}
                for name, schedule, summary in zip(self.names, self.schedules, self.summaries, strict=True)
            ],
            "differences": [
                {
                    "metric": row.metric,
                    "unit": row.unit,
                    "better": row.better,
                    "change": list(row.change),
                    "verdict": list(row.verdict),
                }
                for row in self.rows()
            ],
        }

    def write(self, folder: Path) -> None:
        """comparison.csv, one line per schedule and one column per metric, and comparison.json."""
        rows = self.rows()
        with (folder / "comparison.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["policy", "processors", *(row.metric for row in rows)])
            for at, (name, schedule) in enumerate(zip(self.names, self.schedules, strict=True)):
                values = ["" if row.values[at] is None else row.values[at] for row in rows]
                writer.writerow([name, schedule.capacity, *values])
        write_json(folder / "comparison.json", self.describe())


def compare(
    schedules: Sequence[Schedule], *, tau: float = 10, names: Sequence[str] | None = None
) -> Comparison:
    """Hold schedules against the first of them; `tau` in seconds, `names` instead of the policies' own."""
    if not schedules:
        raise UsageError("compare needs at least one schedule")
    called = tuple(names) if names is not None else tuple(_brief(schedule.policy) for schedule in schedules)
    if len(called) != len(schedules):
        raise UsageError(f"compare got {len(called)} names for {len(schedules)} schedules")
    return Comparison(tuple(schedules), called, tuple(schedule.summary(tau=tau) for schedule in schedules))


def _brief(policy: str) -> str:
    from headway.policies.spec import parse_spec

    try:
        return parse_spec(policy).brief
    except UsageError:  # a schedule of another tool may name its policy as it likes
        return policy


def _row(name: str, values: list[int | float | None]) -> Row:
    metric = BY_NAME.get(name)
    better = metric.better if metric else ""
    base = values[0]
    changes = tuple(
        None if base is None or value is None or base == 0 else (value - base) / base for value in values
    )
    verdicts = tuple(_verdict(base, value, better) if at else "" for at, value in enumerate(values))
    return Row(name, metric.unit if metric else "", better, tuple(values), changes, verdicts)


def _verdict(base: int | float | None, value: int | float | None, better: str) -> Verdict:
    if not better or base is None or value is None:
        return ""
    if value == base:
        return "same"
    return "better" if (value < base) == (better == "lower") else "worse"
