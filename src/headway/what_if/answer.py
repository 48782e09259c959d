"""A change over the same jobs: its runs, who waits less, who longer, by how much, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from threading import Event, Lock
from typing import Any

import numpy as np

from headway.arrays import Floats, Ints, Mask
from headway.campaign.intervals import Paired, paired
from headway.changes import Case, named, with_parameter
from headway.changes.jobs_changes import of_named
from headway.cores import cores, threads
from headway.grammar import parse_call
from headway.plain import Notify, Progress
from headway.policies.spec import parse_spec
from headway.replay import Fidelity, fidelity
from headway.result import Result
from headway.schedule import Schedule
from headway.simulate import simulate
from headway.units import SECOND, WEEK
from headway.workload.divisions import divisions, size_class, size_classes


def with_seeds(case: Case, seeds: int) -> list[Case]:
    """The case under phases 1 to ``seeds`` of the controller's clocks.

    It stays as it is where its policy has no clocks, and where the policy names its seed.
    """
    if "seed" not in parse_spec(case.policy).params or "seed" in parse_call(case.policy).kwargs:
        return [case]
    return [replace(case, policy=with_parameter(case.policy, "seed", seed)) for seed in range(1, seeds + 1)]


def simulate_all(
    cases: Sequence[Case],
    progress: Progress | None = None,
    notify: Notify | None = None,
    workers: int | None = None,
    seed: int = 0,
) -> list[Result]:
    """Every case simulated, as many at a time as there are ``workers`` (by default one for each core).

    ``seed`` is that of policies that draw at random themselves, as in :func:`headway.simulate`.

    ``progress`` is told (finished jobs, all jobs) over all cases. The schedules do not depend on the workers.
    """
    tally = _Tally([len(case.workload) for case in cases], progress)
    say = _once(notify)
    workers = min(workers or cores(), len(cases))
    if workers <= 1:
        return [_simulated(case, tally.of(place), say, seed) for place, case in enumerate(cases)]
    with threads(workers) as pool:
        runs: list[Future[Result]] = [
            pool.submit(_simulated, case, tally.of(place), say, seed) for place, case in enumerate(cases)
        ]
        try:
            return [run.result() for run in runs]
        except BaseException:
            tally.stop.set()  # the others end at their next report of progress
            for run in runs:
                run.cancel()
            raise


def simulate_each(
    runs: Sequence[Sequence[Case]], progress: Progress, notify: Notify, seed: int = 0
) -> list[list[Result]]:
    """The cases of several lists, all simulated together, in such lists."""
    done = iter(simulate_all([case for cases in runs for case in cases], progress, notify, seed=seed))
    return [[next(done) for _ in cases] for cases in runs]


def _simulated(case: Case, progress: Progress, notify: Notify | None, seed: int) -> Result:
    progress(0, len(case.workload))  # a run that nobody waits for any more does not begin
    return simulate(case.workload, case.platform, case.policy, progress=progress, notify=notify, seed=seed)


class _Stopped(Exception):
    """Ends a run whose result nobody waits for."""


class _Tally:
    """Progress of several runs as one, and the word to stop."""

    def __init__(self, jobs: Sequence[int], progress: Progress | None) -> None:
        self.all, self.done, self.progress = sum(jobs), [0] * len(jobs), progress
        self.stop, self.lock = Event(), Lock()

    def of(self, place: int) -> Progress:
        def report(done: int, total: int) -> None:
            if self.stop.is_set():
                raise _Stopped
            with self.lock:
                self.done[place] = done
                if self.progress is not None:
                    self.progress(sum(self.done), self.all)

        return report


def _once(notify: Notify | None) -> Notify | None:
    """Each sentence only the first time."""
    said: set[str] = set()

    def say(sentence: str) -> None:
        if notify is not None and sentence not in said:
            said.add(sentence)
            notify(sentence)

    return None if notify is None else say


Waits = Floats


SURE = {True: "yes", False: "no", None: "-"}
"""In tables: whether a class clearly gains or loses."""


@dataclass(frozen=True)
class Class:
    """Jobs of one partition, account, QOS, size or user: mean waits (s) under base and variant.

    `low` and `high` bound the difference over the seeds; `over_weeks` is its 95 % interval over weeks, None
    where they are too few.
    """

    kind: str
    name: str
    jobs: int
    base: float
    value: float
    low: float
    high: float
    over_weeks: tuple[float, float] | None
    seeds: int

    @property
    def difference(self) -> float:
        """How much longer they wait (s)."""
        return self.value - self.base

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Of the difference over seeds and weeks; None: one run over too few weeks tells none."""
        if self.seeds == 1 and self.over_weeks is None:
            return None
        weeks = self.over_weeks or (self.low, self.high)
        return min(self.low, weeks[0]), max(self.high, weeks[1])

    @property
    def sure(self) -> bool | None:
        """Whether all seeds and the interval over weeks agree on who waits longer; None: nobody can tell."""
        return None if self.bounds is None else self.bounds[0] > 0 or self.bounds[1] < 0

    def describe(self) -> dict[str, Any]:
        """Everything as plain data."""
        return vars(self) | {"difference": self.difference, "sure": self.sure}


@dataclass(frozen=True)
class Part:
    """Some jobs and their waits (s) under base and variant."""

    whose: str
    waits: Paired
    """Over weeks; its blocks are weeks of submission."""
    changes: tuple[float, ...]
    """Relative change of the mean wait for each seed of the clock phases."""

    def describe(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "jobs_compared": self.waits.pairs, "weeks": self.waits.blocks,
            "mean_wait_base": self.waits.base, "mean_wait": self.waits.value,
            "difference": self.waits.difference, "relative": self.waits.change,
            "interval": [self.waits.change_low, self.waits.change_high],
            "by_seed": list(self.changes),
        }  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """One variant compared with the base over the jobs that both have and the variant does not cut short."""

    name: str
    base: Schedule
    variant: Schedule
    whole: Part
    named: tuple[Part, ...]
    """The jobs of whomever the change names, and all others; empty where it names nobody, or everybody."""
    classes: tuple[Class, ...]
    users: tuple[Class, ...]
    fidelity: Fidelity | None
    """How near the base is to the log; None where the log has no waits."""
    ended_early: int
    """Jobs that a shorter limit of the variant ends before they were done."""
    undone: float = 0.0
    """The share of the base's processor time that these then do not use."""
    same: bool = False
    """Whether all runs of base and variant have the same jobs, starts and ends."""

    @property
    def overall(self) -> Paired:
        """The waits of all jobs compared."""
        return self.whole.waits

    def describe(self) -> dict[str, Any]:
        """Everything as plain data."""
        true = self.fidelity
        return {
            "change": self.name, "jobs": len(self.base), **self.whole.describe(),
            "named": [{"whose": part.whose, **part.describe()} for part in self.named],
            "fidelity": None if true is None else {"overall": true.overall, "seeds": true.seeds},
            "ended_early": self.ended_early, "undone": self.undone,
            "classes": [one.describe() for one in (*self.classes, *self.users)],
            "ledger": self.base.workload.ledger.rows(),
        }  # fmt: skip


def answer(name: str, bases: Sequence[Schedule], variants: Sequence[Schedule]) -> Answer:
    """Compare runs pairwise, one pair for each seed, over the jobs that all runs have.

    Jobs that the variant cuts short are left out, unless it cuts all: to be killed is no gain.

    Where one side has fewer runs, as a policy without clocks has, its first stands for the missing ones.
    """
    pairs = max(len(bases), len(variants))
    sides = [[*runs, *[runs[0]] * (pairs - len(runs))] for runs in (bases, variants)]
    base, variant = bases[0], variants[0]
    common = _common([*bases, *variants])
    rows, others = (run.workload.rows_of(common)[1] for run in (base, variant))
    shorter = variant.run[others] < base.run[rows]
    lost = (base.procs[rows] * (base.run[rows] - variant.run[others]).astype(np.float64))[shorter].sum()
    if not shorter.all():
        common, rows = common[~shorter], rows[~shorter]
    before, after = (np.stack([_waits(run, common) for run in runs]) for runs in sides)
    week = (base.submit[rows] - base.submit.min()) // WEEK
    wait = base.workload.get("wait")
    known = wait is not None and bool((wait >= 0).any())
    classes = list(_classes(base, rows, before, after, week))
    return Answer(
        name=name,
        base=base,
        variant=variant,
        whole=_part("all jobs", before, after, week),
        named=tuple(
            _part(whose, before[:, chosen], after[:, chosen], week[chosen])
            for whose, chosen in _named(base, name, rows)
        ),
        classes=tuple(one for one in classes if one.kind != "user"),
        users=tuple(one for one in classes if one.kind == "user"),
        fidelity=fidelity(*bases) if known else None,
        ended_early=int(np.count_nonzero(shorter)),
        undone=float(lost / (base.procs * base.run.astype(np.float64)).sum()) if shorter.any() else 0.0,
        same=all(map(_same, *sides)),
    )


def _part(whose: str, before: Waits, after: Waits, week: Ints) -> Part:
    """The waits of some jobs, a row for each seed."""
    changes = tuple(
        float(two.mean() / one.mean() - 1) if one.mean() else 0.0
        for one, two in zip(before, after, strict=True)
    )
    return Part(whose, paired(week, after.mean(axis=0), before.mean(axis=0), np.ones(len(week))), changes)


def _named(base: Schedule, variant: str, rows: Ints) -> list[tuple[str, Mask]]:
    """The jobs of whomever a variant names, and all others."""
    names, site = named(variant), base.platform.site
    if site is None or not names:
        return []
    chosen = np.zeros(len(rows), np.bool_)
    for kind, of in names.items():
        chosen |= of_named(base.workload, site, kind, of)[rows]
    whose = " and ".join(f"{kind} {', '.join(dict.fromkeys(of))}" for kind, of in names.items())
    return [(whose, chosen), ("all others", ~chosen)] if chosen.any() and not chosen.all() else []


def _same(one: Schedule, other: Schedule) -> bool:
    """Whether two runs have the same jobs, starts and ends."""
    return all(
        np.array_equal(mine, theirs)
        for mine, theirs in (
            (one.workload.job, other.workload.job), (one.start, other.start), (one.end, other.end)
        )
    )  # fmt: skip


def _common(schedules: Sequence[Schedule]) -> Ints:
    """Numbers of the jobs that are in all schedules."""
    found = np.unique(schedules[0].workload.job)
    for other in schedules[1:]:
        found = np.intersect1d(found, other.workload.job)
    return found.astype(np.int64)


def _waits(schedule: Schedule, jobs: Ints) -> Waits:
    """Waits of jobs in seconds."""
    return schedule.wait[schedule.workload.rows_of(jobs)[1]].astype(np.float64) / SECOND


def _classes(base: Schedule, rows: Ints, before: Waits, after: Waits, week: Ints) -> Iterator[Class]:
    workload = base.workload
    kinds: dict[str, tuple[Ints, Callable[[int], str]]] = {
        "size": (size_classes(workload.procs[rows]).astype(np.int64), size_class)
    }
    for kind, column in {**divisions(workload), "user": "user"}.items():
        label = partial(workload.name_of, column, unknown="not given")
        kinds[kind] = (workload.columns[column][rows], label)
    for kind, (codes, name) in kinds.items():
        order = np.argsort(codes, kind="stable")
        found, first = np.unique(codes[order], return_index=True)
        for code, here in zip(found.tolist(), np.split(order, first[1:]), strict=True):
            yield _class(kind, name(code), before[:, here], after[:, here], week[here])


def _class(kind: str, name: str, before: Waits, after: Waits, week: Ints) -> Class:
    differences = (after - before).mean(axis=1)
    old, new = before.mean(axis=0), after.mean(axis=0)
    over = paired(week, new, old, np.ones(len(week)))
    bounded = over.enough and over.difference_low is not None and over.difference_high is not None
    weeks = (float(over.difference_low or 0), float(over.difference_high or 0)) if bounded else None
    return Class(
        kind=kind,
        name=name,
        jobs=len(week),
        base=float(old.mean()),
        value=float(new.mean()),
        low=float(differences.min()),
        high=float(differences.max()),
        over_weeks=weeks,
        seeds=len(differences),
    )
