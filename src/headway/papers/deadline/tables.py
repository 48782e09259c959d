"""The paper's two tables beside ours, the table of readings, and who pays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from headway.papers.deadline.logs import THIRDS, Log
from headway.papers.deadline.runs import Run, Runs, change_estimate, mean_estimate
from headway.papers.kept import Numbers
from headway.papers.page import rows_of

CASES = (24.0, 72.0)
"""Cases a and b: hours from submission to deadline, at least."""
CALENDAR = {
    "morning": "the next morning at 8:00",
    "workday": "the next morning from Monday to Friday",
    "monday": "the next Monday at 8:00",
}
"""Deadlines of the calendar; the first of them that is twice the task's time after its submission."""
WORDS = {"wait": "mean wait (h)", "slowdown": "mean slowdown"}


@dataclass(frozen=True)
class Reading:
    """One answer to a question that the paper leaves open."""

    question: str
    answer: str
    plain: str = "conservative"
    policy: str = "dbf"
    run: dict[str, Any] = field(default_factory=dict)


BASE = Reading("all questions", "as in the tables")
REQUESTED = {"times": "requested"}
REQUESTED_TIMES = Reading("times the scheduler knows", "requested", run=REQUESTED)
READINGS = (
    BASE,
    REQUESTED_TIMES,
    Reading(
        "times the scheduler knows",
        "exact, killed at the request before",
        run={"times": "exact, at most the request"},
    ),
    *(
        Reading(
            "compression, requested times",
            mode,
            f"conservative(compress={mode})",
            f"dbf(compress={mode})",
            REQUESTED,
        )
        for mode in ("every", "fixpoint", "none", "scratch")
    ),
    Reading("exact holes", "refused", "conservative(hole=open)", "dbf(hole=open)"),
    Reading(
        "exact holes",
        "refused, and scratch, requested times",
        "conservative(compress=scratch, hole=open)",
        "dbf(compress=scratch, hole=open)",
        REQUESTED,
    ),
    Reading("jobs of no length", "dropped", run={"zero": "dropped"}),
    Reading("jobs of no length", "raised to one second", run={"zero": "one second"}),
    *(Reading("which third is flexible", chosen, run={"chosen": chosen}) for chosen in THIRDS[1:]),
    Reading("algorithm", "literal", policy="dbf(mode=literal)"),
    Reading("algorithm", "literal, requested times", policy="dbf(mode=literal)", run=REQUESTED),
)


def readings_of(log: Log) -> list[Reading]:
    """Those that the log can tell: without requested times there is no way to read them."""
    return [reading for reading in READINGS if log.has_requests or not reading.run.get("times")]


def cases(runs: Runs, log: Log, reading: Reading = BASE) -> tuple[Numbers, Numbers, Numbers]:
    """Conservative backfilling, DBF in case a, DBF in case b."""
    plain = runs.get(log, Run(reading.plain, **reading.run))
    a, b = (runs.get(log, Run(reading.policy, hours, **reading.run)) for hours in CASES)
    return plain, a, b


def change(with_: float | None, without: float | None) -> float | None:
    """By how many percent a number is larger than another."""
    return None if with_ is None or not without else 100 * (with_ / without - 1)


def signed(percent: float | None) -> str:
    return "-" if percent is None else f"{percent:+.1f} %"


def result(runs: Runs, logs: Sequence[Log], who: str) -> list[list[str]]:
    """A table of the paper: conservative backfilling and both cases, the paper's and ours."""
    lines = []
    for log in logs:
        plain, *both = cases(runs, log)
        for name, word in WORDS.items():
            said = getattr(log.reported, name if who == "all" else f"{who}_{name}") if log.reported else None
            line = {
                "log": log.title,
                "number": word,
                "CBF, paper": f"{said[0]:.2f}" if said else "-",
                "CBF, ours": mean_estimate(plain, who, name).text(digits=2),
            }
            for case, place, numbers in zip("ab", (1, 2), both, strict=True):
                line[f"({case}), paper"] = f"{said[place]:+.1f} %" if said else "-"
                line[f"({case}), ours"] = change_estimate(numbers, plain, who, name).text(" %", sign=True)
            lines.append(line)
    return rows_of(lines)


def flexible(runs: Runs, logs: Sequence[Log]) -> list[list[str]]:
    """What the paper's tables imply for the flexible tasks, and what we get."""
    lines = []
    for log in logs:
        plain, *both = cases(runs, log)
        for name, word in WORDS.items():
            line = {"log": log.title, "number": word}
            line["CBF"] = mean_estimate(plain, "flexible", name).text(digits=2)
            for case, said, numbers in zip("ab", implied_changes(log, name), both, strict=True):
                line[f"({case}), implied by the paper"] = signed(said)
                changed = change_estimate(numbers, plain, "flexible", name)
                line[f"({case}), ours"] = changed.text(" %", sign=True)
            lines.append(line)
    return rows_of(lines)


BASELINES = (
    "easy", "easy(order=saf)", "easy(urgent=first)", "conservative(urgent=first)", "dbf",
    "easy(order=saf, urgent=first)",
)  # fmt: skip
"""``urgent=first``: two classes, tasks without a deadline before those with one."""


def baselines(runs: Runs, logs: Sequence[Log]) -> list[list[str]]:
    """What else a site could do for its priority tasks, against conservative backfilling; case a."""
    lines = []
    for log in logs:
        for times in ("exact", "requested"):
            if times == "requested" and not log.has_requests:
                continue
            plain = runs.get(log, Run("conservative", times=times))
            for policy in BASELINES:
                found = runs.get(log, Run(policy, times=times))
                lines.append(
                    {
                        "log": log.title, "times": times, "policy": f"`{policy}`",
                        **{
                            f"{name} of {who} tasks": change_estimate(found, plain, who, name).text(
                                " %", sign=True
                            )
                            for name, who in (
                                ("wait", "priority"), ("wait", "flexible"), ("wait", "all"),
                                ("slowdown", "priority"), ("slowdown", "all"),
                            )
                        },
                        "flexible tasks late": f"{found['deadlines'] - found['deadlines_met']:,} of "
                        f"{found['deadlines']:,}",
                        "accepted deadlines missed": f"{missed(found):,}" if "safety_net" in found else "-",
                    }
                )  # fmt: skip
    return rows_of(lines)


def implied_changes(log: Log, name: str) -> tuple[float | None, float | None]:
    """The change for the flexible third, from all = 2/3 priority + 1/3 flexible."""
    if log.reported is None:
        return None, None
    all_of, priority = getattr(log.reported, name), getattr(log.reported, f"priority_{name}")
    plain = 3 * all_of[0] - 2 * priority[0]
    a, b = (
        3 * all_of[0] * (1 + all_of[case] / 100) - 2 * priority[0] * (1 + priority[case] / 100)
        for case in (1, 2)
    )
    return change(a, plain), change(b, plain)


def readings(runs: Runs, logs: Sequence[Log]) -> list[list[str]]:
    """Conservative backfilling's own numbers and the changes under every reading."""
    lines = []
    wait, slow, by_run = (f"priority_mean_{name}" for name in ("wait", "walltime_slowdown", "slowdown"))
    for log in logs:
        if log.reported:
            waits, slowdowns = log.reported.priority_wait, log.reported.priority_slowdown
            lines.append(
                {
                    "log": log.title,
                    "open question": "the paper",
                    "reading": "",
                    "CBF wait (h)": f"{waits[0]:.2f}",
                    "CBF slowdown": f"{slowdowns[0]:.2f}",
                    "CBF slowdown by run time": "-",
                    "wait (a)": signed(waits[1]),
                    "slowdown (a)": signed(slowdowns[1]),
                    "wait (b)": signed(waits[2]),
                    "slowdown (b)": signed(slowdowns[2]),
                    "deadlines missed (a, b)": "0, 0",
                    "safety net (a, b)": "-",
                }
            )
        for reading in readings_of(log):
            plain, a, b = cases(runs, log, reading)
            lines.append(
                {
                    "log": log.title,
                    "open question": reading.question,
                    "reading": reading.answer,
                    "CBF wait (h)": f"{plain[wait]:.2f}",
                    "CBF slowdown": f"{plain[slow]:.2f}",
                    "CBF slowdown by run time": f"{plain[by_run]:.2f}",
                    "wait (a)": signed(change(a[wait], plain[wait])),
                    "slowdown (a)": signed(change(a[slow], plain[slow])),
                    "wait (b)": signed(change(b[wait], plain[wait])),
                    "slowdown (b)": signed(change(b[slow], plain[slow])),
                    "deadlines missed (a, b)": f"{missed(a)}, {missed(b)}",
                    "safety net (a, b)": f"{a['safety_net']}, {b['safety_net']}",
                }
            )
    return rows_of(lines)


def missed(numbers: Numbers) -> int:
    """Deadlines that were accepted and not kept; tasks late on arrival were not accepted."""
    kept = numbers["promises_kept"]
    return round((1 - kept) * numbers["jobs"]) if kept is not None else 0


def who_pays(runs: Runs, logs: Sequence[Log], hours: Sequence[float]) -> list[list[str]]:
    """Hours that the flexible third waits longer and the others shorter, by the length of the deadline."""
    lines = []
    for log in logs:
        found = [(h, *_gain(runs, log, h)) for h in hours]
        best = max(gain for _, _, gain, _ in found)
        for h, numbers, gain, loss in found:
            lines.append(
                {
                    "log": log.title,
                    "deadline (h)": f"{h:g}",
                    "priority wait (h)": f"{numbers['priority_mean_wait']:.2f}",
                    "gain (h)": f"{gain:.2f}",
                    "flexible wait (h)": f"{numbers['flexible_mean_wait']:.2f}",
                    "loss (h)": f"{loss:.2f}",
                    "gain per loss": f"{2 * gain / loss:.2f}" if loss > 0 else "-",
                    "95 % of flexible wait less than (h)": f"{numbers['flexible_p95_wait']:.1f}",
                    "all (h)": f"{numbers['wait']:.2f}",
                    "late on arrival": str(numbers["late_on_arrival"]),
                    "promoted": str(numbers["promotions"]),
                    "of the largest gain": f"{100 * gain / best:.0f} %" if best > 0 else "-",
                }
            )
    return rows_of(lines)


def calendar(runs: Runs, logs: Sequence[Log]) -> list[list[str]]:
    """Deadlines as the paper's users have them: tomorrow morning, the next working day, Monday, at 8:00."""
    rows = [
        ["log", "every third task is due", "priority wait", "flexible wait", "wait of all",
         "priority slowdown", "flexible tasks on time", "late on arrival", "deadlines missed"]
    ]  # fmt: skip
    for log in logs:
        if log.workload.header.unix_start is None:
            continue
        for until in ("horizon", *CALENDAR):
            plain, found = (runs.get(log, Run(policy, until=until)) for policy in ("conservative", "dbf"))
            names = ("priority_mean_wait", "flexible_mean_wait", "wait", "priority_mean_walltime_slowdown")
            rows.append(
                [log.title, CALENDAR.get(until, "after 24 h or twice its time"),
                 *(signed(change(found[name], plain[name])) for name in names),
                 f"{100 * found['deadlines_met'] / max(found['deadlines'], 1):.1f} %",
                 f"{found['late_on_arrival']:,}", f"{missed(found):,}"]
            )  # fmt: skip
    return rows


def _gain(runs: Runs, log: Log, hours: float) -> tuple[Numbers, float, float]:
    plain, numbers = runs.get(log, Run("conservative")), runs.get(log, Run(hours=hours))
    gain = plain["priority_mean_wait"] - numbers["priority_mean_wait"]
    return numbers, gain, numbers["flexible_mean_wait"] - plain["flexible_mean_wait"]


def saturation(runs: Runs, log: Log, hours: Sequence[float]) -> float | None:
    """The shortest deadline (hours) that brings nine tenths of the largest gain; None where nothing gains."""
    gains = [_gain(runs, log, h)[1] for h in hours]
    if max(gains) <= 0:
        return None
    return next(h for h, gain in zip(hours, gains, strict=True) if gain >= 0.9 * max(gains))


def share_rows(runs: Runs, log: Log, shares: Sequence[float]) -> Iterator[tuple[float, Numbers, Numbers]]:
    """Share, conservative backfilling, DBF."""
    for share in shares:
        chosen = f"share {share:g}"
        yield share, runs.get(log, Run("conservative", chosen=chosen)), runs.get(log, Run(chosen=chosen))
