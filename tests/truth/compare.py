"""The twin given the recorded state at each pass: what it decides as Slurm did, and what not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations

from twins.slurm.backfill import backfill_cycle
from twins.slurm.machine import Allocation, Job
from twins.slurm.main import main_pass
from twins.slurm.state import State

from .follow import Pass, World, follow
from .runs import Run

MANY = 6
"""Jobs that may be completing at once for which every combination is tried."""


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
    starts: int = 0
    starts_alike: int = 0
    different: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"passes {self.passes_alike}/{self.passes}, main starts {self.main_alike}/{self.main_starts}, "
            f"cycles {self.cycles_alike}/{self.cycles}, plans {self.plans_alike}/{self.plans}, "
            f"backfill starts {self.starts_alike}/{self.starts}"
        )


def completing_sets(recent: list[Allocation]) -> Iterator[int]:
    """Node sets that may still be completing: none first, then ever more of what just ended."""
    recent = recent[-MANY:]
    for size in range(len(recent) + 1):
        for group in combinations(recent, size):
            nodes = 0
            for held in group:
                nodes |= held.nodes
            yield nodes


Prepare = Callable[[Run, World, Pass], State]


def plain_state(run: Run, world: World, moment: Pass) -> State:
    pending = [replace(job) for job in world.pending.values()]
    return State(run.machine, int(moment.t), pending, world.in_order())


def drive(
    run: Run, prepare: Prepare = plain_state, *, first: int = 0, last: int | None = None, main: bool = True
) -> Score:
    """Compare every pass and cycle, or those between two passes by number."""
    score = Score()
    for number, (moment, world) in enumerate(follow(run)):
        if number < first:
            continue
        if last is not None and number >= last:
            break
        if moment.kind == "bf":
            compare_cycle(run, world, moment, prepare, score)
        elif main:
            compare_pass(run, world, moment, prepare, score)
    return score


def name_of(job: Job) -> str:
    return f"{job.id}" if job.task < 0 else f"{job.array}_{job.task}"


def compare_pass(run: Run, world: World, moment: Pass, prepare: Prepare, score: Score) -> None:
    score.passes += 1
    score.main_starts += len(moment.starts)
    if not moment.starts and not world.pending:
        score.passes_alike += 1
        return
    best: list[tuple[str, int]] | None = None
    for completing in completing_sets(world.recent(moment.t)):
        state = prepare(run, world, moment)
        state.completing = completing
        starts, _ = main_pass(state, full=moment.kind == "full")
        mine = [(name_of(start.job), start.held.nodes) for start in starts]
        if best is None or len(set(mine) & set(moment.starts)) > len(set(best) & set(moment.starts)):
            best = mine
        if sorted(mine) == sorted(moment.starts):
            score.passes_alike += 1
            score.main_alike += len(mine)
            return
    score.main_alike += len(set(best or []) & set(moment.starts))
    score.different.append(f"{moment.kind} at {moment.t}: {best} instead of {moment.starts}")


def compare_cycle(run: Run, world: World, moment: Pass, prepare: Prepare, score: Score) -> None:
    recorded = [(plan.job, plan.start, plan.nodes) for plan in run.plans.get(moment.number, [])]
    score.cycles += 1
    score.plans += len(recorded)
    score.starts += len(moment.starts)
    if not world.pending and not recorded and not moment.starts:
        score.cycles_alike += 1
        return
    best = (-1, 0, 0, "")
    for completing in completing_sets(world.recent(moment.t)):
        state = prepare(run, world, moment)
        state.completing = completing
        cycle = backfill_cycle(state)
        mine = [(name_of(start.job), start.held.nodes) for start in cycle.starts]
        plans = []
        for plan in cycle.plans:
            start = plan.start
            if plan.waits_for_epilog:  # now + 1, at a second of the cycle that was not recorded
                start = next((at for job, at, n in recorded if job == name_of(plan.job) and n == plan.nodes), start)
                start = start if 0 < start - int(moment.t) < 30 else plan.start
            plans.append((name_of(plan.job), start, plan.nodes))
        same_plans = len(set(plans) & set(recorded))
        same_starts = len(set(mine) & set(moment.starts))
        alike = plans == recorded and sorted(mine) == sorted(moment.starts)
        missing = sorted(set(recorded) - set(plans))[:2]
        more = sorted(set(plans) - set(recorded))[:2]
        note = f"cycle {moment.number} at {moment.t}: starts {mine}/{moment.starts} missing {missing} more {more}"
        quality = same_plans + same_starts - len(set(mine) - set(moment.starts))
        if alike or quality > best[0]:
            best = (quality, same_plans, same_starts, note)
        if alike:
            score.cycles_alike += 1
            break
    else:
        score.different.append(best[3])
    score.plans_alike += best[1]
    score.starts_alike += best[2]
