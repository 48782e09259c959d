"""The verdict in words: what a reader should know before looking at any table."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import PurePath
from typing import Any

from headway.metrics import Comparison
from headway.metrics.comparison import Row
from headway.metrics.differences import Difference
from headway.plain import counted, listed
from headway.report.words import change, number, percent, span, strong
from headway.schedule import WHY, Schedule

SMALL = 0.05
"""Relative differences below this may be an accident of one log."""

JUDGED = {
    "mean_wait": "mean wait",
    "p95_wait": "95th percentile of the waits",
    "mean_bsld": "mean bounded slowdown",
}
"""What policies are judged by, in this order."""


def log_name(schedule: Schedule) -> str:
    """The log as people call it: its file's name without endings; that of a site by its folder."""
    path = PurePath(schedule.workload.source.name if schedule.workload.source else "")
    name = path.name
    for ending in (".gz", ".swf", ".csv", ".txt", ".json"):
        name = name.removesuffix(ending)
    if name == "jobs" and path.parent.name:
        name = path.parent.name
    return name if name not in ("", "-", "log") else "the log"


def verdict(comparison: Comparison) -> tuple[list[str], str]:
    """Paragraphs of HTML, and what to be careful about."""
    if len(comparison.schedules) == 1 or not any(map(len, comparison.schedules)):
        return of_one(comparison.schedules[0], comparison.summaries[0]), ""
    rows = {row.metric: row for row in comparison.rows()}
    each = [
        _against_first(comparison, rows, place, difference)
        for place, difference in enumerate(comparison.differences, start=1)
    ]
    special = _special(comparison.names, comparison.summaries)
    return [_best(comparison, rows), *special, *each], _care(comparison, rows)


def of_one(schedule: Schedule, summary: dict[str, Any]) -> list[str]:
    """Paragraphs of HTML that describe one schedule."""
    if not len(schedule):
        return [f"{strong(schedule.policy)} had no job to schedule: {_dropped(schedule)}"]
    reasons = [(int((schedule.why == code).sum()), name) for code, name in enumerate(WHY)]
    shares = [
        f"{percent(count / len(schedule), 0)} {_REASONS.get(name, name.replace('_', ' '))}"
        for count, name in sorted(reasons, reverse=True)[:3]
        if count
    ]
    worst = int(schedule.wait.argmax())
    job = int(schedule.workload.columns["job"][worst])
    median = summary["median_wait"]
    waited = f"waited at most {strong(span(median))}" if median else "did not wait"
    first = (
        f"At least half of the {counted(len(schedule), 'job')} {waited}, the mean wait is "
        f"{strong(span(summary['mean_wait']))}, and one job in twenty waited longer than "
        f"{strong(span(summary['p95_wait']))}. {strong(percent(summary['utilization']))} of the machine was "
        f"in use over {span(summary['makespan'])}."
    )
    second = f"Of the jobs, {listed(shares)}. The longest wait, {span(summary['max_wait'])}, is job {job}'s"
    second += f" on {counted(int(schedule.procs[worst]), 'processor')}."
    third = f"The mean bounded slowdown is {number(summary['mean_bsld'])}, its median "
    third += f"{number(summary['median_bsld'])}; {_killed(int(summary['killed'] or 0))}"
    third += f" at the walltime. {_dropped(schedule)}"
    return [first, *_special([""], [summary]), escape(second), escape(third)]


def _special(names: Sequence[str], summaries: Sequence[dict[str, Any]]) -> list[str]:
    """What became of deadlines and of urgent jobs, where there are some."""
    found = []
    for count, title, told in (
        (
            "deadlines",
            "Deadlines met",
            lambda one: f"{number(one['deadlines_met'])} of {number(one['deadlines'])}",
        ),
        ("urgent_jobs", "Mean wait of urgent jobs", lambda one: span(one["urgent_mean_wait"])),
    ):
        if all(summary.get(count) for summary in summaries):
            each = zip(names, map(told, summaries), strict=True)
            found.append(
                f"{title}: {listed([f'{escape(name)} {strong(text)}'.strip() for name, text in each])}."
            )
    return found


_REASONS = {
    "immediate": "started at once",
    "head": "started from the head of the queue",
    "backfill": "were backfilled",
    "reservation": "started at their reservation",
    "redirected": "were redirected",
    "urgent": "started as urgent jobs",
}


def _dropped(schedule: Schedule) -> str:
    dropped = schedule.workload.ledger.dropped
    if not dropped:
        return ""
    were = "was" if dropped == 1 else "were"
    return f"{counted(dropped, 'job')} of the log {were} not scheduled; the ledger says why."


def _killed(jobs: int) -> str:
    return f"{counted(jobs, 'job') if jobs else 'no job'} {'were' if jobs > 1 else 'was'} killed"


def _care(comparison: Comparison, rows: dict[str, Row]) -> str:
    changes = [share for name in JUDGED if name in rows for share in rows[name].change if share]
    small = any(abs(share) < SMALL for share in changes)
    few = "Differences of a few percent, as some here are," if small else "Small differences"
    notes = [
        "One log is one sample, and a small change of the input can change a schedule much.",
        f"{few} may be accidents. A campaign over many weeks tells more.",
    ]
    capacities = {schedule.capacity for schedule in comparison.schedules}
    if len(capacities) > 1 and comparison.kind != "machines":
        notes.append("The runs did not have the same number of processors.")
    if comparison.unlike:
        told = [f"{words} of {counted(jobs, 'job')}" for words, jobs in comparison.unlike.items()]
        notes.append(f"The runs differ in the {listed(told)}, and other differences may come from that.")
    if not comparison.same_jobs:
        notes.append(
            "Metrics are of the jobs of each run; gains and losses are those of the jobs they share."
        )
    return escape(" ".join(notes))


def _best(comparison: Comparison, rows: dict[str, Row]) -> str:
    """Who has the lowest numbers; nobody where each run has jobs of its own, such as those of other weeks."""
    if not comparison.same_jobs:
        runs = zip(comparison.names, comparison.schedules, strict=True)
        counts = [f"{strong(name)} has {counted(len(schedule), 'job')}" for name, schedule in runs]
        return f"The runs did not schedule the same jobs: {listed(counts)}. None is called the better one."
    leaders: dict[str, list[str]] = {}
    for name, words in JUDGED.items():
        values = rows[name].values if name in rows else ()
        known = [value for value in values if value is not None]
        if known:
            best = [comparison.names[place] for place, value in enumerate(values) if value == min(known)]
            leaders.setdefault(" and ".join(best), []).append(words)
    jobs = number(max(len(schedule) for schedule in comparison.schedules))
    log = escape(log_name(comparison.schedules[0]))
    which = f"{jobs} generated jobs" if log == "generated" else f"the {jobs} jobs of {log}"
    few = len(comparison.names) == 2
    opening = "On " if few else f"Among {_count(len(comparison.names))} {comparison.kind} on "
    opening += which
    one = "has the lower" if few else "has the lowest"
    found = [
        f"{strong(name)} {'have the lowest' if ' and ' in name else one} {escape(listed(words))}"
        for name, words in leaders.items()
    ]
    return f"{opening}, {', while '.join(found)}." if found else f"{opening}, none has a job to judge by."


def _against_first(comparison: Comparison, rows: dict[str, Row], place: int, each: Difference) -> str:
    parts = []
    for name, words in JUDGED.items():
        row = rows.get(name)
        if row is not None and name != "p95_wait" and row.values[place] is not None:
            parts.append(_moved(row, words, place))
    use = rows["utilization"].values
    if use[0] is not None and use[place] is not None:
        before, after = percent(use[0]), percent(use[place])
        moved = f"stays at {after}" if before == after else f"goes from {before} to {after}"
        parts.append(f"utilization {moved}")
    total = max(each.earlier + each.later + each.same, 1)
    early, late = percent(each.earlier / total, 0), percent(each.later / total, 0)
    starts = f"{early} of the jobs start earlier, {late} later."
    if not each.earlier and not each.later:
        starts = "Every job starts when it did."
    name, first = strong(comparison.names[place]), escape(comparison.names[0])
    text = f"{name} instead of {first}: {listed(parts)}. {starts}"
    sizes = [(verb, found[0].name) for verb, found in (
        ("gain", each.winners("size", 1)), ("lose", each.losers("size", 1))) if found]  # fmt: skip
    if sizes:
        told = [f"jobs of {name} processor{'s' * (name != '1')} {verb} most" for verb, name in sizes]
        text += f" In all, {escape(listed(told))}."
    return text


def _moved(row: Row, words: str, place: int) -> str:
    show = span if row.unit == "s" else number
    before, after, share = row.values[0], row.values[place], row.change[place]
    if before == after:
        return f"the {words} stays at {show(after)}"
    verb = "falls" if (after or 0) < (before or 0) else "rises"
    much = f' <span class="{row.verdict[place]}">({change(share)})</span>' if share is not None else ""
    return f"the {words} {verb} from {show(before)} to {strong(show(after))}{much}"


def _count(items: int) -> str:
    return {3: "three", 4: "four", 5: "five", 6: "six"}.get(items, str(items))
