"""What the paper claims, with our numbers and a verdict on each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.papers.deadline.logs import REPORTED, Log, of_paper
from headway.papers.deadline.runs import Runs
from headway.papers.deadline.tables import (
    CASES,
    EVERYBODY,
    PRIORITY,
    READINGS,
    WORDS,
    cases,
    change,
    implied_changes,
    missed,
    signed,
)
from headway.papers.verdicts import Claim, Verdict

NEAR = 5.0
"""Percent or percentage points within which a number agrees."""
PAPER_SECONDS = 0.04


def claims(runs: Runs, logs: Sequence[Log]) -> list[Claim]:
    """All of them, in the order of the paper; on logs of one's own those that need no number of the paper."""
    found: list[Claim] = []
    for log in logs:
        if log.reported is not None:
            found += _numbers(runs, log)
    known = {log.name for log in logs}
    found += [
        Claim(
            f"{said.title}: Tables 1 and 2",
            f"CBF {said.priority_wait[0]:.2f} h",
            "-",
            "not tested",
            f"needs the log: --trace {name}=FILE",
        )
        for name, said in REPORTED.items()
        if name not in known
    ]
    return [*found, *_longer_is_better(runs, logs), *_respected(runs, logs), _speed(runs, logs)]


def _numbers(runs: Runs, log: Log) -> Iterator[Claim]:
    assert log.reported is not None
    plain, *both = cases(runs, log)
    remark = (
        ""
        if log.reported.same_log
        else "the paper used the raw log, ours is the cleaned one: only signs can be expected"
    )
    for (name, column), who in [(pair, "priority") for pair in PRIORITY] + [
        (pair, "all") for pair in EVERYBODY
    ]:
        said = getattr(log.reported, name)
        word = WORDS[name.removeprefix("priority_")]
        off = abs(100 * (plain[column] / said[0] - 1))
        verdict: Verdict = "agrees" if off <= NEAR else "differs"
        ours = f"{plain[column]:.2f} ({signed(change(plain[column], said[0]))} off)"
        yield Claim(f"{log.title}: CBF, {word}, {who} tasks", f"{said[0]:.2f}", ours, verdict, remark)
        for case, place in (("a", 1), ("b", 2)):
            ours_change = change(both[place - 1][column], plain[column])
            yield Claim(
                f"{log.title}: DBF ({case}), {word}, {who} tasks",
                signed(said[place]),
                signed(ours_change),
                judged(said[place], ours_change),
                remark,
            )
    for place, case in enumerate("ab"):
        implied = implied_changes(log, "wait")[place]
        ours_change = change(both[place]["flexible_mean_wait"], plain["flexible_mean_wait"])
        assert implied is not None
        yield Claim(
            f"{log.title}: DBF ({case}), mean wait, flexible tasks",
            f"{signed(implied)} (implied)",
            signed(ours_change),
            judged(implied, ours_change),
            "the paper does not show it; it follows from its two tables",
        )


def judged(said: float, ours: float | None) -> Verdict:
    """Near the paper's change, of its sign, or neither."""
    if ours is None:
        return "not tested"
    if said * ours < 0:
        return "differs"
    return "agrees" if abs(said - ours) <= NEAR else "in part"


def _longer_is_better(runs: Runs, logs: Sequence[Log]) -> Iterator[Claim]:
    for log in logs:
        _, a, b = cases(runs, log)
        columns = [column for _, column in (*PRIORITY, *EVERYBODY)]
        better = sum(b[column] < a[column] for column in columns)
        yield Claim(
            f"{log.title}: longer deadlines do better in every number",
            "4 of 4",
            f"{better} of {len(columns)}",
            "agrees" if better == len(columns) else "in part" if better else "differs",
        )


def _respected(runs: Runs, logs: Sequence[Log]) -> Iterator[Claim]:
    strict = [r for r in READINGS if r.policy == "dbf"]
    literal = [r for r in READINGS if r.policy == "dbf(mode=literal)"]
    for group, name, remark in (
        (strict, "strict", "our loop"),
        (literal, "literal", "Algorithm 1 as printed corrects once, which is not enough"),
    ):
        judged_on = [(log, reading) for log in of_paper(logs) for reading in group]
        if name == "strict":
            judged_on += [(log, r) for log in logs for r in READINGS[:2] if (log, r) not in judged_on]
        numbers = [n for log, reading in judged_on for n in cases(runs, log, reading)[1:]]
        late, accepted = sum(missed(n) for n in numbers), sum(n["accepted_deadlines"] for n in numbers)
        yield Claim(
            f"deadlines are strictly respected ({name})",
            "all",
            f"{late:,} of {accepted:,} accepted ones missed in {len(numbers)} runs",
            "agrees" if late == 0 else "differs",
            remark,
        )


def _speed(runs: Runs, logs: Sequence[Log]) -> Claim:
    slowest = max(n["seconds"] / n["jobs"] for log in logs for n in cases(runs, log)[1 : 1 + len(CASES)])
    return Claim(
        "time to schedule a task",
        f"less than {PAPER_SECONDS} s",
        "less than 0.001 s" if slowest < 1e-3 else "more",
        "agrees" if slowest < PAPER_SECONDS else "differs",
        "whole simulation, compiling apart",
    )
