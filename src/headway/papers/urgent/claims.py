"""What the slides claim, with our numbers and a verdict on each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from headway.papers.log import Log
from headway.papers.urgent.logs import DEADLINE, TITLES, TSUNAMI
from headway.papers.urgent.runs import Run, Runs
from headway.papers.urgent.tables import (
    POLICIES,
    REPORTED,
    REPORTED_PREEMPTIONS,
    SCALES,
    largest,
    number,
    scaled,
)
from headway.papers.verdicts import Claim, Verdict
from headway.workload.transform.swap_model import fits, suspects
from headway.workload.transform.swap_table import SWAP_TABLE

SAME = 1.0
"""Percent of the mean response within which regular jobs count as unaffected."""
NEAR_ONE = 1.05


def claims(runs: Runs, logs: Sequence[Log]) -> list[Claim]:
    """All of them, in the order of the slides."""
    found = [*_exact(), *_swap_model()]
    for log in logs:
        found += [_without(runs, log), *_order(runs, log), _near_one(runs, log), _regular(runs, log)]
        found += [_swaps_regular(runs, log), _swaps_urgent(runs, log), _margin(runs, log)]
    known = {log.name for log in logs}
    found += [
        Claim(f"{title}: Figures 10, 11 and 13", "figures", "-", "not tested", f"give --trace {name}=FILE")
        for name, title in TITLES.items()
        if name not in known
    ]
    private = "the log is not public, nor are its size, the arrivals and the swap sizes"
    found.append(Claim("Table 2, absolute values on SX-ACE", _reported(), "-", "not tested", private))
    found.append(
        Claim(
            "Figures 14 to 16, the DWD workload",
            "figures",
            "-",
            "not tested",
            private,
        )
    )
    return found


def _reported() -> str:
    return ", ".join(f"{name} {value:g}" for name, value in REPORTED.items())


def _exact() -> Iterator[Claim]:
    ours = ", ".join(f"{DEADLINE / seconds:.2f}" for _, seconds in TSUNAMI)
    yield Claim("Table 1: slowdown up to which a tsunami job is in time", "1, 1.54, 2.5", ours, "agrees")


def _swap_model() -> Iterator[Claim]:
    all_points, sound = fits()[:2]
    odd = ", ".join(f"{point[1]} in class {point[0]}" for point, _ in suspects())
    yield Claim(
        "Table 3: swap time grows with size",
        "measured",
        f"R² {all_points.r2:.3f}; {sound.r2:.3f} without {odd}",
        "agrees",
        f"those two times are far off the line of their class ({sound.bandwidth:.0f} MB/s in all)",
    )
    longest, shortest = max(point[3] for point in SWAP_TABLE), min(seconds for _, seconds in TSUNAMI)
    most = 1 + longest / shortest
    yield Claim(
        "Table 2: U_L of UJFB is 1.05",
        "1.05",
        f"at most {most:.4f} by swaps alone",
        "differs",
        f"the longest swap of Table 3, {longest:g} s, before the shortest job, {shortest:g} s; so there must "
        "have been waiting, shorter jobs or larger swaps",
    )


def _without(runs: Runs, log: Log) -> Claim:
    found = runs.get(log, Run("conservative(compress=scratch)"))
    late = found["urgent_deadlines_missed"] / found["urgent_jobs"]
    both = [found["urgent_slowdowns"][len(found["urgent_slowdowns"]) // 2], found["regular_slowdowns"]]
    middle = both[1][len(both[1]) // 2]
    verdict: Verdict = "agrees" if found["urgent_lateness"] > 2.5 and late > 0.1 else "differs"
    return Claim(
        f"{log.title}: without special treatment urgent jobs are delayed like others (Figure 3)",
        "figure",
        f"U_L {number(found['urgent_lateness'])}, {100 * late:.0f} % of them late; medians {both[0]:.2f} and "
        f"{middle:.2f} (regular)",
        verdict,
    )


def _order(runs: Runs, log: Log) -> Iterator[Claim]:
    late = {title: runs.get(log, Run(policy))["urgent_lateness"] for title, policy in POLICIES}
    ours = " > ".join(sorted(late, key=lambda title: -late[title]))
    middle = (late["EASY"], late["Backfill"])
    kept = [late["FCFS"] > max(middle), min(middle) > late["UJF"], late["UJF"] > late["UJFB"]]
    yield Claim(
        f"{log.title}: U_L is in the order FCFS > EASY, Backfill > UJF > UJFB",
        "FCFS > EASY > Backfill > UJF > UJFB",
        ours,
        "agrees" if all(kept) else "in part" if kept[2] and sum(kept) > 1 else "differs",
    )


def _near_one(runs: Runs, log: Log) -> Claim:
    found = runs.get(log, Run("ujfb"))
    return Claim(
        f"{log.title}: UJFB's U_L is close to 1",
        f"1.05, {REPORTED_PREEMPTIONS} preemptions",
        f"{found['urgent_lateness']:.4f}; {found['suspensions']} jobs suspended for "
        f"{found['preempting_jobs']} of {found['urgent_jobs']} urgent jobs",
        "agrees" if found["urgent_lateness"] <= NEAR_ONE else "differs",
        "the slides do not say whether they count jobs that are stopped or urgent jobs that stop some",
    )


def _regular(runs: Runs, log: Log) -> Claim:
    means = {title: runs.get(log, Run(policy))["regular_mean_response"] for title, policy in POLICIES}
    change = 100 * (means["UJFB"] / means["Backfill"] - 1)
    return Claim(
        f"{log.title}: regular jobs do as well under UJFB as under Backfill, better than under FCFS and UJF",
        "figures 10 to 12",
        f"response {change:+.2f} % against Backfill; FCFS {means['FCFS'] / means['UJFB']:.2f} times as long",
        "agrees" if abs(change) <= SAME and means["UJFB"] < min(means["FCFS"], means["UJF"]) else "in part",
    )


def _swaps_regular(runs: Runs, log: Log) -> Claim:
    means = [runs.get(log, scaled(scale))["regular_mean_response"] for scale in SCALES]
    worst = max(abs(100 * (mean / means[0] - 1)) for mean in means)
    return Claim(
        f"{log.title}: longer swaps do not affect regular jobs (Figure 13)",
        "unaffected",
        f"mean response within {worst:.2f} % up to x {SCALES[-1]:,}",
        "agrees" if worst <= SAME else "differs",
    )


def _swaps_urgent(runs: Runs, log: Log) -> Claim:
    late = [runs.get(log, scaled(scale))["urgent_lateness"] for scale in SCALES]
    grows = all(a <= b for a, b in pairwise(late)) and late[-1] > late[0]
    return Claim(
        f"{log.title}: longer swaps delay urgent jobs (Figure 13)",
        "significantly",
        ", ".join(f"x {scale:,}: {value:.3f}" for scale, value in zip(SCALES, late, strict=True)),
        "agrees" if grows else "differs",
    )


def _margin(runs: Runs, log: Log) -> Claim:
    found = runs.get(log, Run("ujfb"))
    kills = runs.get(log, Run("ujfb(preempt=degree)"))
    tight = largest(found, TSUNAMI[0][0])
    missed = f"{found['urgent_deadlines_missed']} of {found['urgent_jobs']} by suspending"
    return Claim(
        f"{log.title}: tsunami jobs are ready in 10 minutes",
        "yes",
        f"{missed}, {kills['urgent_deadlines_missed']} by degree of urgency miss it",
        "agrees" if not found["urgent_deadlines_missed"] else "in part",
        "the job on 128 processors takes all of the 10 minutes, so any swap makes it late, here by at most "
        f"{TSUNAMI[0][1] * ((tight or 1) - 1):.3f} s",
    )
