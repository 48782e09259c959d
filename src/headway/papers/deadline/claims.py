"""What the paper claims, with our numbers and a verdict on each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.papers.deadline.logs import REPORTED, Log, asking, of_paper
from headway.papers.deadline.runs import Runs, change_estimate, mean_estimate
from headway.papers.deadline.tables import (
    BASE,
    CASES,
    READINGS,
    REQUESTED_TIMES,
    WORDS,
    cases,
    implied_changes,
    missed,
    readings_of,
    signed,
)
from headway.papers.verdicts import Claim, always, not_claimed, number, order, untested

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


NUMBERS = tuple((who, name) for who in ("priority", "all") for name in ("wait", "slowdown"))
UNITS = {"wait": " h", "slowdown": ""}


def _numbers(runs: Runs, log: Log) -> Iterator[Claim]:
    """Tables 1 and 2, and what they imply for the flexible tasks."""
    assert log.reported is not None
    plain, *both = cases(runs, log)
    remark = "" if log.reported.same_log else "the paper used the raw log, ours is the cleaned one"
    for who, name in NUMBERS:
        said = getattr(log.reported, name if who == "all" else f"{who}_{name}")
        title = f"{WORDS[name].removesuffix(' (h)')}, {who} tasks"
        yield number(
            f"{log.title}: CBF, {title}", TABLE[who], said[0], mean_estimate(plain, who, name), remark,
            unit=UNITS[name], digits=2,
        )  # fmt: skip
        for case, numbers, percent in zip("ab", both, said[1:], strict=True):
            changed = change_estimate(numbers, plain, who, name)
            title_ = f"{log.title}: DBF ({case}), {title}"
            yield number(title_, TABLE[who], percent, changed, remark, sign=True)
    for case, numbers, implied in zip("ab", both, implied_changes(log, "wait"), strict=True):
        assert implied is not None
        yield number(
            f"{log.title}: DBF ({case}), mean wait, flexible tasks", "follows from Tables 1 and 2", implied,
            change_estimate(numbers, plain, "flexible", "wait"), "the paper does not show it", sign=True,
            paper=f"{signed(implied)} (implied)",
        )  # fmt: skip


def _signs(runs: Runs, log: Log) -> Iterator[Claim]:
    """On another log: priority tasks wait less, and so do all of them together."""
    plain, *both = cases(runs, log)
    for who in ("priority", "all"):
        for case, numbers in zip("ab", both, strict=True):
            changes = {name: change_estimate(numbers, plain, who, name) for name in ("wait", "slowdown")}
            yield order(
                f"{log.title}: DBF ({case}) is better for {who} tasks", "section 4.2",
                "better on its three logs",
                ", ".join(f"mean {name} {one.text(' %', sign=True)}" for name, one in changes.items()),
                [one.negative() for one in changes.values()], "a log that the paper did not use",
            )  # fmt: skip


def _longer_is_better(runs: Runs, logs: Sequence[Log]) -> Iterator[Claim]:
    for log in logs:
        _, a, b = cases(runs, log)
        changes = [change_estimate(b, a, who, name) for who, name in NUMBERS]
        yield order(
            f"{log.title}: longer deadlines do better in every number", "section 4.2", "in all cases",
            ", ".join(
                f"{who} {name} {one.text(' %', sign=True)}"
                for (who, name), one in zip(NUMBERS, changes, strict=True)
            ),
            [one.negative() for one in changes], "(b) against (a)",
        )  # fmt: skip


def _requested(runs: Runs, logs: Sequence[Log]) -> Iterator[Claim]:
    """The gain where the scheduler knows no more than what users asked for."""
    for log in asking(logs):
        exact, requested = cases(runs, log), cases(runs, log, REQUESTED_TIMES)
        known, asked = (
            [change_estimate(one, found[0], "priority", "wait").text(" %", sign=True) for one in found[1:]]
            for found in (exact, requested)
        )
        yield not_claimed(
            f"{log.title}: change of the priority tasks' mean wait with requested times, (a), (b)",
            "- (its numbers fit exact times)",
            f"{asked[0]}, {asked[1]} instead of {known[0]}, {known[1]}",
            "users' own requests are what real schedulers have",
            "not in the paper; section 3 supposes precise estimates",
        )


def _respected(runs: Runs, logs: Sequence[Log]) -> Iterator[Claim]:
    scratch = [r for r in READINGS if "compress=scratch" in r.policy]
    groups: tuple[tuple[str, list[object], str], ...] = (
        (
            "strict, our loop",
            [r for r in READINGS if r.policy == "dbf"],
            "the loop accepts only what it keeps, and nothing moves later",
        ),
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
        yield always(
            f"deadlines are strictly respected ({name})", "section 4.2", "all",
            f"{sum(late):,} of {accepted:,} accepted ones missed, {min(late):,} to {max(late):,} a run, "
            f"in {len(numbers)} runs", [not count for count in late], remark,
            possible=not name.startswith("strict, our"),
        )  # fmt: skip


def _speed(runs: Runs, logs: Sequence[Log]) -> Claim:
    slowest = max(n["seconds"] / n["jobs"] for log in logs for n in cases(runs, log)[1 : 1 + len(CASES)])
    ours = "less than 0.001 s" if slowest < 1e-3 else f"{slowest:.3f} s"
    return always(
        "time to schedule a task", "section 4.2", f"less than {PAPER_SECONDS} s on a laptop", ours,
        [slowest < PAPER_SECONDS], "another program on a machine of ten years later", possible=False,
    )  # fmt: skip
