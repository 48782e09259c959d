"""What the authors say, with our numbers and a verdict on each; claims on weeks in every week of a kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from random import Random

import numpy as np

from headway.papers.kept import Numbers
from headway.papers.locality.runs import Runs, mean
from headway.papers.locality.tables import BOTH, REFERENCE, RULES, SCORE, TEN, ratios, short, weight_policy
from headway.papers.locality.weeks import RACKHAM, Group
from headway.papers.verdicts import (
    Claim,
    Tested,
    change_text,
    direction,
    magnitude,
    not_claimed,
    number,
    unharmed,
    untested,
)
from headway.platform.node_table import load_time
from headway.policies.nodes.setup import fill_level, planned_areas
from headway.units import SECOND

SLIDES = "slides"
LATER = "later paper and report (drafts)"
STORED = "the authors' stored results of three weeks"
NOTE = "a note of the authors"
NEAR = 0.05
"""Two means of the stretch within this part of each other are about the same."""
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
    return [*found, untested(logs, "-", "the authors' logs have a format that Headway does not read", LATER)]


def counted(claim: str, paper: str, ours: str, held: Sequence[bool], tested: Tested, source: str) -> Claim:
    """A claim by how many of the weeks it holds in."""
    weeks = "week" if len(held) == 1 else "weeks"
    remark = f"in {sum(held)} of {len(held)} {weeks}"
    return Claim(claim, paper, ours, direction(held), remark, tested, source)


def _exact() -> Iterator[Claim]:
    times = [load_time(gb, 0.1) // SECOND for gb in (128, 256, 1024)]
    yield Claim(
        "time to fill a node's memory",
        "1280, 2560, 10240 s",
        ", ".join(map(str, times)) + " s",
        "agrees" if times == [1280, 2560, 10240] else "differs",
        "size over 0.1 GB/s",
        "number",
        f"{SLIDES}: nodes",
    )
    level = fill_level([15, 30, 2], [5, 3, 2], "max")
    plan = planned_areas([15, 30, 2], [5, 3, 2])
    same = level == Fraction(32, 5) and plan[2][1] == Fraction(54, 5)
    yield Claim(
        "areas 15, 30, 2 on 5, 3, 2 nodes",
        "T_max 6.4; the big nodes take 10.8 of the middle class",
        f"{float(level):g}; {float(plan[2][1]):g}",
        "agrees" if same else "differs",
        "the note's 4.6875 for the middle class on its own nodes is 19.2 / 6.4 = 3 by its own code",
        "number",
        NOTE,
    )

    drawn = list(range(1, 52))
    Random(0).shuffle(drawn)
    yield Claim(
        "the twelve weeks of 2022, by Python's shuffle of 1 to 51 with seed 0",
        ", ".join(map(str, WEEKS_OF_2022)),
        ", ".join(map(str, drawn[: len(WEEKS_OF_2022)])),
        "agrees" if tuple(drawn[: len(WEEKS_OF_2022)]) == WEEKS_OF_2022 else "differs",
        "their logs have a format that Headway does not read",
        "number",
        LATER,
    )
    hours = SAVED / RACKHAM
    yield Claim(
        "49,000 core-hours that LEA saves, in hours of the whole platform",
        "about 5",
        f"{hours:.2f}",
        magnitude(5, hours),
        f"{RACKHAM:,} cores",
        "number",
        LATER,
    )


def _order(runs: Runs, group: Group) -> Iterator[Claim]:
    """Which of the five rules is best or worst, and where the others are."""
    found = {rule: runs.over(group, rule) for rule in RULES}
    stretch = [{rule: found[rule][k]["stretch"] for rule in RULES} for k in range(len(group.weeks))]
    shown = ", ".join(f"{short(rule)} {mean(found[rule], 'stretch'):.2f}" for rule in RULES)
    title = group.title
    if group.saturated:
        yield counted(
            f"{title}: LEA has the lowest mean stretch of the five",
            "84 against 122 to 147 in the saturated week",
            shown,
            [min(RULES, key=lambda rule: one[rule]) == "lea" for one in stretch],
            "order",
            STORED,
        )
        yield counted(
            f"{title}: LEA has a lower mean stretch than FCFS",
            "84 against 147 in the saturated week",
            change_text(float(np.mean(ratios(found["lea"], found["fcfs"], "stretch")))),
            [one["lea"] < one["fcfs"] for one in stretch],
            "direction",
            STORED,
        )
    else:
        yield counted(
            f"{title}: LEA has the highest mean stretch of the five",
            "9.2 against 4.8 in the light week, 7.9 against 4.2 to 4.9 in another",
            shown,
            [max(RULES, key=lambda rule: one[rule]) == "lea" for one in stretch],
            "order",
            STORED,
        )
    ends = [(one["lem"], *sorted((one["lea"], one["fcfs"]))) for one in stretch]
    yield counted(
        f"{title}: LEM lies between FCFS and LEA, or about there",
        "122 of 84 to 147; 4.23 of 4.82 to 7.88; 4.82 of 4.81 to 9.23",
        "; ".join(f"{lem:.2f} of {low:.2f} to {high:.2f}" for lem, low, high in ends),
        [low * (1 - NEAR) <= lem <= high * (1 + NEAR) for lem, low, high in ends],
        "order",
        STORED,
    )
    yield counted(
        f"{title}: EFT is about FCFS",
        "144.7 and 147.3; 4.86 and 4.82; 4.81 and 4.81",
        "; ".join(f"{one['eft']:.2f} and {one['fcfs']:.2f}" for one in stretch),
        [abs(one["eft"] / one["fcfs"] - 1) <= NEAR for one in stretch],
        "number",
        STORED,
    )


def _rules(runs: Runs, group: Group) -> Iterator[Claim]:
    """Everything that is said of the rules, in weeks of one kind."""
    yield from _order(runs, group)
    found = {rule: runs.over(group, rule) for rule in TEN}
    weeks = [{rule: found[rule][k] for rule in TEN} for k in range(len(group.weeks))]
    title = group.title
    windows = "fcfs(backfill=conservative)"
    yield counted(
        f"{title}: conservative backfilling does not harm FCFS",
        "147 to 10.6, 4.82 to 3.94, 4.81 to 4.81",
        "; ".join(f"{one['fcfs']['stretch']:.2f} to {one[windows]['stretch']:.2f}" for one in weeks),
        [unharmed(one[windows]["stretch"] / one["fcfs"]["stretch"]) for one in weeks],
        "direction",
        STORED,
    )
    yield from _files(title, weeks)
    slides, plain = runs.over(group, SCORE), found["fcfs"]
    stretches, flows = (ratios(slides, plain, name) for name in ("stretch", "total_flow"))
    waits = f"{mean(slides, 'wait') / 3600:.2f} h after {mean(plain, 'wait') / 3600:.2f} h"
    shorter = [one["wait"] < other["wait"] for one, other in zip(slides, plain, strict=True)]
    figures, conclusion = "better (figures only)", "can reduce the flow of each job"
    for what, said, ours, better, where in (
        ("improves the mean stretch", figures, change_text(float(np.mean(stretches))),
         [change < 1 for change in stretches], "figure of the flow stretch"),
        ("improves the queue times", figures, waits, shorter, "figure of the queue times"),
        ("reduces the total flow", conclusion, change_text(float(np.mean(flows))),
         [change < 1 for change in flows], "conclusion"),
    ):  # fmt: skip
        claim = f"{title}: the slides' score {what} of FCFS"
        yield counted(claim, said, ours, better, "direction", f"{SLIDES}: {where}")
    lem = found["lem"]
    yield counted(
        f"{title}: LEM is not worse in at least 87.5 % of the sessions",
        "at least 87.5 %, median +7.5 %",
        f"{100 * mean(lem, 'not_worse'):.1f} %, median {100 * (mean(lem, 'median_improvement') - 1):+.1f} %",
        [one["not_worse"] >= 0.875 for one in lem],
        "number",
        LATER,
    )


def _files(title: str, weeks: Sequence[dict[str, Numbers]]) -> Iterator[Claim]:
    for metric, said, named in (
        ("file_wait", FILE_WAIT, "time waiting for files"),
        ("core_time", CORE_TIME, "core time"),
    ):
        less = [
            {rule: 100 * (1 - week[rule][metric] / max(week["fcfs"][metric], 1e-9)) for rule in said}
            for week in weeks
        ]
        yield counted(
            f"{title}: less {named} than FCFS; LEA saves most, then LEM",
            ", ".join(f"{rule.upper()} {value:g} %" for rule, value in said.items()),
            ", ".join(f"{rule.upper()} {np.mean([one[rule] for one in less]):.2g} %" for rule in said),
            [one["lea"] > one["lem"] > max(one["eft"], one["leo"], 0) for one in less],
            "order",
            LATER,
        )
        for rule, value in said.items():
            ours = float(np.mean([one[rule] for one in less]))
            yield Claim(
                f"{title}: less {named} than FCFS, {rule.upper()}", f"{value:g} %", f"{ours:.2g} %",
                number(value, ours), "mean over the weeks", "number", LATER,
            )  # fmt: skip
    yield counted(
        f"{title}: LEA re-uses files most often",
        "6205 of 7434 jobs, others about 5500 (July 16); 3500 of 4721, FCFS 2100 (March 26)",
        "; ".join(
            f"{week['lea']['reuses']:,} of {week['lea']['files']:,}, FCFS {week['fcfs']['reuses']:,}"
            for week in weeks
        ),
        [max(RULES, key=lambda rule: week[rule]["reuses"]) == "lea" for week in weeks],
        "order",
        LATER,
    )


def _sizes(runs: Runs, group: Group) -> Iterator[Claim]:
    reference = runs.over(group, REFERENCE)
    for policy in ("backfill-big", "area-filling", *BOTH):
        changes = ratios(runs.over(group, policy), reference, "total_flow")
        named = policy in BOTH  # the slides have no figure of these, they name them as future work
        yield counted(
            f"{group.title}: {policy} has a lower total flow than match=exact",
            "lower (future work)" if named else "lower (figures only)",
            change_text(float(np.mean(changes))),
            [change < 1 for change in changes],
            "direction",
            f"{SLIDES}: {'future work' if named else 'figure of the total flow'}",
        )


def _hindsight(runs: Runs, group: Group) -> Claim:
    """What it is worth to plan areas from the very jobs that are scheduled."""
    known, early = (runs.over(group, policy) for policy in ("area-filling(areas=all)", "area-filling"))
    changes = [100 * (ratio - 1) for ratio in ratios(early, known, "total_flow")]
    return not_claimed(
        f"{group.title}: statistics of the first day instead of the jobs themselves, total flow",
        "-",
        ", ".join(f"{change:+.1f} %" for change in changes),
        'week by week; the slides say "from previous workloads"',
        f"{SLIDES}: area filling",
    )


def _weights(best: Sequence[int]) -> Claim:
    x, y, rank = best
    return Claim(
        "a grid search prefers these weights of loads and evictions",
        "500, 500, 0",
        f"best of our grid: {weight_policy(x, y)}",
        "agrees" if (x, y) == (500, 500) else "differs",
        f"chosen on half of the weeks; on the others it is number {rank}",
        "order",
        LATER,
    )
