"""A policy as the scheduler of a live cluster: what it finds, foresees and forgets, and cannot have."""

from __future__ import annotations

import random
from typing import Any

import pytest

from headway.errors import UsageError
from headway.live.batch import Batch, Picture, check_live, planned_from
from headway.live.engine import Job
from headway.live.spans import START
from headway.platform import Cluster
from headway.policies.grid.composed.cluster import Shape
from headway.policies.spec import parse_spec
from headway.units import SECOND

SITE = Cluster("a", 1, 8)
MORE_POLICIES = (
    *("fcfs", "sjf", "easy", "easy(backfill=saf)", "conservative(compress=scratch)"),
    "redirection(size=split, alpha=0.5, theta=2, principal=dbf, redirected=conservative)",
)


def jobs(count: int, seed: int) -> list[tuple[int, Job]]:
    draw = random.Random(seed)
    return [
        (number, Job(draw.randrange(1, 50) * SECOND, Shape(draw.randrange(1, 9), 1, 1)))
        for number in range(count)
    ]


@pytest.mark.parametrize("policy", ["conservative", "easy(order=sjf)"])
def test_many_at_once_are_as_one_by_one(policy: str) -> None:
    drawn = jobs(40, 1)
    running, waiting = [(number, number, job) for number, job in drawn[:2]], drawn[2:]
    batch = planned_from(SITE, parse_spec(policy), Picture(running, waiting), 10 * SECOND)
    plain = Batch(SITE, parse_spec(policy))
    plain.restart({number: (start, job) for number, start, job in running}, 10 * SECOND)
    plain.open(10 * SECOND)
    for number, job in waiting:
        plain.submit(number, job)
    for each in (batch, plain):
        each.close()
    assert batch.acts() == plain.acts()
    assert [batch.planned(number) for number, _ in drawn] == [plain.planned(number) for number, _ in drawn]
    trial = Job(7 * SECOND, Shape(3, 1, 1))
    assert batch.tried(trial) == plain.tried(trial)


def test_what_is_over_is_forgotten() -> None:
    batch, running = Batch(SITE, parse_spec("conservative")), dict[int, tuple[int, Job]]()
    columns = []
    for number in range(1500):
        t = number * SECOND
        job = Job(5 * SECOND, Shape(2, 1, 1))
        batch.open(t)
        batch.submit(number, job)
        batch.close()
        running |= {act.job: (act.at, job) for act in batch.acts() if act.kind == START}
        if number >= 2:
            batch.end(number - 2, t + SECOND // 2)
            batch.close()
            del running[number - 2]
        batch.forget_past(running)
        columns.append(len(batch.engine.of_column))
    assert max(columns) < 600 and len(running) == 2
    assert {batch.phase(number) for number in running} == {"running"}
    begun = max(start for start, _ in running.values())
    assert batch.following == min(start for start, _ in running.values()) + 5 * SECOND
    assert batch.tried(Job(SECOND, Shape(8, 1, 1))) == begun + 6 * SECOND


@pytest.mark.parametrize(
    "policy",
    [
        *("easy(order=sjf, age=20)", "conservative", "dbf", "redirection(size=split, alpha=0.5, theta=2)"),
        *(pytest.param(policy, marks=pytest.mark.long) for policy in MORE_POLICIES),
    ],
)
def test_what_is_over_leaves_the_tables_of_a_busy_cluster(
    policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One forgets often and is begun anew from what was saved, the other remembers all: they do the same."""
    monkeypatch.setattr("headway.live.batch.FORGET_AFTER", 8)
    draw, forgetful, plain = random.Random(4), *(Batch(SITE, parse_spec(policy)) for _ in range(2))
    known, dropped, t = dict[int, Job](), 0, 0
    running = set[int]()

    def both(act: str, *given: Any) -> Any:
        found = [getattr(batch, act)(*given) for batch in (forgetful, plain)]
        assert found[0] == found[1], (act, given)
        return found[0]

    def closed() -> None:
        both("close")
        for act in both("acts"):
            (running.add if act.kind == START else running.discard)(act.job)

    for number in range(150):
        t += draw.randrange(0, 6 * SECOND)
        both("open", t)
        deadline = t + draw.randrange(60, 400) * SECOND if draw.random() < 0.6 else -1
        known[number] = Job(
            draw.randrange(1, 40) * SECOND, Shape(draw.randrange(1, 5), 1, 1), deadline=deadline
        )
        both("submit", number, known[number])
        waiting = [each for each in known if plain.phase(each) == "waiting"]
        if draw.random() < 0.15:
            both("cancel", draw.choice(waiting))
        closed()
        if draw.random() < 0.4 and running:
            t += draw.randrange(1, 1000)
            job = draw.choice(sorted(running))
            both("end", job, t)
            running.discard(job)
            closed()
        dropped += forgetful.drop_over()
        if number % 10 == 9:
            saved = forgetful.saved()
            forgetful = Batch(SITE, parse_spec(policy))
            forgetful.restore(saved, lambda each: known[each])
        for each in [each for each in known if plain.phase(each) in ("waiting", "running")]:
            both("phase", each)
            both("promise", each)
            both("planned", each)
        both("tried", Job(draw.randrange(1, 40) * SECOND, Shape(2, 1, 1)))
        assert forgetful.following == plain.following
    assert dropped > 3 and len(forgetful.engine.of_column) < len(plain.engine.of_column) / 2
    both("look", 10**6 * SECOND)
    assert both("acts")


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ("easy(estimate=exact)", "not known before jobs have ended"),
        ("reallocation", "is the agent's"),
        ("ujfb(swap=0, overrun=finish)", "at which a live job is killed"),
        ("lea", "counts its processors"),
    ],
)
def test_what_a_live_cluster_cannot_give_is_refused(policy: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        check_live(parse_spec(policy))
