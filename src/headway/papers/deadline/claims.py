"""What the paper claims, with our numbers and a verdict on each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.papers.deadline.logs import REPORTED, Log, asking, of_paper
from headway.papers.deadline.runs import Runs
from headway.papers.deadline.tables import (
    BASE,
    CASES,
    EVERYBODY,
    PRIORITY,
    READINGS,
    REQUESTED_TIMES,
    WORDS,
    cases,
    change,
    implied_changes,
    missed,
    readings_of,
    signed,
)
from headway.papers.verdicts import Claim, direction, magnitude, not_claimed, number, untested

PAPER_SECONDS = 0.04
TABLE = {"priority": "Table 1", "all": "Table 2"}


def claims(runs: Runs, logs: Sequence[Log]) -> list[Claim]:
    """All of them, in the order of the paper; on logs of one's own those that need no number of the paper."""
    found: list[Claim] = []
    for log in logs:
        found += _numbers(runs, log) if log.reported is not None else _signs(runs, log)
    known = {log.name for log in logs}
    found += [
        untested(
            f"{said.title}: Tables 1 and 2",
            f"CBF {said.priority_wait[0]:.2f} h",
            f"needs the log: --trace {name}=FILE",
            "Tables 1 and 2",
        )
        for name, said in REPORTED.items()
        if name not in known
    ]
    found += [*_longer_is_better(runs, logs), *_requested(runs, logs), *_respected(runs, logs)]
    return [*found, _speed(runs, logs)]


def _numbers(runs: Runs, log: Log) -> Iterator[Claim]:
    assert log.reported is not None
    plain, *both = cases(runs, log)
    remark = "" if log.reported.same_log else "the paper used the raw log, ours is the cleaned one"
    for (name, column), who in [(pair, "priority") for pair in PRIORITY] + [
        (pair, "all") for pair in EVERYBODY
    ]:
        said, source = getattr(log.reported, name), TABLE[who]
        word = WORDS[name.removeprefix("priority_")]
        ours = f"{plain[column]:.2f} ({signed(change(plain[column], said[0]))} off)"
        verdict = magnitude(said[0], plain[column])
        title = f"{log.title}: CBF, {word}, {who} tasks"
        yield Claim(title, f"{said[0]:.2f}", ours, verdict, remark, "number", source)
        for case, place in (("a", 1), ("b", 2)):
            ours_change = change(both[place - 1][column], plain[column])
            yield Claim(
                f"{log.title}: DBF ({case}), {word}, {who} tasks",
                signed(said[place]),
                signed(ours_change),
                number(said[place], ours_change),
                remark,
                "number",
                source,
            )
    for place, case in enumerate("ab"):
        implied = implied_changes(log, "wait")[place]
        ours_change = change(both[place]["flexible_mean_wait"], plain["flexible_mean_wait"])
        assert implied is not None
        yield Claim(
            f"{log.title}: DBF ({case}), mean wait, flexible tasks",
            f"{signed(implied)} (implied)",
            signed(ours_change),
            number(implied, ours_change),
            "the paper does not show it",
            "number",
            "follows from Tables 1 and 2",
        )


def _signs(runs: Runs, log: Log) -> Iterator[Claim]:
    """On another log: priority tasks wait less, and so do all of them together."""
    plain, *both = cases(runs, log)
    for who, columns in (("priority", PRIORITY), ("all", EVERYBODY)):
        for case, numbers in zip("ab", both, strict=True):
            changes = [change(numbers[column], plain[column]) for _, column in columns]
            named = zip((WORDS[name.removeprefix("priority_")] for name, _ in columns), changes, strict=True)
            yield Claim(
                f"{log.title}: DBF ({case}) is better for {who} tasks",
                "better on its three logs",
                ", ".join(f"{word.partition(' (')[0]} {signed(one)}" for word, one in named),
                direction([one is not None and one < 0 for one in changes]),
                "a log that the paper did not use",
                "direction",
                "section 4.2",
            )


def _longer_is_better(runs: Runs, logs: Sequence[Log]) -> Iterator[Claim]:
    for log in logs:
        _, a, b = cases(runs, log)
        columns = [column for _, column in (*PRIORITY, *EVERYBODY)]
        better = [b[column] < a[column] for column in columns]
        yield Claim(
            f"{log.title}: longer deadlines do better in every number",
            "in all cases",
            f"{sum(better)} of {len(columns)} numbers",
            direction(better),
            "",
            "direction",
            "section 4.2",
        )


def _requested(runs: Runs, logs: Sequence[Log]) -> Iterator[Claim]:
    """The gain where the scheduler knows no more than what users asked for."""
    for log in asking(logs):
        exact, requested = cases(runs, log), cases(runs, log, REQUESTED_TIMES)
        column = "priority_mean_wait"
        known, asked = (
            [change(one[column], found[0][column]) for one in found[1:]] for found in (exact, requested)
        )
        yield not_claimed(
            f"{log.title}: change of the priority tasks' mean wait with requested times, (a), (b)",
            "- (its numbers fit exact times)",
            f"{signed(asked[0])}, {signed(asked[1])} instead of {signed(known[0])}, {signed(known[1])}",
            "users' own requests are what real schedulers have",
            "not in the paper; section 3 supposes precise estimates",
        )


def _respected(runs: Runs, logs: Sequence[Log]) -> Iterator[Claim]:
    scratch = [r for r in READINGS if "compress=scratch" in r.policy]
    groups: tuple[tuple[str, list[object], str], ...] = (
        ("strict, our loop", [r for r in READINGS if r.policy == "dbf"], "one sweep, nothing moves later"),
        (
            "strict, compressed from scratch as the paper's simulator does",
            list(scratch),
            "re-placing all tasks may delay some; requested times",
        ),
        (
            "literal",
            [r for r in READINGS if r.policy == "dbf(mode=literal)"],
            "Algorithm 1 as printed corrects once, which is not enough",
        ),
    )
    for name, group, remark in groups:
        judged = [(log, r) for log in of_paper(logs) for r in readings_of(log) if r in group]
        if name.startswith("strict, our"):
            both = [(log, r) for log in logs for r in readings_of(log) if r in (BASE, REQUESTED_TIMES)]
            judged += [one for one in both if one not in judged]
        numbers = [n for log, reading in judged for n in cases(runs, log, reading)[1:]]
        if not numbers:
            untold = "no log has requested times"
            claim = f"deadlines are strictly respected ({name})"
            yield untested(claim, "all", untold, "section 4.2")
            continue
        late, accepted = [missed(n) for n in numbers], sum(n["accepted_deadlines"] for n in numbers)
        yield Claim(
            f"deadlines are strictly respected ({name})",
            "all",
            f"{sum(late):,} of {accepted:,} accepted ones missed, {min(late):,} to {max(late):,} a run, "
            f"in {len(numbers)} runs",
            "agrees" if not any(late) else "differs",
            remark,
            "direction",
            "section 4.2",
        )


def _speed(runs: Runs, logs: Sequence[Log]) -> Claim:
    slowest = max(n["seconds"] / n["jobs"] for log in logs for n in cases(runs, log)[1 : 1 + len(CASES)])
    return Claim(
        "time to schedule a task",
        f"less than {PAPER_SECONDS} s on a laptop",
        "less than 0.001 s" if slowest < 1e-3 else f"{slowest:.3f} s",
        "agrees" if slowest < PAPER_SECONDS else "differs",
        "whole simulation, compiling apart",
        "direction",
        "section 4.2",
    )
