"""What the paper says of its runs, what ours say, and the verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from headway.papers.kept import Numbers
from headway.papers.reallocation.examples import FIGURE_2_PAPER, figure_2_completions, figure_2_tuned
from headway.papers.reallocation.runs import COUPLES, Campaign
from headway.papers.reallocation.scenarios import MONTHS, PWA, ROW_SUMS
from headway.papers.verdicts import Claim, direction, level, not_claimed, share_text, untested
from headway.workload.models.speedup import amdahl
from headway.workload.transform.moldable import TYPES_OF_JOBS

REGULAR, CANCEL = ("MCT-reg", "MinMin-reg"), ("MCT-can", "MinMin-can")
TIE = 0.005
"""Relative responses that differ by less are equal."""
TOO_SLOW = 60
"""Seconds of one core for all reallocations of months, beyond which an agent would be slow to react."""
Means = dict[str, dict[str, float]]
"""Of each couple, the means of its runs by name."""
FAR = 2.0
"""What is more than so many times as much is more by far."""


def exact_claims(asked: int, runs: int, references: int) -> list[Claim]:
    """Those that need no campaign: arithmetic and the worked example; and how many runs there were."""
    done = figure_2_completions()
    same = [round(done[n], 2) == said for n, said in FIGURE_2_PAPER.items()]
    binary, bounded = figure_2_tuned("binary"), figure_2_tuned("bounded")
    found = [*same, binary == (2, 6.5), bounded == (4, 1.75)]
    limits = [float(amdahl(p, limit)) for p, limit, _ in TYPES_OF_JOBS]
    rows = [sum(counts) for _, _, counts in MONTHS]
    bordeaux = sum(counts[0] for _, _, counts in MONTHS)
    minutes = ", ".join(f"{done[n]:.4g}" for n in (1, 5, 3, 2))
    return [
        Claim(
            "completions on 1, 5, 3 and 2 processors, and the best, which the binary search misses",
            "7, 7.4, 7.33, 6.5; 1.75 min on 4",
            f"{minutes}; {done[4]:.4g} min on 4; binary takes {binary[0]}, bounded {bounded[0]}",
            direction(found),
            "the load is reconstructed",
            "number",
            "section 3.2.1, Figure 2",
        ),
        Claim(
            "estimations for a task of up to 650 processors",
            "650 exhaustive, 10 binary",
            f"650, {asked}",
            "agrees" if asked == 10 else "differs",
            "both ends and ten halvings: 12 on an empty cluster",
            "number",
            "section 3.2.1",
        ),
        not_claimed(
            "speedups of t1 to t4 at their limits",
            "(drawn)",
            ", ".join(f"{value:.3g}" for value in limits),
            "limits 5, 10, 100, 1000 for many processors",
            "Figure 4",
        ),
        Claim(
            "the rows of jobs per month add up",
            ", ".join(map(str, ROW_SUMS)),
            ", ".join(map(str, rows)),
            direction([a == b for a, b in zip(ROW_SUMS, rows, strict=True)]),
            "",
            "number",
            "Table 1",
        ),
        Claim(
            "jobs of Bordeaux in six months, and of PWA-G5K",
            "74647; 133135",
            f"{bordeaux}; {PWA.total}",
            direction([bordeaux == 74647, PWA.total == 133135]),
            "the table's column has 41 more than the text says",
            "number",
            "Table 1, section 4.2",
        ),
        not_claimed(
            "number of experiments",
            "574 (564 in the conclusion)",
            f"{runs} runs and {references} references, with speeds and without",
            "the paper counts 14 references; each seed draws other types, so each has its own",
            "sections 4.5 and 6",
        ),
    ]


def dedicated_claims(found: Campaign) -> list[Claim]:
    """Section 5.1."""
    mean = {c: _means(found, c) for c in COUPLES}
    return [*_moved(found, mean), *_earlier(found, mean), *_responses(found, mean)]


def _moved(found: Campaign, mean: Means) -> Iterator[Claim]:
    """Figures 6 and 7: who is impacted, and how many are moved."""
    source = "section 5.1"
    impacted = [value for *_, value in found.experiments("impacted")]
    inside = [0.25 <= value <= 1 for value in impacted]
    yield Claim(
        "impacted tasks",
        "25 to 95 %, almost all in six runs",
        f"{share_text(min(impacted))} to {share_text(max(impacted))}",
        direction(inside),
        f"{share_text(_mean(inside))} of the runs have 25 % or more",
        "number",
        f"{source}, Figure 6",
    )
    most = max(mean, key=lambda c: mean[c]["impacted"])
    above = min(mean[c]["impacted"] for c in CANCEL) > max(mean[c]["impacted"] for c in REGULAR)
    yield Claim(
        "all-cancellation usually impacts more tasks; MinMin-can most",
        "MinMin-can",
        most,
        direction([most == "MinMin-can", above]),
        tested="order",
        source=source,
    )
    reg = [v for c in REGULAR for v in found.values("reallocations", c)]
    yield Claim(
        "reallocations of the regular algorithms",
        "less than 15 %",
        f"at most {share_text(max(reg))}",
        direction([value < 0.15 for value in reg]),
        tested="number",
        source=f"{source}, Figure 7",
    )
    most_moved = max(v for c in CANCEL for v in found.values("reallocations", c))
    yield Claim(
        "reallocations of all-cancellation",
        "as high as 50 %",
        f"at most {share_text(most_moved)}",
        level(50, 100 * most_moved),
        tested="number",
        source=f"{source}, Figure 7",
    )
    yield Claim(
        "all-cancellation always reallocates more",
        "always",
        _always(found, "reallocations", True),
        direction([can > reg for reg, can in _pairs(found, "reallocations")]),
        tested="direction",
        source=source,
    )


def _earlier(found: Campaign, mean: Means) -> Iterator[Claim]:
    """Figure 8: how many of the impacted tasks end earlier."""
    source = "section 5.1"
    said = "all but 3 runs, and April without cancellation"
    yield _mostly_early(found, "more tasks early than late", said, f"{source}, Figure 8")
    early = {c: mean[c]["early"] for c in COUPLES}
    order = ["MinMin-reg", "MCT-reg", "MinMin-can", "MCT-can"]
    yield Claim(
        "early tasks by couple",
        " < ".join(order),
        " < ".join(f"{c} {share_text(early[c])}" for c in sorted(early, key=lambda c: early[c])),
        direction([early[a] < early[b] for a, b in pairwise(order)]),
        tested="order",
        source=source,
    )
    most = max(value for *_, value in found.experiments("early"))
    yield Claim(
        "early tasks at most",
        "64 % (MCT-can)",
        share_text(most),
        level(64, 100 * most),
        tested="number",
        source=source,
    )


def _mostly_early(found: Campaign, claim: str, paper: str, source: str) -> Claim:
    """In how many of the runs more of the impacted tasks end earlier than later."""
    mostly = [value > 0.5 for *_, value in found.experiments("early")]
    ours = f"{share_text(_mean(mostly))} of the runs"
    return Claim(claim, paper, ours, direction(mostly), tested="direction", source=source)


def _responses(found: Campaign, mean: Means) -> Iterator[Claim]:
    """Figure 9: by how much responses are shorter."""
    source = "section 5.1"
    response = {c: mean[c]["relative_response"] for c in COUPLES}
    gains = [1 - v for c in COUPLES if c != "MinMin-reg" for v in found.values("relative_response", c)]
    between = [0.1 <= gain <= 0.4 for gain in gains]
    yield Claim(
        "most gains in response are between 10 and 40 % (MinMin-reg apart)",
        "most",
        f"{share_text(_mean(between))} of the runs; mean gains "
        + ", ".join(f"{c} {share_text(1 - response[c])}" for c in COUPLES),
        direction(between),
        "the load of the logs decides: see below",
        "number",
        f"{source}, Figure 9",
    )
    best = min(response, key=lambda c: response[c])
    yield Claim(
        "the couple with the best response on average",
        "MCT-can",
        best,
        "agrees" if best == "MCT-can" else "differs",
        tested="order",
        source=source,
    )
    worse = {c: [v for v in found.values("relative_response", c) if v > 1] for c in COUPLES}
    loss = max([v - 1 for v in worse["MCT-reg"]], default=0.0)
    yield Claim(
        "runs with a worse response",
        "3 of MCT-reg (by < 5 %), 3 of MinMin-reg, none with cancellation",
        ", ".join(f"{c} {len(values)}" for c, values in worse.items()),
        direction([*(not worse[c] for c in CANCEL), loss < 0.05]),
        f"tested: none with cancellation; a loss of less than 5 % for MCT-reg (here {100 * loss:.1f} %)",
        "direction",
        source,
    )
    yield Claim(
        "all-cancellation is better than regular in response",
        "in all but one scenario and couple",
        _always(found, "relative_response", False),
        direction([can < reg for reg, can in _pairs(found, "relative_response")]),
        tested="direction",
        source=source,
    )


def shared_claims(found: Campaign, dedicated: Campaign) -> list[Claim]:
    """Section 5.2."""
    mean = {c: _means(found, c) for c in COUPLES}
    alone = {c: _means(dedicated, c)["relative_response"] for c in COUPLES}
    return [
        *_moved_with_others(found, mean),
        *_earlier_with_others(found, mean),
        *_responses_with_others(found, mean, alone),
        *_choice(found, dedicated, mean, alone),
    ]


def _moved_with_others(found: Campaign, mean: Means) -> Iterator[Claim]:
    """Figures 10 and 11."""
    source = "section 5.2"
    impacted = [float(np.mean([mean[c]["impacted"] for c in couples])) for couples in (REGULAR, CANCEL)]
    yield Claim(
        "all-cancellation impacts more tasks, by a really small difference",
        "more, a small difference",
        f"regular {share_text(impacted[0])}, all-cancellation {share_text(impacted[1])}",
        direction([impacted[1] > impacted[0], level(100 * impacted[0], 100 * impacted[1]) == "agrees"]),
        "small: at most five points",
        "number",
        f"{source}, Figure 10",
    )
    moves = [value for *_, value in found.experiments("reallocations")]
    often = [value < 0.01 for value in moves]
    yield Claim(
        "reallocations below 1 % of the tasks",
        "in a lot of cases",
        f"in {share_text(_mean(often))} of the runs; median {100 * float(np.median(moves)):.1f} %, at most "
        f"{share_text(max(moves))}",
        direction(often),
        tested="number",
        source=f"{source}, Figure 11",
    )
    reg, can = (float(np.mean([mean[c]["reallocations"] for c in couples])) for couples in (REGULAR, CANCEL))
    yield Claim(
        "all-cancellation always reallocates more, but not by far",
        "not by far",
        f"regular {100 * reg:.1f} %, all-cancellation {100 * can:.1f} %: {can / max(reg, 1e-9):.1f} times",
        "agrees" if reg <= can < FAR * reg else "differs",
        f"by far: more than {FAR:g} times",
        "direction",
        source,
    )


def _earlier_with_others(found: Campaign, mean: Means) -> Iterator[Claim]:
    """Figure 12."""
    source = "section 5.2"
    claim = "more than half of the impacted tasks early"
    yield _mostly_early(found, claim, "in all but two runs", f"{source}, Figure 12")
    early = float(np.mean([value for *_, value in found.experiments("early")]))
    yield Claim(
        "early among the impacted",
        "close to 70 % in most runs",
        f"mean {share_text(early)}",
        level(70, 100 * early),
        tested="number",
        source=source,
    )
    yield Claim(
        "all-cancellation has fewer early tasks than regular",
        "fewer",
        ", ".join(f"{c} {share_text(mean[c]['early'])}" for c in COUPLES),
        direction([mean[c]["early"] < mean[c.replace("-can", "-reg")]["early"] for c in CANCEL]),
        tested="direction",
        source=source,
    )


def _responses_with_others(found: Campaign, mean: Means, alone: dict[str, float]) -> Iterator[Claim]:
    """Figure 13."""
    source = "section 5.2"
    response = [value for *_, value in found.experiments("relative_response")]
    ends = [level(50, 100 * min(response)) == "agrees", level(140, 100 * max(response)) == "agrees"]
    yield Claim(
        "response",
        "from divided by more than two to 40 % more",
        f"from x {min(response):.2f} to x {max(response):.2f}",
        direction(ends),
        "both ends",
        "number",
        f"{source}, Figure 13",
    )
    shared = {c: mean[c]["relative_response"] for c in COUPLES}
    yield Claim(
        "the couples are close to one another in response",
        "close",
        ", ".join(f"{c} {value:.3f}" for c, value in shared.items()),
        level(100 * min(shared.values()), 100 * max(shared.values())),
        "close: within five points",
        "number",
        f"{source}, Figure 13",
    )
    averages = {
        (name, c): float(np.mean(values))
        for name in {n for n, *_ in found.experiments("early")}
        for c in COUPLES
        if (values := found.values("relative_response", c, name))
    }
    negative = sorted(f"{name} {couple}" for (name, couple), value in averages.items() if value >= 1)
    yield Claim(
        "the average gain is positive",
        "on all experiments",
        "always" if not negative else f"not for {len(negative)} of {len(averages)} scenarios and couples",
        direction([value < 1 for value in averages.values()]),
        "; ".join(negative[:6]),
        "direction",
        source,
    )
    spread = {c: max(v) - min(v) for c in COUPLES if (v := found.values("relative_response", c))}
    yield Claim(
        "all-cancellation has the smaller range of gains",
        "usually",
        ", ".join(f"{c} {value:.2f}" for c, value in spread.items()),
        direction([spread[c] < spread[c.replace("-can", "-reg")] for c in CANCEL]),
        tested="direction",
        source=source,
    )
    together, apart = float(np.mean(list(shared.values()))), float(np.mean(list(alone.values())))
    yield Claim(
        "gains are larger on dedicated platforms",
        "larger",
        f"relative response {apart:.3f} dedicated, {together:.3f} not",
        direction([apart < together]),
        tested="direction",
        source="section 1",
    )


def _choice(found: Campaign, dedicated: Campaign, mean: Means, alone: dict[str, float]) -> Iterator[Claim]:
    """Whether all tasks end, and which heuristic to choose."""
    source = "section 5.3"
    every = [*found.numbers.values(), *dedicated.numbers.values()]
    starving, starving_alone = (
        sum(int(n["starving_tasks"] > 0) for n in campaign.numbers.values())
        for campaign in (found, dedicated)
    )
    yield Claim(
        "no task is delayed indefinitely",
        "none",
        f"put back at most {max(n['most_put_back'] for n in every)} times; in {starving_alone} dedicated and "
        f"{starving} other runs some tasks five times or more",
        direction([n["most_put_back"] < max(n["reallocation_events"], 1) for n in every]),
        "every task of every run ended; none was put back at every reallocation of its run",
        "direction",
        source,
    )
    best = min(mean, key=lambda c: mean[c]["relative_response"])
    best_alone = min(alone, key=lambda c: alone[c])
    yield Claim(
        "the heuristic of choice: MCT, regular where others use the clusters too",
        "MCT",
        f"dedicated {best_alone}, else {best}",
        direction([best_alone in ("MCT-reg", "MCT-can"), best == "MCT-reg"]),
        "the best mean response",
        "order",
        source,
    )


def other_claims(
    fast: Campaign, equal: Campaign, tuned: Numbers, heuristics: Numbers, periods: dict[int, float]
) -> list[Claim]:
    """Speeds, the binary search, other heuristics and periods, and what cannot be tested."""
    with_speeds = {c: _means(fast, c)["relative_response"] for c in COUPLES}
    without = {c: _means(equal, c)["relative_response"] for c in COUPLES}
    gained = [with_speeds[c] - without[c] for c in COUPLES]
    seconds = {c: float(np.mean(fast.values("seconds", c))) for c in COUPLES}
    asked = {c: float(np.mean(fast.values("estimates", c))) for c in COUPLES}
    more = {mode: asked[f"MinMin-{mode}"] / asked[f"MCT-{mode}"] for mode in ("reg", "can")}
    simple = min(heuristics["mct"], heuristics["minmin"])
    others = {name: value for name, value in heuristics.items() if name not in ("mct", "minmin")}
    shortest, usual = min(periods), max(periods)
    return [
        Claim(
            "with clusters of equal speed gains are usually better by a few percents",
            "a few percents",
            f"{100 * float(np.mean(gained)):+.1f} points on average",
            direction([one > 0 for one in gained]),
            "",
            "direction",
            "section 5.3 (numbers in a research report)",
        ),
        Claim(
            'the binary search gives "the same as the exhaustive search", bad cases are rare',
            "the same",
            f"the same size for {100 * tuned['same']:.0f} % of {tuned['tasks']:,} tasks, asked in the same "
            "state of the grid",
            level(100, 100 * tuned["same"]),
            f"completed no later by it: {100 * tuned['as_good']:.0f} %; drawn evenly from one scenario, "
            "equal "
            "speeds",
            "number",
            "section 3.2.1",
        ),
        Claim(
            "MinMin is too complex in time",
            "too slow to react",
            f"asks for {more['reg']:.2f} times (regular) and {more['can']:.2f} times (cancel) as many "
            f"estimates as MCT; a whole run takes {max(seconds.values()):.2f} s at most in the mean",
            direction([*(ratio > 1 for ratio in more.values()), max(seconds.values()) > TOO_SLOW]),
            f"more estimates in both; too slow: more than {TOO_SLOW} s for a whole run",
            "direction",
            "section 5.3",
        ),
        Claim(
            "MaxMin, Sufferage, MaxGain and MaxRelGain are no better",
            "did not prove better than MCT or MinMin",
            ", ".join(f"{name} {value:.3f}" for name, value in heuristics.items()),
            direction([value >= simple - TIE for value in others.values()]),
            "relative response of all tasks, regular, one scenario; half a percent is a tie",
            "order",
            "section 5.3 (an earlier paper)",
        ),
        Claim(
            "a smaller period than an hour does not change the results",
            "did not change",
            ", ".join(f"{period} s {value:.3f}" for period, value in sorted(periods.items())),
            level(100 * periods[usual], 100 * periods[shortest]),
            "relative response of all tasks, MCT-reg; shorter periods are better by that much and move more",
            "number",
            "section 3.2.2 (an earlier paper)",
        ),
        untested(
            "what happened in single months (February, March, April, June)",
            "several statements",
            "the logs of Grid'5000 in 2008 are not at hand; ours are generated",
            "section 5",
        ),
    ]


def _mean(held: Sequence[bool]) -> float:
    return float(np.mean(held)) if len(held) else float("nan")


def _means(found: Campaign, couple: str) -> dict[str, float]:
    names = ("impacted", "reallocations", "early", "relative_response")
    return {name: float(np.mean(found.values(name, couple) or [np.nan])) for name in names}


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
