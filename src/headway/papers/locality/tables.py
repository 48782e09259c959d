"""The tables: ten rules, the slides' scores, memory sizes, and what lies beyond the paper."""

from __future__ import annotations

from collections.abc import Sequence

from headway.papers.locality.runs import Numbers, Runs
from headway.papers.locality.weeks import Week

RULES = ("fcfs", "eft", "lea", "leo", "lem")
TEN = (*RULES, *(f"{rule}(backfill=conservative)" for rule in RULES))
SLIDES = (
    "fcfs",
    "score(load=10, evict=7000)",
    "score(load=500, evict=500)",
    "score(load=500, evict=500, copies=1)",
)
REFERENCE = "fcfs(match=exact)"
SIZES = (
    REFERENCE,
    "fcfs",
    "backfill-big",
    "backfill-big(allowance=mean)",
    "area-filling",
    "area-filling(tmax=mean)",
    "area-filling(form=ratio)",
    "area-filling(areas=1, form=ratio)",
    "easy(match=exact)",
    "easy",
    "conservative",
    "lea(match=exact)",
    "lea",
    "lem",
)
WEIGHTS = tuple((x, y) for x in (1, 10, 100, 500) for y in (0, 1, 500))


def short(policy: str) -> str:
    """The rule as the paper writes it."""
    name = policy.partition("(")[0]
    if policy in TEN:
        return name.upper() + ("-BF" if "conservative" in policy else "")
    return policy


def ten_rules(runs: Runs, week: Week) -> list[list[str]]:
    """Every rule in one week, in the order of the authors' table."""
    head = [
        "rule", "mean stretch", "bounded stretch", "mean wait (h)", "total flow (10⁶ s)", "file wait (10⁶ s)",
        "re-used", "killed", "sessions better", "median", "largest queue",
    ]  # fmt: skip
    return [head, *(_rule(policy, runs.get(week, policy)) for policy in TEN)]


def _rule(policy: str, found: Numbers) -> list[str]:
    return [
        short(policy),
        f"{found['stretch']:.2f}",
        f"{found['bounded_stretch']:.2f}",
        f"{found['wait'] / 3600:.2f}",
        f"{found['total_flow'] / 1e6:.1f}",
        f"{found['file_wait'] / 1e6:.2f}",
        f"{100 * found['reuses'] / max(found['files'], 1):.1f} %",
        f"{found['killed']}",
        f"{100 * found['better']:.0f} %",
        f"{found['median_improvement']:.3f}",
        f"{found['max_queue']}",
    ]


def slides(runs: Runs, weeks: Sequence[Week]) -> list[list[str]]:
    """The slides' scores against FCFS: stretch and queue times."""
    rows = [["week", "policy", "mean stretch", "mean wait (h)", "file wait (10⁶ s)", "re-used"]]
    for week in weeks:
        for policy in SLIDES:
            found = runs.get(week, policy)
            rows.append(
                [
                    week.title,
                    policy,
                    f"{found['stretch']:.2f}",
                    f"{found['wait'] / 3600:.2f}",
                    f"{found['file_wait'] / 1e6:.2f}",
                    f"{100 * found['reuses'] / max(found['files'], 1):.1f} %",
                ]
            )
    return rows


def sizes(runs: Runs, weeks: Sequence[Week]) -> list[list[str]]:
    """Policies for memory sizes: total flow against jobs that stay on their own size."""
    rows = [["week", "policy", "total flow (10⁶ s)", "against match=exact", "mean stretch", "mean wait (h)"]]
    for week in weeks:
        reference = runs.get(week, REFERENCE)["total_flow"]
        for policy in SIZES:
            found = runs.get(week, policy)
            change = 100 * (found["total_flow"] / reference - 1)
            rows.append(
                [
                    week.title,
                    policy,
                    f"{found['total_flow'] / 1e6:.1f}",
                    f"{change:+.1f} %",
                    f"{found['stretch']:.2f}",
                    f"{found['wait'] / 3600:.2f}",
                ]
            )
    return rows


def search(runs: Runs, weeks: Sequence[Week]) -> tuple[tuple[int, int], list[list[str]]]:
    """Mean stretch over FCFS's for each pair of weights, on the first half of the weeks and on the second."""
    half = len(weeks) // 2
    found = {
        (x, y): [
            [_ratio(runs, week, weight_policy(x, y)) for week in part]
            for part in (weeks[:half], weeks[half:])
        ]
        for x, y in WEIGHTS
    }
    means = {pair: [sum(part) / len(part) for part in both] for pair, both in found.items()}
    order = sorted(means, key=lambda pair: means[pair][0])
    head = ["X (load)", "Y (evict)", f"first {half}", f"other {len(weeks) - half}"]
    rows = [[str(x), str(y), *(f"{mean:.3f}" for mean in means[x, y])] for x, y in order]
    return order[0], [head, *rows]


def weight_policy(x: int, y: int) -> str:
    """The score with these weights."""
    return f"score(load={x}, evict={y})"


def _ratio(runs: Runs, week: Week, policy: str) -> float:
    return float(runs.get(week, policy)["stretch"] / runs.get(week, "fcfs")["stretch"])


def beyond(runs: Runs, weeks: Sequence[Week]) -> list[list[str]]:
    """A file system ten times as fast, and files that stay until the memory is full."""
    rows = [["week", "rule", "as in the paper", "lru", "1 GB/s", "1 GB/s, file wait (10⁶ s)"]]
    for week in weeks:
        for rule in ("fcfs", "lea", "lem"):
            fast = runs.get(week, rule, 1.0)
            kept = [runs.get(week, policy)["stretch"] for policy in (rule, f"{rule}(presence=lru)")]
            rows.append(
                [
                    week.title,
                    short(rule),
                    *(f"{stretch:.2f}" for stretch in kept),
                    f"{fast['stretch']:.2f}",
                    f"{fast['file_wait'] / 1e6:.2f}",
                ]
            )
    return rows
