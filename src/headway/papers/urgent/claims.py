"""What the slides claim, as they say it, with our numbers and a verdict on each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from headway.papers.log import Log
from headway.papers.urgent.logs import DEADLINE, TITLES, TSUNAMI
from headway.papers.urgent.runs import Run, Runs
from headway.papers.urgent.seeds import BACKFILL, KILL, SUSPEND, compared, values
from headway.papers.urgent.tables import POLICIES, REPORTED, REPORTED_PREEMPTIONS, SCALES, largest, scaled
from headway.papers.verdicts import (
    Claim,
    Estimate,
    always,
    arithmetic,
    direction,
    mean_of,
    not_claimed,
    number,
    order,
    slope_of,
    untested,
)
from headway.workload.transform.swap_model import SWAP_TABLE, fits, suspects

NOT_SAID = "in no slide"
NO_NUMBERS = "bars without numbers"
ALONE = "one seed has no interval; give --seeds"


def claims(runs: Runs, logs: Sequence[Log], draws: int) -> list[Claim]:
    """All of them, in the order of the slides; ``draws`` seeds for what needs an interval."""
    found = [*_exact(), *_swap_model()]
    for log in logs:
        found += [_untreated(runs, log, draws), _order(runs, log, draws), *_near_one(runs, log, draws)]
        found += _regular(runs, log, draws)
        found += [_swaps_regular(runs, log), _swaps_urgent(runs, log), _margin(runs, log)]
    known = {log.name for log in logs}
    found += [
        untested(
            f"{title}: Figures 10, 11 and 13", NO_NUMBERS, f"give --trace {name}=FILE", "Figures 10 to 13"
        )
        for name, title in TITLES.items()
        if name not in known
    ]  # fmt: skip
    private = "the log is not public, nor are its size, the arrivals and the swap sizes"
    said = ", ".join(f"{name} {value:g}" for name, value in REPORTED.items())
    found.append(untested("U_L on SX-ACE", said, private, "Table 2"))
    found.append(untested("the DWD workload", NO_NUMBERS, private, "Figures 14 to 16"))
    return found


def _exact() -> Iterator[Claim]:
    ours = [DEADLINE / seconds for _, seconds in TSUNAMI]
    same = [round(slowdown, 2) for slowdown in ours] == [1, 1.54, 2.5]
    yield arithmetic(
        "maximum slowdown of a tsunami job", "Table 1", "1, 1.54, 2.5",
        ", ".join(f"{x:.2f}" for x in ours), same, "10 minutes over the length of the job",
    )  # fmt: skip


def _swap_model() -> Iterator[Claim]:
    all_points, sound = fits()[:2]
    odd = ", ".join(f"{point[1]} in class {point[0]}" for point, _ in suspects())
    yield direction(
        "\"performance depends on the process size\"", "Table 3, Figure 9", "32 points",
        slope_of([size for *_, size, _ in SWAP_TABLE], [1e6 * time for *_, time in SWAP_TABLE]), 1,
        f"slope of the time against the size; R² {all_points.r2:.3f}, and {sound.r2:.3f} without {odd}, far "
        f"off the line of their class ({sound.bandwidth:.0f} MB/s in all)", unit=" s/TB", digits=0,
    )  # fmt: skip
    longest, shortest = max(point[3] for point in SWAP_TABLE), min(seconds for _, seconds in TSUNAMI)
    most = 1 + longest / shortest
    yield not_claimed(
        "UJFB's U_L by swaps alone",
        "-",
        f"at most {most:.4f}",
        f"the longest swap of Table 3, {longest:g} s, before the shortest job, {shortest:g} s; for the 1.05 "
        "of Table 2 there must have been waiting, shorter jobs or larger swaps",
        "follows from Tables 1 and 3",
    )


def _median(percentiles: Sequence[float]) -> float:
    return percentiles[len(percentiles) // 2]


def _untreated(runs: Runs, log: Log, draws: int) -> Claim:
    policy = "conservative(compress=scratch)"
    found = runs.get(log, Run(policy))
    urgent, regular = (_median(found[f"{kind}_slowdowns"]) for kind in ("urgent", "regular"))
    late = values(runs, log, policy, "urgent_deadlines_missed", draws)
    share = mean_of(100 * late / values(runs, log, policy, "urgent_jobs", draws))
    return direction(
        f"{log.title}: \"without this\" (a job scheduling method for both) \"urgent jobs wait\"",
        "slide \"Urgent Computing\"", "potentially wait", share, 1,
        f"share of them that is late; with the first seed their median slowdown is {urgent:.2f}, that of "
        f"regular jobs {regular:.2f} (Figure 3 has both, without numbers)", digits=0,
    )  # fmt: skip


def _order(runs: Runs, log: Log, draws: int) -> Claim:
    """The order of Table 2, each pair of neighbours by seed, in logarithms of the lateness."""
    policies = dict(POLICIES)
    late = {title: np.log(values(runs, log, policy, "urgent_lateness", draws)) for title, policy in POLICIES}
    said = sorted(REPORTED, key=lambda title: -REPORTED[title])
    ours = sorted(policies, key=lambda title: -late[title].mean())
    return order(
        f"{log.title}: U_L by algorithm", "Table 2", " > ".join(said),
        ", ".join(f"{title} {np.exp(late[title].mean()):,.4g}" for title in ours),
        [mean_of(late[a] - late[b]) for a, b in pairwise(said)], "geometric means over the seeds",
    )  # fmt: skip


def _near_one(runs: Runs, log: Log, draws: int) -> Iterator[Claim]:
    beyond = mean_of(100 * (values(runs, log, "ujfb", "urgent_lateness", draws) - 1))
    yield number(
        f"{log.title}: UJFB's U_L, beyond 1", "Table 2", 5, beyond, "of another log", digits=2,
        paper="5 % (1.05)",
    )  # fmt: skip
    jobs = mean_of(values(runs, log, "ujfb", "preempting_jobs", draws))
    yield number(
        f"{log.title}: preemptions", "Table 2", REPORTED_PREEMPTIONS,
        mean_of(values(runs, log, "ujfb", "suspensions", draws)),
        f"of another log; {jobs.text(digits=0)} urgent jobs stop some; the slides do not say which they "
        "count",
        unit="", digits=0,
    )  # fmt: skip


def _regular(runs: Runs, log: Log, draws: int) -> Iterator[Claim]:
    others = [(title, policy) for title, policy in POLICIES if title != "UJFB"]
    longer = {
        (title, word): compared(runs, log, policy, "ujfb", draws, name)
        for name, word in zip(NUMBERS, ("response", "slowdown"), strict=True)
        for title, policy in others
    }
    yield order(
        f"{log.title}: UJFB is \"reducing response time and slowdown for regular jobs\"",
        "slide \"Urgent Job First with Backfilling\"; Figures 10 to 12", "reducing",
        ", ".join(f"{title} {word} {one.text(' %', 1, True)}" for (title, word), one in longer.items()),
        list(longer.values()), "each of the others against UJFB, by seed",
    )  # fmt: skip
    yield not_claimed(
        f"{log.title}: regular jobs under UJFB against Backfill, mean response", "-",
        compared(runs, log, SUSPEND, BACKFILL, draws).text(" %", 2, True), f"over {draws} seeds", NOT_SAID,
    )  # fmt: skip
    yield kill(log, compared(runs, log, KILL, SUSPEND, draws))


def kill(log: Log, longer: Estimate) -> Claim:
    """Whether killing costs more than suspending; a single draw has no interval and tells nothing."""
    return direction(
        f"{log.title}: kill/restart: \"time is wasted\"; against suspend/resume, mean response",
        "slide \"Preemptive Job Scheduling for UC\"", "longer", longer, 1,
        ALONE if longer.low is None else f"over {longer.blocks} seeds", digits=2,
    )  # fmt: skip


NUMBERS = ("regular_mean_response", "regular_mean_slowdown")
MARGIN = 5.0
"""Percent up to which a change counts as none."""


def _swaps_regular(runs: Runs, log: Log) -> Claim:
    """Only jobs that are suspended are swapped, and few are: what that adds is bounded."""
    found = [runs.get(log, scaled(scale)) for scale in SCALES]
    means = [one["regular_mean_response"] for one in found]
    worst = max(abs(100 * (mean / means[0] - 1)) for mean in means)
    longest = 2 * SCALES[-1] * max(point[3] for point in SWAP_TABLE)
    most = 100 * found[-1]["suspensions"] * longest / (means[0] * found[0]["jobs"])
    return always(
        f"{log.title}: \"longer swapping times do not affect regular jobs' performance\"",
        "slide \"Evaluation with Longer Swapping Times\", Figure 13", "do not affect",
        f"mean response within {worst:.2f} % up to x {SCALES[-1]:,}", [worst <= MARGIN],
        f"with {found[-1]['suspensions']} jobs suspended, swaps of x {SCALES[-1]:,} themselves add at most "
        f"{most:.2g} % to it; a change counts from {MARGIN:g} % on", possible=most > MARGIN,
    )  # fmt: skip


def _swaps_urgent(runs: Runs, log: Log) -> Claim:
    late = [runs.get(log, scaled(scale))["urgent_lateness"] for scale in SCALES]
    return always(
        f"{log.title}: \"longer swapping times can significantly delay urgent jobs\"",
        "slide \"Evaluation with Longer Swapping Times\", Figure 13", "can delay",
        "U_L " + ", ".join(f"x {scale:,}: {value:.3f}" for scale, value in zip(SCALES, late, strict=True)),
        [a <= b for a, b in pairwise(late)],
        "an urgent job waits for the swap of those it stops: by the rules of the simulation", possible=False,
    )  # fmt: skip


def _margin(runs: Runs, log: Log) -> Claim:
    found = runs.get(log, Run("ujfb"))
    kills = runs.get(log, Run("ujfb(preempt=degree)"))
    tight = largest(found, TSUNAMI[0][0])
    return not_claimed(
        f"{log.title}: tsunami jobs that end after their 10 minutes",
        "-",
        f"{found['urgent_deadlines_missed']} of {found['urgent_jobs']} by suspending, "
        f"{kills['urgent_deadlines_missed']} by degree of urgency",
        "the job on 128 processors takes all of the 10 minutes, so any swap makes it late, here by at most "
        f"{TSUNAMI[0][1] * ((tight or 1) - 1):.3f} s",
        "follows from Table 1 (maximum slowdown 1)",
    )
