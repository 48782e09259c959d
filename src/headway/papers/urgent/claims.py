"""What the slides claim, as they say it, with our numbers and a verdict on each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from headway.papers.log import Log
from headway.papers.urgent import seeds
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
from headway.papers.verdicts import POINTS, Claim, Verdict, direction, magnitude, not_claimed, untested
from headway.workload.transform.swap_model import SWAP_TABLE, fits, suspects

NOT_SAID = "in no slide"
NO_NUMBERS = "bars without numbers"
ALONE = "one seed has no interval; give --seeds"


def claims(runs: Runs, logs: Sequence[Log], draws: int) -> list[Claim]:
    """All of them, in the order of the slides; ``draws`` seeds for what needs an interval."""
    found = [*_exact(), *_swap_model()]
    for log in logs:
        found += [_untreated(runs, log), _order(runs, log), _near_one(runs, log), *_regular(runs, log, draws)]
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
    said, ours = (1, 1.54, 2.5), [DEADLINE / seconds for _, seconds in TSUNAMI]
    held = [magnitude(a, b) == "agrees" for a, b in zip(said, ours, strict=True)]
    yield Claim(
        "maximum slowdown of a tsunami job", "1, 1.54, 2.5", ", ".join(f"{x:.2f}" for x in ours),
        direction(held), "10 minutes over the length of the job", "number", "Table 1",
    )  # fmt: skip


def _swap_model() -> Iterator[Claim]:
    all_points, sound = fits()[:2]
    odd = ", ".join(f"{point[1]} in class {point[0]}" for point, _ in suspects())
    yield Claim(
        "\"performance depends on the process size\"", "32 points",
        f"R² {all_points.r2:.3f}; {sound.r2:.3f} without {odd}", direction([sound.r2 > 0.95]),
        f"those two are far off the line of their class ({sound.bandwidth:.0f} MB/s in all)", "direction",
        "Table 3, Figure 9",
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


def _untreated(runs: Runs, log: Log) -> Claim:
    found = runs.get(log, Run("conservative(compress=scratch)"))
    late = found["urgent_deadlines_missed"] / found["urgent_jobs"]
    urgent, regular = (_median(found[f"{kind}_slowdowns"]) for kind in ("urgent", "regular"))
    return Claim(
        f"{log.title}: \"without this\" (a job scheduling method for both) \"urgent jobs wait\"",
        "potentially wait",
        f"{100 * late:.0f} % of them late; median slowdown {urgent:.2f}, of regular jobs {regular:.2f}; "
        f"U_L {number(found['urgent_lateness'])}",
        direction([late > 0]),
        f"their median is {'above' if urgent > regular else 'below' if urgent < regular else 'equal to'} the "
        "regular jobs' (Figure 3 has both, without numbers)", "direction", "slide \"Urgent Computing\"",
    )  # fmt: skip


def _order(runs: Runs, log: Log) -> Claim:
    late = {title: runs.get(log, Run(policy))["urgent_lateness"] for title, policy in POLICIES}
    ranked = sorted(late, key=lambda title: -late[title])
    ours = ranked[0]
    for before, after in pairwise(ranked):
        ours += f" {'=' if _tied(late[before], late[after]) else '>'} {after}"
    said = sorted(REPORTED, key=lambda title: -REPORTED[title])
    held = [late[a] > late[b] and not _tied(late[a], late[b]) for a, b in pairwise(said)]
    return Claim(
        f"{log.title}: U_L by algorithm", " > ".join(said), ours, direction(held),
        f"{sum(held)} of {len(held)} neighbours in the slides' order; = where they differ by less than 0.1 %",
        "order", "Table 2",
    )  # fmt: skip


def _tied(a: float, b: float) -> bool:
    return abs(a - b) <= 0.001 * max(a, b)


def _near_one(runs: Runs, log: Log) -> Claim:
    found = runs.get(log, Run("ujfb"))
    return Claim(
        f"{log.title}: UJFB's U_L",
        f"1.05, {REPORTED_PREEMPTIONS} preemptions",
        f"{found['urgent_lateness']:.4f}; {found['suspensions']} jobs suspended for "
        f"{found['preempting_jobs']} of {found['urgent_jobs']} urgent jobs",
        magnitude(1.05, found["urgent_lateness"]),
        "of another log; the slides do not say whether they count jobs that are stopped or urgent jobs that "
        "stop some", "number", "Table 2",
    )  # fmt: skip


def _regular(runs: Runs, log: Log, draws: int) -> Iterator[Claim]:
    found = {title: runs.get(log, Run(policy)) for title, policy in POLICIES}
    others = [title for title, _ in POLICIES if title != "UJFB"]
    less = {title: [found["UJFB"][name] < found[title][name] for name in NUMBERS] for title in others}
    shown = "; ".join(
        f"{word} {number(found['UJFB'][name] / scale)} (" + ", ".join(
            f"{title} {number(found[title][name] / scale)}" for title in others
        ) + ")"
        for name, word, scale in zip(NUMBERS, ("response (h)", "slowdown"), (3600, 1), strict=True)
    )  # fmt: skip
    yield Claim(
        f"{log.title}: UJFB is \"reducing response time and slowdown for regular jobs\"", "reducing",
        shown, direction([held for both in less.values() for held in both]),
        "against each of the other four, with one seed", "direction",
        "slide \"Urgent Job First with Backfilling\"; Figures 10 to 12",
    )  # fmt: skip
    against = seeds.compared(runs, log, seeds.SUSPEND, seeds.BACKFILL, draws)
    yield not_claimed(
        f"{log.title}: regular jobs under UJFB against Backfill, mean response",
        "-",
        str(against),
        ALONE if draws == 1 else f"mean over {draws} seeds, 95 % interval (least to largest)",
        NOT_SAID,
    )
    yield _kill(log, seeds.compared(runs, log, seeds.KILL, seeds.SUSPEND, draws), draws)


def _kill(log: Log, kill: seeds.Estimate, draws: int) -> Claim:
    """Whether killing costs more than suspending; a single draw has no interval and tells nothing."""
    verdict: Verdict = "agrees" if kill.sign > 0 else "differs"
    remark = "a tie: 0 is inside the interval" if kill.sign == 0 else f"over {draws} seeds"
    if kill.half is None:
        verdict, remark = "not tested", ALONE
    return Claim(
        f"{log.title}: kill/restart: \"time is wasted\"; against suspend/resume, mean response",
        "longer", str(kill), verdict, remark, "-" if kill.half is None else "direction",
        "slide \"Preemptive Job Scheduling for UC\"",
    )  # fmt: skip


NUMBERS = ("regular_mean_response", "regular_mean_slowdown")


def _swaps_regular(runs: Runs, log: Log) -> Claim:
    means = [runs.get(log, scaled(scale))["regular_mean_response"] for scale in SCALES]
    worst = max(abs(100 * (mean / means[0] - 1)) for mean in means)
    return Claim(
        f"{log.title}: \"longer swapping times do not affect regular jobs' performance\"", "do not affect",
        f"mean response within {worst:.2f} % up to x {SCALES[-1]:,}",
        "agrees" if worst <= POINTS else "differs", "a change of at most five percent", "number",
        "slide \"Evaluation with Longer Swapping Times\", Figure 13",
    )  # fmt: skip


def _swaps_urgent(runs: Runs, log: Log) -> Claim:
    late = [runs.get(log, scaled(scale))["urgent_lateness"] for scale in SCALES]
    grows = [a <= b for a, b in pairwise(late)]
    return Claim(
        f"{log.title}: \"longer swapping times can significantly delay urgent jobs\"", "can delay",
        ", ".join(f"x {scale:,}: {value:.3f}" for scale, value in zip(SCALES, late, strict=True)),
        direction([*grows, late[-1] > late[0]]), "U_L", "direction",
        "slide \"Evaluation with Longer Swapping Times\", Figure 13",
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
