"""What the paper says of its runs, what ours say, and the verdicts: a row for each claim.

Blocks are the scenarios: each is one log, and its seeds draw the types of the same jobs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

import numpy as np

from headway.papers.kept import Numbers
from headway.papers.reallocation.examples import FIGURE_2_PAPER, figure_2_completions, figure_2_tuned
from headway.papers.reallocation.runs import COUPLES, Campaign
from headway.papers.reallocation.scenarios import MONTHS, PWA, ROW_SUMS
from headway.papers.verdicts import (
    Claim,
    Estimate,
    always,
    arithmetic,
    direction,
    extreme_of,
    mean_of,
    not_claimed,
    number,
    order,
    share_of,
    share_text,
    untested,
    within,
)
from headway.workload.models.speedup import amdahl
from headway.workload.transform.moldable import TYPES_OF_JOBS

REGULAR, CANCEL = ("MCT-reg", "MinMin-reg"), ("MCT-can", "MinMin-can")
TIE = 0.005
"""Relative responses that differ by less are equal."""
TOO_SLOW = 60
"""Seconds of one core for all reallocations of months, beyond which an agent would be slow to react."""
FAR = 2.0
"""What is more than so many times as much is more by far."""
SMALL = 5.0
"""Percentage points up to which a difference is small."""


def exact_claims(asked: int, runs: int, references: int) -> list[Claim]:
    """Those that need no campaign: arithmetic and the worked example; and how many runs there were."""
    done = figure_2_completions()
    same = [round(done[n], 2) == said for n, said in FIGURE_2_PAPER.items()]
    binary, bounded = figure_2_tuned("binary"), figure_2_tuned("bounded")
    found = all([*same, binary == (2, 6.5), bounded == (4, 1.75)])
    limits = [float(amdahl(p, limit)) for p, limit, _ in TYPES_OF_JOBS]
    rows = [sum(counts) for _, _, counts in MONTHS]
    bordeaux = sum(counts[0] for _, _, counts in MONTHS)
    minutes = ", ".join(f"{done[n]:.4g}" for n in (1, 5, 3, 2))
    return [
        arithmetic(
            "completions on 1, 5, 3 and 2 processors, and the best, which the binary search misses",
            "section 3.2.1, Figure 2", "7, 7.4, 7.33, 6.5; 1.75 min on 4",
            f"{minutes}; {done[4]:.4g} min on 4; binary takes {binary[0]}, bounded {bounded[0]}", found,
            "the load is reconstructed from these very numbers",
        ),
        arithmetic(
            "estimations for a task of up to 650 processors", "section 3.2.1", "650 exhaustive, 10 binary",
            f"650, {asked}", asked == 10, "both ends and ten halvings: 12 on an empty cluster",
        ),
        not_claimed(
            "speedups of t1 to t4 at their limits", "(drawn)", ", ".join(f"{value:.3g}" for value in limits),
            "limits 5, 10, 100, 1000 for many processors", "Figure 4",
        ),
        arithmetic(
            "the rows of jobs per month add up", "Table 1", ", ".join(map(str, ROW_SUMS)),
            ", ".join(map(str, rows)), list(ROW_SUMS) == rows,
        ),
        arithmetic(
            "jobs of Bordeaux in six months, and of PWA-G5K", "Table 1, section 4.2", "74647; 133135",
            f"{bordeaux}; {PWA.total}", (bordeaux, PWA.total) == (74647, 133135),
            "the table's column has 41 more than the text says",
        ),
        not_claimed(
            "number of experiments", "574 (564 in the conclusion)",
            f"{runs} runs and {references} references, with speeds and without",
            "the paper counts 14 references; each seed draws other types, so each has its own",
            "sections 4.5 and 6",
        ),
    ]  # fmt: skip


def steps(found: Campaign, metric: str, *pairs: tuple[str, str]) -> list[Estimate]:
    """For each pair of couples by how much (points) a metric is larger for the second, paired by scenario."""
    return [found.difference(metric, more, less).scaled(100) for less, more in pairs]


def shown(found: Campaign, metric: str, couples: Sequence[str] = tuple(COUPLES)) -> str:
    """The means of couples with their intervals over scenarios."""
    texts = (f"{couple} {found.estimate(metric, couple).scaled(100).text(' %')}" for couple in couples)
    return ", ".join(texts)


BOTH = tuple(zip(REGULAR, CANCEL, strict=True))
"""Regular and all-cancellation with the same heuristic."""


def dedicated_claims(found: Campaign) -> list[Claim]:
    """Section 5.1."""
    return [*_moved(found), *_earlier(found), *_responses(found)]


def _moved(found: Campaign) -> Iterator[Claim]:
    """Figures 6 and 7: which tasks are impacted, and how many are moved."""
    source = "section 5.1"
    impacted = [value for *_, value in found.experiments("impacted")]
    inside = [0.25 <= value <= 1 for value in impacted]
    yield always(
        "impacted tasks", f"{source}, Figure 6", "25 to 95 %, almost all in six runs",
        f"{share_text(min(impacted))} to {share_text(max(impacted))}", inside,
        f"{share_text(_mean(inside))} of the runs have 25 % or more",
    )  # fmt: skip
    yield order(
        "all-cancellation usually impacts more tasks; MinMin-can most", source, "MinMin-can",
        shown(found, "impacted"), steps(found, "impacted", *BOTH, ("MCT-can", "MinMin-can")),
    )  # fmt: skip
    reg = [v for c in REGULAR for v in found.values("reallocations", c)]
    yield always(
        "reallocations of the regular algorithms", f"{source}, Figure 7", "less than 15 %",
        f"at most {share_text(max(reg))}", [value < 0.15 for value in reg],
    )  # fmt: skip
    yield number(
        "reallocations of all-cancellation", f"{source}, Figure 7", 50,
        extreme_of(found.blocks("reallocations", *CANCEL)).scaled(100), LEFT_OUT, digits=0,
        paper="as high as 50 %",
    )  # fmt: skip
    yield always(
        "all-cancellation always reallocates more", source, "always", _always(found, "reallocations", True),
        [can > reg for reg, can in _pairs(found, "reallocations")],
    )  # fmt: skip


LEFT_OUT = "the largest of all runs; its interval is by leaving out any one scenario"


def _earlier(found: Campaign) -> Iterator[Claim]:
    """Figure 8: how many of the impacted tasks end earlier."""
    source = "section 5.1"
    said = "all but 3 runs, and April without cancellation"
    yield _mostly_early(found, "more tasks early than late", said, f"{source}, Figure 8")
    couples = ["MinMin-reg", "MCT-reg", "MinMin-can", "MCT-can"]
    yield order(
        "early tasks by couple", source, " < ".join(couples), shown(found, "early", couples),
        steps(found, "early", *pairwise(couples)),
    )  # fmt: skip
    yield number(
        "early tasks at most", source, 64, extreme_of(found.blocks("early", *COUPLES)).scaled(100), LEFT_OUT,
        digits=0, paper="64 % (MCT-can)",
    )  # fmt: skip


def _mostly_early(found: Campaign, claim: str, paper: str, source: str) -> Claim:
    """In how many of the runs more of the impacted tasks end earlier than later."""
    mostly = [value > 0.5 for *_, value in found.experiments("early")]
    return always(claim, source, paper, f"{share_text(_mean(mostly))} of the runs", mostly)


def _responses(found: Campaign) -> Iterator[Claim]:
    """Figure 9: by how much responses are shorter."""
    source = "section 5.1"
    gains = found.blocks("relative_response", "MCT-reg", "MCT-can", "MinMin-can")
    between = [100 * float(np.mean([0.1 <= 1 - value <= 0.4 for value in block])) for block in gains]
    yield direction(
        "most gains in response are between 10 and 40 % (MinMin-reg apart)", f"{source}, Figure 9", "most",
        mean_of(between), 1, "share of the runs, against one half; the load of the logs decides: see below",
        than=50, digits=0,
    )  # fmt: skip
    yield order(
        "the couple with the best response on average", source, "MCT-can", shown(found, "relative_response"),
        steps(found, "relative_response", *(("MCT-can", c) for c in COUPLES if c != "MCT-can")),
    )  # fmt: skip
    worse = {c: sum(v > 1 for v in found.values("relative_response", c)) for c in COUPLES}
    yield always(
        "no run has a worse response with cancellation", source,
        "none (without it 3 of MCT-reg and 3 of MinMin-reg)",
        ", ".join(f"{c} {count}" for c, count in worse.items()),
        [v <= 1 for c in CANCEL for v in found.values("relative_response", c)],
    )  # fmt: skip
    yield always(
        "all-cancellation is better than regular in response", source,
        "in all but one scenario and couple", _always(found, "relative_response", False),
        [can < reg for reg, can in _pairs(found, "relative_response")],
    )  # fmt: skip


def shared_claims(found: Campaign, dedicated: Campaign) -> list[Claim]:
    """Section 5.2."""
    return [
        *_moved_with_others(found),
        *_earlier_with_others(found),
        *_responses_with_others(found, dedicated),
        *_choice(found, dedicated),
    ]


def _moved_with_others(found: Campaign) -> Iterator[Claim]:
    """Figures 10 and 11."""
    source = "section 5.2"
    more = [
        one for step in steps(found, "impacted", *BOTH) for one in (step, step.negative().scaled(1, SMALL))
    ]
    yield order(
        "all-cancellation impacts more tasks, by a really small difference", f"{source}, Figure 10",
        "more, a small difference", shown(found, "impacted"), more, f"small: at most {SMALL:g} points",
    )  # fmt: skip
    moves = found.blocks("reallocations", *COUPLES)
    seldom = mean_of([100 * float(np.mean(np.array(block) < 0.01)) for block in moves])
    every = np.concatenate(moves)
    yield direction(
        "reallocations below 1 % of the tasks", f"{source}, Figure 11", "in a lot of cases", seldom, 1,
        f"share of the runs, against one half; median {100 * float(np.median(every)):.1f} %, at most "
        f"{share_text(float(every.max()))}", than=50, digits=0,
    )  # fmt: skip
    far = [
        mean_of(FAR * found.by_scenario("reallocations", reg) - found.by_scenario("reallocations", can))
        for reg, can in BOTH
    ]
    yield order(
        "all-cancellation always reallocates more, but not by far", source, "not by far",
        shown(found, "reallocations"), [*steps(found, "reallocations", *BOTH), *far],
        f"by far: more than {FAR:g} times",
    )  # fmt: skip


def _earlier_with_others(found: Campaign) -> Iterator[Claim]:
    """Figure 12."""
    source = "section 5.2"
    claim = "more than half of the impacted tasks early"
    yield _mostly_early(found, claim, "in all but two runs", f"{source}, Figure 12")
    early = mean_of([float(np.mean(block)) for block in found.blocks("early", *COUPLES)]).scaled(100)
    yield number("early among the impacted", source, 70, early, digits=0, paper="close to 70 % in most runs")
    yield order(
        "all-cancellation has fewer early tasks than regular", source, "fewer", shown(found, "early"),
        steps(found, "early", *((can, reg) for reg, can in BOTH)),
    )  # fmt: skip


def _responses_with_others(found: Campaign, dedicated: Campaign) -> Iterator[Claim]:
    """Figure 13."""
    source = "section 5.2"
    responses = found.blocks("relative_response", *COUPLES)
    for claim, said, largest, paper in (
        ("the largest gain in response", 50, False, "divided by more than two"),
        ("the largest loss in response", 140, True, "40 % more"),
    ):
        yield number(
            claim, f"{source}, Figure 13", said, extreme_of(responses, largest).scaled(100),
            "percent of the reference; the extreme of all runs, its interval by leaving out any one scenario",
            digits=0, paper=paper,
        )  # fmt: skip
    close = [
        step
        for pair in combinations(COUPLES, 2)
        for step in within(steps(found, "relative_response", pair)[0], SMALL)
    ]
    yield order(
        "the couples are close to one another in response", f"{source}, Figure 13", "close",
        shown(found, "relative_response"), close, f"close: each pair within {SMALL:g} points either way",
    )  # fmt: skip
    averages = {
        (name, c): float(np.mean(values))
        for name in dict.fromkeys(n for n, *_ in found.experiments("early"))
        for c in COUPLES
        if (values := found.values("relative_response", c, name))
    }
    negative = sorted(f"{name} {couple}" for (name, couple), value in averages.items() if value >= 1)
    yield always(
        "the average gain is positive", source, "on all experiments",
        "always" if not negative else f"not for {len(negative)} of {len(averages)} scenarios and couples",
        [value < 1 for value in averages.values()], "; ".join(negative[:6]),
    )  # fmt: skip
    spread = {c: np.array([np.ptp(block) for block in found.blocks("relative_response", c)]) for c in COUPLES}
    yield order(
        "all-cancellation has the smaller range of gains", source, "usually",
        ", ".join(f"{c} {values.mean():.2f}" for c, values in spread.items()),
        [mean_of(spread[reg] - spread[can]) for reg, can in BOTH], "ranges over the seeds of a scenario",
    )  # fmt: skip
    together, apart = (
        np.mean([campaign.by_scenario("relative_response", c) for c in COUPLES], axis=0)
        for campaign in (found, dedicated)
    )
    yield direction(
        "gains are larger on dedicated platforms", "section 1", "larger",
        mean_of(100 * (together - apart)), 1,
        f"relative response {apart.mean():.3f} dedicated, {together.mean():.3f} not; points between them",
        unit=" points",
    )  # fmt: skip


def _choice(found: Campaign, dedicated: Campaign) -> Iterator[Claim]:
    """Whether all tasks end, and which heuristic to choose."""
    source = "section 5.3"
    every = [*found.numbers.values(), *dedicated.numbers.values()]
    starving, starving_alone = (
        sum(int(n["starving_tasks"] > 0) for n in campaign.numbers.values())
        for campaign in (found, dedicated)
    )
    yield always(
        "no task is delayed indefinitely", source, "none",
        f"put back at most {max(n['most_put_back'] for n in every)} times; in {starving_alone} dedicated and "
        f"{starving} other runs some tasks five times or more",
        [n["most_put_back"] < max(n["reallocation_events"], 1) for n in every],
        "submissions end, so every task of every run ends; none was put back at every reallocation",
        possible=False,
    )  # fmt: skip
    alone = steps(dedicated, "relative_response", *((f"MCT-{m}", f"MinMin-{m}") for m in ("reg", "can")))
    rest = steps(found, "relative_response", *(("MCT-reg", c) for c in COUPLES if c != "MCT-reg"))
    yield order(
        "the heuristic of choice: MCT, regular where others use the clusters too", source, "MCT",
        f"dedicated {shown(dedicated, 'relative_response')}; else {shown(found, 'relative_response')}",
        [*alone, *rest], "mean responses: MinMin above MCT where dedicated, all others above MCT-reg else",
    )  # fmt: skip


def other_claims(
    fast: Campaign,
    equal: Campaign,
    tuned: Numbers,
    heuristics: Mapping[str, Sequence[float]],
    periods: Mapping[int, Sequence[float]],
) -> list[Claim]:
    """Speeds, the binary search, other heuristics and periods by seed, and what cannot be tested."""
    gained = {
        c: mean_of(100 * (fast.by_scenario(name, c) - equal.by_scenario(name, c)))
        for c in COUPLES
        for name in ("relative_response",)
    }
    seconds = {c: float(np.mean(fast.values("seconds", c))) for c in COUPLES}
    asked = {c: float(np.mean(fast.values("estimates", c))) for c in COUPLES}
    more = {mode: asked[f"MinMin-{mode}"] / asked[f"MCT-{mode}"] for mode in ("reg", "can")}
    simple = np.minimum(heuristics["mct"], heuristics["minmin"])
    others = {name: np.array(v) - simple for name, v in heuristics.items() if name not in ("mct", "minmin")}
    shortest, usual = min(periods), max(periods)
    return [
        order(
            "with clusters of equal speed gains are usually better by a few percents",
            "section 5.3 (numbers in a research report)", "a few percents",
            ", ".join(f"{c} {one.text(' points', sign=True)}" for c, one in gained.items()),
            list(gained.values()),
        ),
        number(
            'the binary search gives "the same as the exhaustive search", bad cases are rare',
            "section 3.2.1", 100, share_of(round(tuned["same"] * tuned["tasks"]), tuned["tasks"]),
            f"tasks that get the same size, asked in the same state of the grid, of {tuned['tasks']:,} drawn "
            "evenly from one scenario, equal speeds; completed no later by it: "
            f"{100 * tuned['as_good']:.0f} %",
            digits=0, paper="the same",
        ),
        always(
            "MinMin is too complex in time", "section 5.3", "too slow to react",
            f"asks for {more['reg']:.2f} times (regular) and {more['can']:.2f} times (cancel) as many "
            f"estimates as MCT; a whole run takes {max(seconds.values()):.2f} s at most in the mean",
            [*(ratio > 1 for ratio in more.values()), max(seconds.values()) > TOO_SLOW],
            f"more estimates in both; too slow: more than {TOO_SLOW} s for a whole run",
        ),
        order(
            "MaxMin, Sufferage, MaxGain and MaxRelGain are no better", "section 5.3 (an earlier paper)",
            "did not prove better than MCT or MinMin",
            ", ".join(f"{name} {float(np.mean(values)):.3f}" for name, values in heuristics.items()),
            [mean_of(values + TIE) for values in others.values()],
            "relative response of all tasks, regular, one scenario, by seed; half a percent is a tie",
        ),
        number(
            f"a smaller period than an hour does not change the results: {shortest} s as {usual} s",
            "section 3.2.2 (an earlier paper)", 100 * (1 - float(np.mean(periods[usual]))),
            mean_of(100 * (1 - np.array(periods[shortest]))),
            "gain in the mean response of all tasks, MCT-reg, by seed; relative responses "
            + ", ".join(f"{period} s {float(np.mean(v)):.3f}" for period, v in sorted(periods.items())),
            sign=True,
        ),
        untested(
            "what happened in single months (February, March, April, June)",
            "several statements",
            "the logs of Grid'5000 in 2008 are not at hand; ours are generated",
            "section 5",
        ),
    ]  # fmt: skip


def _mean(held: Sequence[bool]) -> float:
    return float(np.mean(held)) if len(held) else float("nan")


def _pairs(found: Campaign, metric: str) -> Sequence[tuple[float, float]]:
    """Regular and all-cancellation with the same heuristic, scenario and seed."""
    values = {(name, couple, seed): value for name, couple, seed, value in found.experiments(metric)}
    return [
        (value, values[name, couple.replace("-reg", "-can"), seed])
        for (name, couple, seed), value in values.items()
        if couple in REGULAR and (name, couple.replace("-reg", "-can"), seed) in values
    ]


def _always(found: Campaign, metric: str, more: bool) -> str:
    pairs = _pairs(found, metric)
    share = float(np.mean([(can > reg) == more and can != reg for reg, can in pairs])) if pairs else 0.0
    return "always" if share == 1 else f"in {share_text(share)} of the runs"
