"""The reference given the recorded state at each pass: what it decides as Slurm did, and what not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import Protocol

from reference.slurm.backfill import Cycle, Plan, backfill_cycle
from reference.slurm.machine import Allocation, members
from reference.slurm.main import main_pass
from reference.slurm.state import Start, State

from .follow import Pass, follow
from .prepare import Preparer
from .runs import Run
from .world import World, name_of

MANY = 6
"""Jobs that may be completing at once for which every combination is tried."""

NODES = 7
"""Nodes of such jobs for which every combination is tried."""


class Loops(Protocol):
    """Who decides in a given state."""

    def backfill_cycle(self, state: State, /) -> Cycle: ...

    def main_pass(self, state: State, /, *, full: bool) -> tuple[list[Start], bool]: ...


class Reference:
    """The reference does."""

    backfill_cycle = staticmethod(backfill_cycle)
    main_pass = staticmethod(main_pass)


@dataclass
class Score:
    """How many decisions of each kind were looked at, how many came out alike, and where they differ."""

    passes: int = 0
    passes_alike: int = 0
    main_starts: int = 0
    main_alike: int = 0
    plans: int = 0
    plans_alike: int = 0
    cycles: int = 0
    cycles_alike: int = 0
    cut_short: int = 0
    """Cycles that Slurm broke off in the middle of the queue: alike as far as they went."""
    starts: int = 0
    starts_alike: int = 0
    victims: int = 0
    victims_alike: int = 0
    different: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"passes {self.passes_alike}/{self.passes}, main starts {self.main_alike}/{self.main_starts}, "
            f"cycles {self.cycles_alike}/{self.cycles} and {self.cut_short} cut short, "
            f"plans {self.plans_alike}/{self.plans}, backfill starts {self.starts_alike}/{self.starts}, "
            f"victims {self.victims_alike}/{self.victims}"
        )


def completing_sets(recent: list[Allocation]) -> Iterator[tuple[Allocation, ...]]:
    """What may still be completing: nothing first, then ever more of what just ended.

    The nodes of one job need not be done together: in the end each node counts by itself.
    """
    recent = recent[-MANY:]
    for size in range(len(recent) + 1):
        yield from combinations(recent, size)
    parts = [replace(held, nodes=1 << i) for held in recent for i in members(held.nodes)]
    if len(recent) < len(parts) <= NODES:
        for size in range(1, len(parts)):
            yield from combinations(parts, size)


def drive(run: Run, loops: Loops | None = None, *, first: int = 0, last: int | None = None) -> Score:
    """Compare every pass and cycle, or those between two passes by number."""
    score, loops, prepare = Score(), loops or Reference(), Preparer(run)
    for number, (moment, world) in enumerate(follow(run)):
        prepare.note_submissions(world)
        prepare.use(world, moment.t)
        if number < first:
            continue
        if last is not None and number >= last:
            break
        score.victims += len(moment.victims)
        if moment.kind == "bf":
            compare_cycle(run, world, moment, prepare, score, loops)
        else:
            compare_pass(run, world, moment, prepare, score, loops)
    return score


def victims_of(state: State) -> frozenset[str]:
    return frozenset(name_of(held.job) for _, held in state.preempted)


def compare_pass(run: Run, world: World, moment: Pass, prepare: Preparer, score: Score, loops: Loops) -> None:
    score.passes += 1
    score.main_starts += len(moment.starts)
    if not moment.starts and not world.pending:
        score.passes_alike += 1
        return
    best: list[tuple[str, int]] | None = None
    weights = prepare.weights
    for completing, ahead in product(completing_sets(world.recent(moment.t)), (False, True)):
        state = prepare.state(world, moment, completing, ahead=ahead)
        starts, _ = loops.main_pass(state, full=moment.kind == "full")
        mine = [(name_of(start.job), start.held.nodes) for start in starts]
        if best is None:
            weights = state.weights
        if best is None or len(set(mine) & set(moment.starts)) > len(set(best) & set(moment.starts)):
            best = mine
        if sorted(mine) == sorted(moment.starts):
            prepare.weights = state.weights
            score.victims_alike += len(victims_of(state) & moment.victims)
            score.passes_alike += 1
            score.main_alike += len(mine)
            return
    prepare.weights = weights
    score.main_alike += len(set(best or []) & set(moment.starts))
    score.different.append(f"{moment.kind} at {moment.t}: {best} instead of {moment.starts}")


def compare_cycle(
    run: Run, world: World, moment: Pass, prepare: Preparer, score: Score, loops: Loops
) -> None:
    recorded = [(plan.job, plan.start, plan.nodes) for plan in run.plans.get(moment.number, [])]
    score.cycles += 1
    score.plans += len(recorded)
    score.starts += len(moment.starts)
    if not world.pending and not recorded and not moment.starts:
        score.cycles_alike += 1
        return
    best: Likeness | None = None
    victims: frozenset[str] = frozenset()
    weights = prepare.weights
    for completing in completing_sets(world.recent(moment.t)):
        state = prepare.state(world, moment, completing, ahead=True)
        likeness = Likeness(loops.backfill_cycle(state), moment, recorded)
        if best is None or likeness.alike or likeness.quality > best.quality:
            best = likeness
            weights = state.weights
            victims = victims_of(state) & moment.victims
        if best.alike:
            break
    assert best is not None
    prepare.weights = weights
    score.victims_alike += len(victims)
    score.cycles_alike += best.alike
    score.cut_short += best.cut_short
    score.plans_alike += (best.plans & Counter(recorded)).total()
    score.starts_alike += len(best.starts & set(moment.starts))
    if not best.alike and not best.cut_short:
        score.different.append(best.note(moment, recorded))


class Likeness:
    """A cycle of the reference beside the recorded one."""

    def __init__(self, cycle: Cycle, moment: Pass, recorded: list[tuple[str, int, int]]) -> None:
        plans = [(name_of(plan.job), self.second(plan, moment, recorded), plan.nodes) for plan in cycle.plans]
        self.plans = Counter(plans)
        """A job of several partitions may have the same plan in each."""
        self.starts = {(name_of(start.job), start.held.nodes) for start in cycle.starts}
        self.alike = plans == recorded and self.starts == set(moment.starts)
        found = {start for start in self.starts if start in moment.starts}
        begun = found == set(moment.starts) and plans[: len(recorded)] == recorded
        self.cut_short = not self.alike and begun and len(plans) > len(recorded)
        same = (self.plans & Counter(recorded)).total() + len(self.starts & set(moment.starts))
        self.quality = same - len(self.starts - set(moment.starts))

    @staticmethod
    def second(plan: Plan, moment: Pass, recorded: list[tuple[str, int, int]]) -> int:
        """A plan that waits for an epilog begins one second after a moment that was not recorded."""
        if plan.waits_for_epilog:
            for job, start, nodes in recorded:
                if job == name_of(plan.job) and nodes == plan.nodes and 0 < start - int(moment.t) < 30:
                    return start
        return plan.start

    def note(self, moment: Pass, recorded: list[tuple[str, int, int]]) -> str:
        missing = sorted(Counter(recorded) - self.plans)[:2]
        more = sorted(self.plans - Counter(recorded))[:2]
        return (
            f"cycle {moment.number} at {moment.t}: started {self.starts} instead of {moment.starts}; "
            f"plans missing {missing}, more {more}"
        )
