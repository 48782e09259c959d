"""The slides' tables beside ours, and what they do not show."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from headway.papers.kept import Numbers
from headway.papers.log import Log
from headway.papers.page import rows_of
from headway.papers.urgent.logs import DEADLINE, TSUNAMI, share_with_memory
from headway.papers.urgent.runs import LOG, TABLE, Run, Runs, dedicated
from headway.workload.transform.swap_model import fits, suspects

Table = list[list[str]]

POLICIES = (
    ("FCFS", "fcfs"),
    ("EASY", "easy"),
    ("Backfill", "conservative(compress=scratch)"),
    ("UJF", "ujf"),
    ("UJFB", "ujfb"),
)
"""The slides' five schedulers; Backfill is conservative backfilling that plans anew."""
BESIDES = (
    ("EASY, urgent first", "easy(urgent=first)"),
    ("Backfill, urgent first", "conservative(compress=scratch, urgent=first)"),
    ("EASY by areas, urgent first", "easy(order=saf, urgent=first)"),
)
REPORTED = {"FCFS": 90996.73, "UJF": 641.61, "Backfill": 32853.86, "EASY": 34688.48, "UJFB": 1.05}
"""Table 2: urgent lateness on SX-ACE, a log that is not public."""
REPORTED_PREEMPTIONS = 28
SCALES = (1, 10, 100, 1000)
"""Swap times as multiples of the model's."""
MODES = (
    ("suspend", "ujfb"),
    ("kill", "ujfb(preempt=kill)"),
    ("by degree", "ujfb(preempt=degree)"),
)
APART = Run("easy", part="regular")
"""Regular jobs beside dedicated nodes: EASY, for what is left of a machine may be far too small for them."""
READINGS = (
    "ujfb",
    "ujfb(victims=smallest)",
    "ujfb(victims=largest)",
    "ujfb(idle=lent)",
    "ujfb(leftover=swapped)",
    "ujfb(borrow=first)",
    "ujfb(swap_in=0)",
    "ujfb(overtake=no)",
    "ujfb(reserve=beside)",
    "ujfb(reserve=none)",
    "ujfb(overrun=finish)",
    "ujfb(preempt=kill)",
    "ujfb(preempt=kill, requeue=end)",
)
"""What the slides leave open, one at a time."""
RATES = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Urgent jobs an hour."""
LIMIT = 1.1
"""Urgent lateness up to which urgent jobs count as served."""
FAR = 5.0
"""Urgent lateness beyond which no higher rate is tried."""


def scaled(scale: int) -> Run:
    """UJFB with swaps that take so many times as long."""
    return Run(f"ujfb(bandwidth={6000 / scale:g})" if scale != 1 else "ujfb")


def number(value: float | None, digits: int = 2) -> str:
    """A number with thousands set apart; a dash for nothing."""
    return "-" if value is None else f"{value:,.{digits}f}"


def change(ratio: float) -> str:
    """A ratio of mean responses as a change in percent, or as a multiple where it is many times as long.

    >>> change(1.0123), change(640.2)
    ('+1.23 %', '640 times as long')
    """
    return f"{100 * (ratio - 1):+.2f} %" if ratio < 5 else f"{ratio:.0f} times as long"


LATENESS, MISSED, SUSPENDED = "U_L", "deadlines missed", "jobs suspended"
RESPONSE, SLOWDOWN = "mean response of regular jobs (h)", "mean slowdown of regular jobs"
CELLS: dict[str, Callable[[Numbers], str]] = {
    LATENESS: lambda found: number(found["urgent_lateness"], 4),
    MISSED: lambda found: f"{found['urgent_deadlines_missed']} of {found['urgent_jobs']}",
    SUSPENDED: lambda found: str(found["suspensions"]),
    RESPONSE: lambda found: number(found["regular_mean_response"] / 3600, 3),
    SLOWDOWN: lambda found: number(found["regular_mean_slowdown"]),
}
"""Columns that several tables have."""


def cells(found: Numbers, *columns: str) -> dict[str, str]:
    """Some of these columns for a run."""
    return {column: CELLS[column](found) for column in columns}


def lateness(runs: Runs, logs: Sequence[Log]) -> Table:
    """Table 2."""
    rows = [["algorithm", "SX-ACE (slides)"]]
    for log in logs:
        rows[0] += [f"{log.title}: U_L", "jobs suspended", "urgent jobs that preempted"]
    for title, policy in (*POLICIES, *BESIDES):
        said = REPORTED.get(title)
        row = [title, number(said)]
        for log in logs:
            found = runs.get(log, Run(policy))
            stops = str(found["suspensions"]) if "suspensions" in found else "0"
            row += [number(found["urgent_lateness"], 4 if policy == "ujfb" else 2), stops]
            row.append(str(found.get("preempting_jobs", 0)))
        rows.append(row)
    return rows


def regular(runs: Runs, logs: Sequence[Log]) -> Table:
    """Figures 10 to 12: what regular jobs get."""
    lines = []
    for log in logs:
        for title, policy in (*POLICIES, *BESIDES):
            found = runs.get(log, Run(policy))
            lines.append({
                "log": log.title, "algorithm": title, **cells(found, RESPONSE, SLOWDOWN),
                "mean response of urgent jobs (min)": number(found["urgent_mean_response"] / 60),
                **cells(found, MISSED), "utilization": number(found["utilization"], 3),
            })  # fmt: skip
    return rows_of(lines)


def margins(runs: Runs, logs: Sequence[Log]) -> Table:
    """Table 1, and the least margin to the deadline under UJFB for each kind of tsunami job."""
    rows = [["processors", "length (min)", "maximum slowdown (slides)", "10 min / length"]]
    for log in logs:
        rows[0] += [f"{log.title}: largest slowdown", "least margin (s), suspend", "by degree"]
    for (procs, seconds), said in zip(TSUNAMI, ("1", "1.54", "2.5"), strict=True):
        row = [str(procs), f"{seconds / 60:g}", said, f"{DEADLINE / seconds:.3g}"]
        for log in logs:
            both = [largest(runs.get(log, Run(policy)), procs) for policy in ("ujfb", "ujfb(preempt=degree)")]
            row.append("-" if both[0] is None else f"{both[0]:.5f}")
            row += ["-" if ratio is None else f"{DEADLINE - seconds * ratio:.3f}" for ratio in both]
        rows.append(row)
    return rows


def largest(found: Numbers, procs: int) -> float | None:
    """The largest slowdown of the urgent jobs of a size."""
    return max((point[2] for point in found["urgent_points"] if point[1] == procs), default=None)


def swaps(runs: Runs, logs: Sequence[Log]) -> Table:
    """Figure 13: longer swaps."""
    lines = []
    for log in logs:
        plain = runs.get(log, scaled(1))["regular_mean_response"]
        for scale in SCALES:
            found = runs.get(log, scaled(scale))
            lines.append({
                "log": log.title, "swap times x": f"{scale:,}", **cells(found, LATENESS),
                "largest preemption delay (s)": number(found["max_preemption_delay"], 3),
                **cells(found, MISSED, RESPONSE), "change": change(found["regular_mean_response"] / plain),
                **cells(found, SLOWDOWN),
            })  # fmt: skip
    return rows_of(lines)


def sizes(runs: Runs, logs: Sequence[Log]) -> Table:
    """UJFB with sizes drawn from Table 3, and with those of the log."""
    lines: list[dict[str, str]] = []
    for log in logs:
        share = share_with_memory(log.workload)
        for source in (TABLE, LOG):
            if source == LOG and share == 0:
                lines.append(
                    dict.fromkeys(lines[0], "-") | {"log": log.title, "memory sizes": "the log has none"}
                )
                continue
            found = runs.get(log, Run("ujfb", sizes=source))
            told = f"of the log ({100 * share:.0f} % of its jobs)" if source == LOG else "drawn from Table 3"
            lines.append({
                "log": log.title, "memory sizes": told,
                "median size (MB)": number(found["median_memory_mb"], 1), **cells(found, LATENESS),
                "mean preemption delay (s)": number(found["mean_preemption_delay"], 3),
                "largest (s)": number(found["max_preemption_delay"], 3),
                **cells(found, MISSED, RESPONSE, SLOWDOWN),
            })  # fmt: skip
    return rows_of(lines)


def readings(runs: Runs, logs: Sequence[Log]) -> Table:
    """What each other reading of the slides changes."""
    lines = []
    for log in logs:
        plain = runs.get(log, Run(READINGS[0]))["regular_mean_response"]
        for policy in READINGS:
            found = runs.get(log, Run(policy))
            lines.append({
                "log": log.title, "reading": f"`{policy}`", **cells(found, LATENESS, MISSED, SUSPENDED),
                "killed": str(found["kills_for_urgent"]),
                "urgent that preempted": str(found["preempting_jobs"]), **cells(found, RESPONSE),
                "against the first": change(found["regular_mean_response"] / plain),
                **cells(found, SLOWDOWN),
            })  # fmt: skip
    return rows_of(lines)


def model() -> Table:
    """Table 3 as lines of time against size."""
    rows = [["points", "how many", "intercept (s)", "bandwidth (MB/s)", "R²"]]
    for fit in fits():
        rows.append(
            [fit.name, str(fit.points), f"{fit.intercept:.4f}", f"{fit.bandwidth:.0f}", f"{fit.r2:.4f}"]
        )
    return rows


def suspicious() -> Table:
    """Points of Table 3 that do not fit their class."""
    rows = [["class", "application", "size (MB)", "time as printed (s)", "time by its class (s)"]]
    for (label, name, size, time), expected in suspects():
        rows.append([label, name, f"{size:g}", f"{time:g}", f"{expected:.3f}"])
    return rows


def modes(runs: Runs, logs: Sequence[Log]) -> Table:
    """The same urgent jobs served by suspending, by killing, by degree, and by nodes of their own."""
    lines = []
    for log in logs:
        none = runs.get(log, Run("conservative(compress=scratch)", count=0))
        base = none["regular_mean_response"]
        lines.append(_mode(log, "(no urgent jobs)", none, none, base))
        for title, policy in MODES:
            found = runs.get(log, Run(policy))
            lines.append(_mode(log, title, found, found, base))
        rush, plain = runs.get(log, Run("ujf", part="urgent")), runs.get(log, APART)
        easy = runs.get(log, Run("easy", count=0))["regular_mean_response"]
        lines.append(_mode(log, f"{dedicated(log)} dedicated processors (EASY)", rush, plain, easy))
    return rows_of(lines)


def _mode(log: Log, title: str, rush: Numbers, plain: Numbers, base: float) -> dict[str, str]:
    """What urgent and regular jobs got; ``base`` is the mean response of regular ones without urgent jobs."""
    stopped = plain.get("suspensions", 0) + plain.get("kills_for_urgent", 0)
    served = cells(rush, LATENESS, MISSED) if "urgent_jobs" in rush else {LATENESS: "-", MISSED: "-"}
    return {
        "log": log.title, "urgent jobs are served by": title, **served, "jobs stopped": str(stopped),
        **cells(plain, RESPONSE), "against no urgent jobs": change(plain["regular_mean_response"] / base),
        **cells(plain, SLOWDOWN), "work lost (processor-hours)": number(plain["wasted_area"] / 3600, 1),
        "regular jobs too wide": str(plain["dropped"]),
    }  # fmt: skip


def rates(runs: Runs, logs: Sequence[Log], jobs: int) -> Table:
    """How many urgent jobs an hour."""
    return rows_of([
        {
            "log": log.title, "urgent jobs an hour": f"{rate:g}", "urgent jobs": str(found["urgent_jobs"]),
            **cells(found, LATENESS), "urgent jobs that waited": str(found["urgent_waited"]),
            MISSED: str(found["urgent_deadlines_missed"]), **cells(found, SUSPENDED, RESPONSE, SLOWDOWN),
        }
        for log in logs
        for rate, found in by_rate(runs, log, jobs)
    ])  # fmt: skip


def by_rate(runs: Runs, log: Log, jobs: int) -> list[tuple[float, Numbers]]:
    """Rates and what comes of them under UJFB, among the first ``jobs`` of the log.

    They go up to the first that is far too much.
    """
    found: list[tuple[float, Numbers]] = []
    for rate in RATES:
        found.append((rate, runs.get(log, Run("ujfb", count=0, per_hour=rate, jobs=jobs))))
        if found[-1][1]["urgent_lateness"] > FAR:
            break
    return found


def borne(runs: Runs, log: Log, jobs: int) -> float:
    """The highest of the rates up to which the lateness never leaves the limit; 0 if none."""
    best = 0.0
    for rate, found in by_rate(runs, log, jobs):
        if found["urgent_lateness"] > LIMIT:
            break
        best = rate
    return best
