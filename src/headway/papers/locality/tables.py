"""The tables: ten rules, the slides' scores, memory sizes, and what lies beyond the paper."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headway.papers.kept import Numbers
from headway.papers.locality.runs import Runs, mean, reused
from headway.papers.locality.weeks import Group, Week
from headway.papers.page import rows_of

RULES = ("fcfs", "eft", "lea", "leo", "lem")
TEN = (*RULES, *(f"{rule}(backfill=conservative)" for rule in RULES))
SCORE = "score(load=10, evict=7000, copies=0)"
"""The weights of the slides' plots."""
SLIDES = ("fcfs", SCORE, "score(load=500, evict=500, copies=0)", "score(load=500, evict=500, copies=1)")
REFERENCE = "fcfs(match=exact)"
SIZES = (
    REFERENCE,
    "fcfs",
    "backfill-big",
    "area-filling",
    "area-filling(areas=all)",
    "easy(match=exact)",
    "easy",
    "lea",
    "lem",
    "score(load=10, evict=7000, copies=0, match=now)",
    "lea(match=now)",
    "lem(match=now)",
)
BOTH = ("score(load=10, evict=7000, copies=0, match=now)", "lea(match=now)", "lem(match=now)")
"""Rules that know files and sizes: they score nodes, and take a larger one where a job starts at once."""
BEYOND = ("fcfs", "eft", "lea", "lem")
FAST = 1.0
"""GB/s to each node, ten times the paper's."""
WEIGHTS = tuple((x, y) for x in (1, 10, 500) for y in (0, 500, 7000))


def kept(rule: str) -> str:
    """The rule where files stay until the memory is full."""
    return f"{rule}(presence=lru)"


def short(policy: str) -> str:
    """The rule as the paper writes it."""
    name = policy.partition("(")[0]
    if policy in TEN:
        return name.upper() + ("-BF" if "conservative" in policy else "")
    return policy


def span_text(values: Sequence[float]) -> str:
    """The least and the largest, or a dash for a single one."""
    return f"{min(values):.2f} to {max(values):.2f}" if len(values) > 1 else "-"


def ratios(found: Sequence[Numbers], base: Sequence[Numbers], number: str) -> list[float]:
    """Week by week, a number over that of another policy."""
    return [one[number] / other[number] for one, other in zip(found, base, strict=True)]


def stretch_columns(runs: Runs, group: Group, policy: str) -> dict[str, str]:
    """The mean stretch in the weeks of a kind, its range, and the ratio to that of FCFS."""
    found, plain = runs.over(group, policy), runs.over(group, "fcfs")
    return {
        "mean stretch": f"{mean(found, 'stretch'):.2f}",
        "range": span_text([one["stretch"] for one in found]),
        "over FCFS": f"{np.mean(ratios(found, plain, 'stretch')):.2f}",
    }


def file_columns(found: Sequence[Numbers]) -> dict[str, str]:
    """How long processors waited for files, and how much was re-used."""
    wait, share = mean(found, "file_wait") / 1e6, 100 * reused(found)
    return {"file wait (10⁶ s)": f"{wait:.2f}", "re-used": f"{share:.1f} %"}


def ten_rules(runs: Runs, group: Group) -> list[list[str]]:
    """Every rule in the weeks of a kind, in the order of the authors' table."""
    lines = []
    for policy in TEN:
        found = runs.over(group, policy)
        lines.append(
            {
                "rule": short(policy),
                **stretch_columns(runs, group, policy),
                "bounded stretch": f"{mean(found, 'bounded_stretch'):.2f}",
                "mean wait (h)": f"{mean(found, 'wait') / 3600:.2f}",
                "total flow (10⁶ s)": f"{mean(found, 'total_flow') / 1e6:.1f}",
                **file_columns(found),
                "killed": f"{mean(found, 'killed'):.0f}",
                "sessions better": f"{100 * mean(found, 'better'):.0f} %",
                "median": f"{mean(found, 'median_improvement'):.3f}",
                "largest queue": f"{max(one['max_queue'] for one in found)}",
            }
        )
    return rows_of(lines)


def other_widths(runs: Runs, group: Group) -> list[list[str]]:
    """The five rules where most jobs are of one core."""
    return rows_of(
        [
            {"rule": short(rule)} | stretch_columns(runs, group, rule) | file_columns(runs.over(group, rule))
            for rule in RULES
        ]
    )


def slides(runs: Runs, groups: Sequence[Group]) -> list[list[str]]:
    """The slides' scores against FCFS: stretch and queue times."""
    lines = []
    for group in groups:
        plain = runs.over(group, "fcfs")
        for policy in SLIDES:
            found = runs.over(group, policy)
            lines.append(
                {
                    "weeks": group.title,
                    "policy": policy,
                    **stretch_columns(runs, group, policy),
                    "mean wait (h)": f"{mean(found, 'wait') / 3600:.2f}",
                    "over FCFS's": f"{mean(found, 'wait') / max(mean(plain, 'wait'), 1e-9):.2f}",
                    **file_columns(found),
                }
            )
    return rows_of(lines)


def sizes(runs: Runs, groups: Sequence[Group]) -> list[list[str]]:
    """Policies for memory sizes: total flow against jobs that stay on their own size."""
    lines = []
    for group in groups:
        reference = runs.over(group, REFERENCE)
        for policy in SIZES:
            found = runs.over(group, policy)
            changes = [100 * (ratio - 1) for ratio in ratios(found, reference, "total_flow")]
            lines.append(
                {
                    "weeks": group.title,
                    "policy": policy,
                    "total flow (10⁶ s)": f"{mean(found, 'total_flow') / 1e6:.1f}",
                    "against match=exact": f"{np.mean(changes):+.1f} %",
                    "from": f"{min(changes):+.1f} %",
                    "to": f"{max(changes):+.1f} %",
                    "mean stretch": f"{mean(found, 'stretch'):.2f}",
                    "mean wait (h)": f"{mean(found, 'wait') / 3600:.2f}",
                }
            )
    return rows_of(lines)


def weight_policy(x: int, y: int) -> str:
    """The score with these weights."""
    return f"score(load={x}, evict={y}, copies=0)"


def search(runs: Runs, halves: tuple[Sequence[Week], Sequence[Week]]) -> tuple[list[int], list[list[str]]]:
    """Mean stretch over FCFS's for each pair of weights, on the weeks to choose in and on the others.

    Returns X, Y of the pair that is best on the first half and its rank on the second, and the table.
    """
    means = {
        pair: [float(np.mean([_ratio(runs, week, weight_policy(*pair)) for week in half])) for half in halves]
        for pair in WEIGHTS
    }
    order = sorted(means, key=lambda pair: means[pair][0])
    head = ["X (load)", "Y (evict)", f"{len(halves[0])} weeks to choose", f"the {len(halves[1])} others"]
    rows = [[str(x), str(y), *(f"{value:.3f}" for value in means[x, y])] for x, y in order]
    rank = 1 + sum(means[pair][1] < means[order[0]][1] for pair in means)
    return [*order[0], rank], [head, *rows]


def _ratio(runs: Runs, week: Week, policy: str) -> float:
    return float(runs.get(week, policy)["stretch"] / runs.get(week, "fcfs")["stretch"])


def beyond(runs: Runs, groups: Sequence[Group]) -> list[list[str]]:
    """A file system ten times as fast, and files that stay until the memory is full."""
    head = ["weeks", "rule", "as in the paper", "lru", "1 GB/s", "re-used", "lru, re-used"]
    rows = [[*head, "file wait (10⁶ s)", "lru, file wait (10⁶ s)", "1 GB/s, file wait (10⁶ s)"]]
    for group in groups:
        for rule in BEYOND:
            paper, lru = runs.over(group, rule), runs.over(group, kept(rule))
            fast = runs.over(group, rule, FAST)
            rows.append(
                [
                    group.title,
                    short(rule),
                    *(f"{mean(found, 'stretch'):.2f}" for found in (paper, lru, fast)),
                    *(f"{100 * reused(found):.1f} %" for found in (paper, lru)),
                    *(f"{mean(found, 'file_wait') / 1e6:.2f}" for found in (paper, lru, fast)),
                ]
            )
    return rows
