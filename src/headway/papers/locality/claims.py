"""What the authors say, with our numbers and a verdict on each; blocks are the weeks of a kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np

from headway.papers.kept import Numbers
from headway.papers.locality.runs import Runs
from headway.papers.locality.tables import BOTH, REFERENCE, RULES, SCORE, TEN, ratios, short, weight_policy
from headway.papers.locality.weeks import RACKHAM, Group
from headway.papers.verdicts import (
    Claim,
    Estimate,
    always,
    arithmetic,
    change_of,
    direction,
    mean_of,
    not_claimed,
    number,
    order,
    untested,
    within,
)
from headway.platform.node_table import load_time
from headway.policies.nodes.setup import fill_level, planned_areas
from headway.units import SECOND

SLIDES = "slides"
LATER = "later paper and report (drafts)"
STORED = "the authors' stored results of three weeks"
NOTE = "a note of the authors"
NEAR = 5.0
"""Percent of each other within which two means of the stretch are about the same, and a rule does no harm."""
FILE_WAIT = {"eft": 0.9, "lea": 17.1, "leo": 0.9, "lem": 7.1}
"""Percent less time waiting for files than FCFS, over the authors' twelve weeks."""
CORE_TIME = {"eft": 0.01, "lea": 0.37, "leo": 0.02, "lem": 0.10}
"""Percent less core time than FCFS, over the same weeks."""
WEEKS_OF_2022 = (28, 13, 43, 41, 42, 8, 6, 36, 2, 50, 40, 1)
"""The authors' twelve weeks, in the order in which they were drawn."""
SAVED = 49_000
"""Core-hours that LEA saves in them."""


def claims(
    runs: Runs,
    groups: Sequence[Group],
    narrow: Group | None,
    sized: Sequence[Group],
    best: Sequence[int] | None,
) -> list[Claim]:
    """All of them: exact ones first, then those that need weeks."""
    found = [*_exact()]
    for group in groups:
        found += _rules(runs, group)
    if narrow is not None:
        found += _order(runs, narrow)
    for group in sized:
        found += [*_sizes(runs, group), _hindsight(runs, group)]
    if best is not None:
        found.append(_weights(best))
    logs = "twelve weeks of 2022: 1,083 users, 136,404 sessions, LEA saves 49,000 core-hours"
    return [*found, untested(logs, "-", "the weeks are not in the copies of their repository we have", LATER)]


def _exact() -> Iterator[Claim]:
    times = [load_time(gb, 0.1) // SECOND for gb in (128, 256, 1024)]
    yield arithmetic(
        "time to fill a node's memory", f"{SLIDES}: nodes", "1280, 2560, 10240 s",
        ", ".join(map(str, times)) + " s", times == [1280, 2560, 10240], "size over 0.1 GB/s",
    )  # fmt: skip
    level = fill_level([15, 30, 2], [5, 3, 2], "max")
    plan = planned_areas([15, 30, 2], [5, 3, 2])
    yield arithmetic(
        "areas 15, 30, 2 on 5, 3, 2 nodes", NOTE, "T_max 6.4; the big nodes take 10.8 of the middle class",
        f"{float(level):g}; {float(plan[2][1]):g}", (level, plan[2][1]) == (Fraction(32, 5), Fraction(54, 5)),
        "the note's 4.6875 for the middle class on its own nodes is 19.2 / 6.4 = 3 by its own code",
    )  # fmt: skip
    drawn = list(range(1, 52))
    Random(0).shuffle(drawn)
    weeks = drawn[: len(WEEKS_OF_2022)]
    yield arithmetic(
        "the twelve weeks of 2022, by Python's shuffle of 1 to 51 with seed 0", LATER,
        ", ".join(map(str, WEEKS_OF_2022)), ", ".join(map(str, weeks)), tuple(weeks) == WEEKS_OF_2022,
    )  # fmt: skip
    hours = SAVED / RACKHAM
    yield arithmetic(
        "49,000 core-hours that LEA saves, in hours of the whole platform", LATER, "about 5", f"{hours:.2f}",
        round(hours) == 5, f"{RACKHAM:,} cores",
    )  # fmt: skip


Stretches = dict[str, np.ndarray]


def stretches(runs: Runs, group: Group, policies: Sequence[str]) -> Stretches:
    """Logarithms (x 100) of the mean stretch of each week: differences are percents, about."""
    return {policy: 100 * np.log([one["stretch"] for one in runs.over(group, policy)]) for policy in policies}


def less(one: Stretches, lower: str, higher: str) -> Estimate:
    """By how much (percent, logarithmic) the stretch of one policy is lower than another's, week by week."""
    return mean_of(one[higher] - one[lower])


def _order(runs: Runs, group: Group) -> Iterator[Claim]:
    """Which of the five rules is best or worst, and where the others are."""
    one, title = stretches(runs, group, RULES), group.title
    shown = ", ".join(f"{short(rule)} {np.exp(values.mean() / 100):.2f}" for rule, values in one.items())
    others = [rule for rule in RULES if rule != "lea"]
    if group.saturated:
        yield order(
            f"{title}: LEA has the lowest mean stretch of the five", STORED,
            "84 against 122 to 147 in the saturated week", shown, [less(one, "lea", rule) for rule in others],
        )  # fmt: skip
        yield number(
            f"{title}: LEA's mean stretch against that of FCFS", STORED, 100 * (84.45 / 147.26 - 1),
            mean_of(np.exp((one["lea"] - one["fcfs"]) / 100)).scaled(100, -100), sign=True,
            paper="84 against 147 in the saturated week (-43 %)",
        )  # fmt: skip
    else:
        yield order(
            f"{title}: LEA has the highest mean stretch of the five", STORED,
            "9.2 against 4.8 in the light week, 7.9 against 4.2 to 4.9 in another", shown,
            [less(one, rule, "lea") for rule in others],
        )  # fmt: skip
    ends = ("lea", "lem", "fcfs") if group.saturated else ("fcfs", "lem", "lea")
    yield order(
        f"{title}: LEM lies between FCFS and LEA, or about there", STORED,
        "122 of 84 to 147; 4.23 of 4.82 to 7.88; 4.82 of 4.81 to 9.23", shown,
        [less(one, low, high).scaled(1, NEAR) for low, high in pairwise(ends)],
        f"at most {NEAR:g} % below the one and above the other",
    )  # fmt: skip
    yield order(
        f"{title}: EFT is about FCFS", STORED, "144.7 and 147.3; 4.86 and 4.82; 4.81 and 4.81", shown,
        within(less(one, "eft", "fcfs"), NEAR), f"within {NEAR:g} % either way",
    )  # fmt: skip


def _rules(runs: Runs, group: Group) -> Iterator[Claim]:
    """Everything that is said of the rules, in weeks of one kind."""
    yield from _order(runs, group)
    found = {rule: runs.over(group, rule) for rule in TEN}
    windows = "fcfs(backfill=conservative)"
    one, title = stretches(runs, group, ("fcfs", windows)), group.title
    harm = less(one, "fcfs", windows)
    yield direction(
        f"{title}: conservative backfilling does not harm FCFS", STORED,
        "147 to 10.6, 4.82 to 3.94, 4.81 to 4.81", harm, -1,
        f"change of the logarithm of the stretch x 100; harm: more than {NEAR:g}", than=NEAR, unit="",
    )  # fmt: skip
    yield from _files(title, [{rule: found[rule][k] for rule in TEN} for k in range(len(group.weeks))])
    slides, plain = runs.over(group, SCORE), found["fcfs"]
    figures, conclusion = "better (figures only)", "can reduce the flow of each job"
    for what, said, name, where in (
        ("improves the mean stretch", figures, "stretch", "figure of the flow stretch"),
        ("improves the queue times", figures, "wait", "figure of the queue times"),
        ("reduces the total flow", conclusion, "total_flow", "conclusion"),
    ):
        changes = change_of([one[name] for one in slides], [one[name] for one in plain])
        yield direction(
            f"{title}: the slides' score {what} of FCFS", f"{SLIDES}: {where}", said, changes, -1,
            "paired by week",
        )  # fmt: skip
    better = mean_of([100 * week["not_worse"] for week in found["lem"]])
    median = mean_of([100 * (week["median_improvement"] - 1) for week in found["lem"]])
    yield direction(
        f"{title}: LEM is not worse in at least 87.5 % of the sessions", LATER, "at least 87.5 %", better, 1,
        "share of the sessions", than=87.5,
    )  # fmt: skip
    yield number(f"{title}: LEM's improvement in the median session", LATER, 7.5, median, sign=True)


def _files(title: str, weeks: Sequence[dict[str, Numbers]]) -> Iterator[Claim]:
    for metric, said, named in (
        ("file_wait", FILE_WAIT, "time waiting for files"),
        ("core_time", CORE_TIME, "core time"),
    ):
        saved = {
            rule: np.array(
                [100 * (1 - week[rule][metric] / max(week["fcfs"][metric], 1e-9)) for week in weeks]
            )
            for rule in said
        }
        yield order(
            f"{title}: less {named} than FCFS; LEA saves most, then LEM", LATER,
            ", ".join(f"{rule.upper()} {value:g} %" for rule, value in said.items()),
            ", ".join(f"{rule.upper()} {values.mean():.2g} %" for rule, values in saved.items()),
            [mean_of(saved[more] - saved[fewer])
             for more, fewer in (("lea", "lem"), ("lem", "eft"), ("lem", "leo"))],
        )  # fmt: skip
        for rule, value in said.items():
            yield number(
                f"{title}: less {named} than FCFS, {rule.upper()}", LATER, value, mean_of(saved[rule]),
                "share saved, week by week", digits=2, sign=True,
            )  # fmt: skip
    reused = {
        rule: np.array([100 * week[rule]["reuses"] / week[rule]["files"] for week in weeks]) for rule in RULES
    }
    yield order(
        f"{title}: LEA re-uses files most often", LATER,
        "6205 of 7434 jobs, others about 5500 (July 16); 3500 of 4721, FCFS 2100 (March 26)",
        ", ".join(f"{short(rule)} {values.mean():.0f} %" for rule, values in reused.items()),
        [mean_of(reused["lea"] - reused[rule]) for rule in RULES if rule != "lea"], "of the jobs with files",
    )  # fmt: skip


def _sizes(runs: Runs, group: Group) -> Iterator[Claim]:
    reference = runs.over(group, REFERENCE)
    for policy in ("backfill-big", "area-filling", *BOTH):
        named = policy in BOTH  # the slides have no figure of these, they name them as future work
        yield direction(
            f"{group.title}: {policy} has a lower total flow than match=exact",
            f"{SLIDES}: {'future work' if named else 'figure of the total flow'}",
            "lower (future work)" if named else "lower (figures only)",
            mean_of(ratios(runs.over(group, policy), reference, "total_flow")).scaled(100, -100), -1,
        )  # fmt: skip


def _hindsight(runs: Runs, group: Group) -> Claim:
    """What it is worth to plan areas from the very jobs that are scheduled."""
    known, early = (runs.over(group, policy) for policy in ("area-filling(areas=all)", "area-filling"))
    change = mean_of(ratios(early, known, "total_flow")).scaled(100, -100)
    return not_claimed(
        f"{group.title}: statistics of the first day instead of the jobs themselves, total flow",
        "-",
        change.text(" %", sign=True),
        'the slides say "from previous workloads"',
        f"{SLIDES}: area filling",
    )


def _weights(best: Sequence[int]) -> Claim:
    x, y, rank = best
    return always(
        "a grid search prefers these weights of loads and evictions", LATER, "500, 500, 0",
        f"best of our grid: {weight_policy(x, y)}", [(x, y) == (500, 500)],
        f"chosen on half of the weeks; on the others it is number {rank}",
    )  # fmt: skip
