"""What the paper says of its runs, what ours say, and the verdicts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headway.papers.reallocation.examples import FIGURE_2_PAPER, figure_2_completions, figure_2_tuned
from headway.papers.reallocation.runs import COUPLES, Campaign, Numbers
from headway.papers.reallocation.scenarios import MONTHS, PWA, ROW_SUMS
from headway.papers.verdicts import Claim, Verdict, share_text
from headway.workload.models.speedup import amdahl
from headway.workload.transform.moldable import TYPES_OF_JOBS

REGULAR, CANCEL = ("MCT-reg", "MinMin-reg"), ("MCT-can", "MinMin-can")


def judged(agrees: bool, in_part: bool = False) -> Verdict:
    return "agrees" if agrees else "in part" if in_part else "differs"


def exact_claims(asked: int) -> list[Claim]:
    """Those that need no runs: arithmetic and the worked example."""
    done = figure_2_completions()
    same = all(round(done[n], 2) == said for n, said in FIGURE_2_PAPER.items())
    binary, bounded = figure_2_tuned("binary"), figure_2_tuned("bounded")
    found = same and binary == (2, 6.5) and bounded == (4, 1.75)
    limits = [float(amdahl(p, limit)) for p, limit, _ in TYPES_OF_JOBS]
    rows = [sum(counts) for _, _, counts in MONTHS]
    bordeaux = sum(counts[0] for _, _, counts in MONTHS)
    minutes = ", ".join(f"{done[n]:.4g}" for n in (1, 5, 3, 2))
    return [
        Claim(
            "Fig. 2: completions on 1, 5, 3 and 2 processors, and the best, which the binary search misses",
            "7, 7.4, 7.33, 6.5; 1.75 min on 4",
            f"{minutes}; {done[4]:.4g} min on 4; binary takes {binary[0]}, bounded {bounded[0]}",
            judged(found),
            "the load is reconstructed",
        ),
        Claim(
            "Estimations for a task of up to 650 processors", "650 exhaustive, 10 binary", f"650, {asked}",
            judged(asked == 10, asked <= 12), "both ends and ten halvings: 12 on an empty cluster",
        ),
        Claim(
            "Fig. 4: speedups of t1 to t4 at their limits", "(drawn)",
            ", ".join(f"{value:.3g}" for value in limits), "agrees",
            "limits 5, 10, 100, 1000 for many processors",
        ),
        Claim(
            "Table 1: the rows add up", ", ".join(map(str, ROW_SUMS)), ", ".join(map(str, rows)),
            judged(tuple(rows) == ROW_SUMS),
        ),
        Claim(
            "Jobs of Bordeaux in six months, and of PWA-G5K", "74647; 133135", f"{bordeaux}; {PWA.total}",
            judged(False, True), "the table's column has 41 more than the text says",
        ),
        Claim(
            "Number of experiments", "574 (564 in the conclusion)", f"{14 + 2 * 2 * 7 * 2 * 10}", "in part",
            "the reference depends on the seed: 140 references, 700 runs with speeds, as many without",
        ),
    ]  # fmt: skip


def dedicated_claims(found: Campaign) -> list[Claim]:
    """Section 5.1."""
    mean = {c: _means(found, c) for c in COUPLES}
    impacted = [value for *_, value in found.experiments("impacted")]
    inside = float(np.mean([0.25 <= value <= 1 for value in impacted]))
    reg = [v for c in REGULAR for v in found.values("reallocations", c)]
    can = [v for c in CANCEL for v in found.values("reallocations", c)]
    early = {c: mean[c]["early"] for c in COUPLES}
    mostly = float(np.mean([value > 0.5 for *_, value in found.experiments("early")]))
    response = {c: mean[c]["relative_response"] for c in COUPLES}
    ranked = sorted(early, key=lambda c: early[c])
    gains = [1 - v for c in COUPLES if c != "MinMin-reg" for v in found.values("relative_response", c)]
    between = float(np.mean([0.1 <= gain <= 0.4 for gain in gains]))
    worse = {c: [v for v in found.values("relative_response", c) if v > 1] for c in COUPLES}
    loss = max([v - 1 for v in worse["MCT-reg"]], default=0.0)
    return [
        Claim(
            "Impacted tasks, dedicated", "25 to 95 %, almost all in six runs",
            f"{share_text(min(impacted))} to {share_text(max(impacted))}", judged(inside == 1, inside > 0.5),
            f"{share_text(inside)} of the runs have 25 % or more",
        ),
        Claim(
            "All-cancellation impacts more tasks; MinMin-can most", "MinMin-can",
            max(mean, key=lambda c: mean[c]["impacted"]),
            judged(
                max(mean, key=lambda c: mean[c]["impacted"]) == "MinMin-can",
                min(mean[c]["impacted"] for c in CANCEL) > max(mean[c]["impacted"] for c in REGULAR),
            ),
        ),
        Claim(
            "Reallocations, dedicated", "regular < 15 %, all-cancellation up to 50 %",
            f"regular at most {share_text(max(reg))}, all-cancellation at most {share_text(max(can))}",
            judged(max(reg) < 0.15 and max(can) <= 0.6, max(reg) < 0.15),
        ),
        Claim(
            "All-cancellation always reallocates more", "always", _always(found, "reallocations", True),
            judged(_always(found, "reallocations", True) == "always", True),
        ),
        Claim(
            "More tasks early than late in most runs", "all but 3 runs and April without cancellation",
            f"{share_text(mostly)} of the runs",
            judged(mostly > 0.9, mostly > 0.5),
        ),
        Claim(
            "Early tasks: MinMin-reg < MCT-reg < MinMin-can < MCT-can (up to 64 %)",
            "MinMin-reg, MCT-reg, MinMin-can, MCT-can",
            ", ".join(f"{c} {share_text(early[c])}" for c in ranked),
            judged(ranked == ["MinMin-reg", "MCT-reg", "MinMin-can", "MCT-can"], ranked[-1] == "MCT-can"),
        ),
        Claim(
            "Most gains in response are between 10 and 40 % (MinMin-reg apart)", "most",
            f"{share_text(between)} of the runs; mean gains "
            + ", ".join(f"{c} {share_text(1 - response[c])}" for c in COUPLES),
            judged(between > 0.5, all(value < 1 for value in response.values())),
            "the load of the logs decides: see below" if between <= 0.5 else "",
        ),
        Claim(
            "MCT-can has the best response on average", "MCT-can", min(response, key=lambda c: response[c]),
            judged(min(response, key=lambda c: response[c]) == "MCT-can"),
        ),
        Claim(
            "Runs with a worse response", "3 of MCT-reg (by < 5 %), 3 of MinMin-reg, none with cancellation",
            ", ".join(f"{c} {len(values)}" for c, values in worse.items()),
            judged(not any(worse[c] for c in CANCEL) and loss < 0.05, loss < 0.05),
            f"MCT-reg loses at most {100 * loss:.1f} %",
        ),
        Claim(
            "All-cancellation is better than regular in response", "in all but one scenario and couple",
            _always(found, "relative_response", False),
            judged(_better(found) > 0.9, _better(found) > 0.5),
        ),
    ]  # fmt: skip


def shared_claims(found: Campaign, dedicated: Campaign) -> list[Claim]:
    """Section 5.2."""
    moves = [value for *_, value in found.experiments("reallocations")]
    early = [value for *_, value in found.experiments("early")]
    mostly = float(np.mean([value > 0.5 for value in early]))
    response = [value for *_, value in found.experiments("relative_response")]
    mean = {c: _means(found, c) for c in COUPLES}
    alone = {c: _means(dedicated, c)["relative_response"] for c in COUPLES}
    positive = [
        (name, c) for name in {n for n, *_ in found.experiments("early")} for c in COUPLES
        if np.mean(found.values("relative_response", c, name)) >= 1
    ]  # fmt: skip
    spread = {c: max(v) - min(v) for c in COUPLES if (v := found.values("relative_response", c))}
    together = float(np.mean([mean[c]["relative_response"] for c in COUPLES]))
    starving = sum(int(n["starving_tasks"] > 0) for n in found.numbers.values())
    starving_alone = sum(int(n["starving_tasks"] > 0) for n in dedicated.numbers.values())
    return [
        Claim(
            "Reallocations, not dedicated", "often < 1 %",
            f"median {100 * float(np.median(moves)):.1f} %, at most {share_text(max(moves))}",
            judged(float(np.median(moves)) < 0.01, float(np.median(moves)) < 0.05),
        ),
        Claim(
            "All-cancellation reallocates more, not by far", "not by far",
            f"regular {100 * np.mean([mean[c]['reallocations'] for c in REGULAR]):.1f} %, "
            f"all-cancellation {100 * np.mean([mean[c]['reallocations'] for c in CANCEL]):.1f} %",
            judged(
                np.mean([mean[c]["reallocations"] for c in CANCEL])
                < 2 * np.mean([mean[c]["reallocations"] for c in REGULAR]),
                _always(found, "reallocations", True) == "always",
            ),
        ),
        Claim(
            "More than half of the impacted tasks early", "in all but two runs, mostly about 70 %",
            f"{share_text(mostly)} of the runs, mean {share_text(float(np.mean(early)))}",
            judged(mostly > 0.95, float(np.mean(early)) > 0.5),
        ),
        Claim(
            "All-cancellation has fewer early tasks than regular", "fewer",
            ", ".join(f"{c} {share_text(mean[c]['early'])}" for c in COUPLES),
            judged(
                max(mean[c]["early"] for c in CANCEL) < min(mean[c]["early"] for c in REGULAR),
                sum(mean[c]["early"] for c in CANCEL) < sum(mean[c]["early"] for c in REGULAR),
            ),
        ),
        Claim(
            "Response, not dedicated", "from halved to 40 % more",
            f"from x {min(response):.2f} to x {max(response):.2f}",
            judged(min(response) <= 0.6 and max(response) <= 1.5, max(response) <= 1.5),
        ),
        Claim(
            "The average gain is positive for every scenario and couple", "always",
            "always" if not positive else f"not for {len(positive)} of {4 * len(found.scenarios)}",
            judged(not positive, len(positive) <= len(found.scenarios)),
            "" if not positive else "; ".join(f"{name} {couple}" for name, couple in sorted(positive)[:6]),
        ),
        Claim(
            "All-cancellation has the smaller range of gains", "usually",
            ", ".join(f"{c} {value:.2f}" for c, value in spread.items()),
            judged(max(spread[c] for c in CANCEL) < min(spread[c] for c in REGULAR)),
        ),
        Claim(
            "Gains are larger on dedicated platforms", "larger",
            f"relative response {np.mean(list(alone.values())):.3f} dedicated, "
            f"{together:.3f} not",
            judged(float(np.mean(list(alone.values()))) < together),
        ),
        Claim(
            "No task starved in the simulations", "none",
            f"none for ever; some were put back five times or more in {starving_alone} dedicated and "
            f"{starving} other runs",
            judged(starving + starving_alone == 0, True),
            "the paper calls starving what never starts",
        ),
        Claim(
            "The recommended couples: MCT, regular where others use the clusters too", "MCT-reg or MCT-can",
            f"dedicated {min(alone, key=lambda c: alone[c])}, else "
            f"{min(mean, key=lambda c: mean[c]['relative_response'])}",
            judged(
                min(alone, key=lambda c: alone[c]) in ("MCT-reg", "MCT-can")
                and min(mean, key=lambda c: mean[c]["relative_response"]) == "MCT-reg",
                min(mean, key=lambda c: mean[c]["relative_response"]) in REGULAR,
            ),
        ),
    ]  # fmt: skip


def other_claims(fast: Campaign, equal: Campaign, tuned: Numbers) -> list[Claim]:
    """Speeds, the binary search, and what cannot be tested."""
    with_speeds = {c: _means(fast, c)["relative_response"] for c in COUPLES}
    without = {c: _means(equal, c)["relative_response"] for c in COUPLES}
    gained = float(np.mean([with_speeds[c] - without[c] for c in COUPLES]))
    return [
        Claim(
            "With clusters of equal speed gains are better by a few percents", "a few percents",
            f"{100 * gained:+.1f} points on average", judged(0 < gained < 0.1, gained > 0),
        ),
        Claim(
            "The binary search finds what the exhaustive search finds", "the same, bad cases are rare",
            f"the same size for {100 * tuned['same']:.1f} % of {tuned['tasks']:,} tasks",
            judged(tuned["same"] > 0.99, tuned["same"] > 0.9),
            f"in two whole runs, which drift apart; completed no later {100 * tuned['as_good']:.1f} %, mean "
            f"response with the binary search {100 * (tuned['response'] - 1):+.1f} %",
        ),
        Claim(
            "What happened in single months (February, March, April, June)", "several statements",
            "-", "not tested", "the logs of Grid'5000 in 2008 are not at hand; ours are generated",
        ),
    ]  # fmt: skip


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


def _better(found: Campaign) -> float:
    """How often all-cancellation has the smaller relative response."""
    pairs = _pairs(found, "relative_response")
    return float(np.mean([can < reg for reg, can in pairs])) if pairs else 0.0


def _always(found: Campaign, metric: str, more: bool) -> str:
    pairs = _pairs(found, metric)
    share = float(np.mean([(can > reg) == more and can != reg for reg, can in pairs])) if pairs else 0.0
    return "always" if share == 1 else f"in {share_text(share)} of the runs"
