"""A policy of Headway as the scheduler of a cluster whose jobs end when somebody says so.

    batch = Batch(cluster, spec)
    batch.open(t)                   what was due before t happens at its own instant, then it is t
    batch.submit(job), end, cancel  at t
    batch.close()                   the policy's turn
    batch.acts()                    what is to be done: start, suspend, resume, stop, kill

The policy is the very one that simulates, on the engine of simulations. Only the ends are real: a job holds
its processors until :meth:`Batch.end` is called, or until its walltime, at which it is to be killed. Times
are µs on a clock that begins with the cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np

from headway.engine.setup import grow
from headway.engine.tables import OPEN, Ended, Phase, Runs, State, Why, World
from headway.errors import UsageError
from headway.jit.rows import same
from headway.live.engine import PREPARED_FOR, Engine, Job, OwnCopy, arrivals_of
from headway.live.spans import KILL, RESUME, START, STOP, SUSPEND
from headway.platform import Cluster as Site
from headway.policies.grid.composed.cluster import Shape, Submission
from headway.policies.grid.composed.foresight import Copy
from headway.policies.grid.local_policies import run_together
from headway.policies.spec import Spec, make_spec
from headway.units import NEVER

ONLY_TRIED = -1
"""The number of a job that is tried and not submitted."""
FORGET_AFTER = 512
"""Columns of the tables from which on jobs that are over are taken out, if they are at least half of them."""

OWN_REMEMBERS = 20_000
"""The same under a policy of the user's own, which begins anew then and forgets what it kept of the past."""


@dataclass(frozen=True)
class Act:
    """What the policy wants to be done with a job, by its number, at an instant of the cluster's clock."""

    kind: str
    job: int
    at: int
    why: int = 0
    pool: int = 0


def check_live(spec: Spec) -> None:
    """Refuse what no live cluster can give, with the reason."""
    wrong = ""
    if spec.uses_own:
        from headway.policies.own.live import reason_against

        wrong = reason_against(spec)
    elif spec.params.get("estimate") == "exact":
        wrong = "plans with the run times themselves, which are not known before jobs have ended"
    elif "presence" in spec.params:
        wrong = "places jobs inside nodes, and a live cluster here counts its processors"
    elif spec.name == "reallocation":
        wrong = "is the agent's; a cluster has a policy such as conservative, easy, dbf or redirection"
    elif spec.params.get("overrun") == "finish":
        wrong = "lets urgent jobs outlive their walltime, at which a live job is killed"
    if wrong:
        raise UsageError(f"policy {spec.brief}: {wrong}")


def _put_first(heap: Any, size: int, t: int, run: int) -> None:
    """Add an end to the heap of ends that is due before all others that still count."""
    place = size
    while place > 0:
        parent = (place - 1) // 2
        heap[:, place] = heap[:, parent]
        place = parent
    heap[:, 0] = t, run


NOT_NUMBERED = ("requested", "of_column", "here", "now")


def _tables(state: State, world: World) -> list[Any]:
    """Every table of a simulation, one after the other."""
    return [table for each in state for table in (each if isinstance(each, tuple) else (each,))] + [*world]


def _filled(like: State, tables: Iterator[Any]) -> State:
    """A state of such tables, taken one after the other."""
    return State._make(
        type(each)(*(same(one, next(tables)) for one in each))
        if isinstance(each, tuple)
        else same(each, next(tables))
        for each in like
    )


@dataclass
class Picture:
    """What runs and what waits on a cluster, in the order in which it does: (number, instant, job)."""

    running: list[tuple[int, int, Job]]
    waiting: list[tuple[int, Job]]


def planned_from(site: Site, spec: Spec, picture: Picture, now: int) -> Batch:
    """A batch system under a policy that finds a cluster as it is, to foresee what it would do."""
    batch = Batch(site, spec)
    batch.restart({number: (start, job) for number, start, job in picture.running}, now)
    batch.open(now)
    if picture.waiting:
        batch.engine.submit_all(picture.waiting)
    return batch


class Batch:
    """The cluster under its policy. Jobs are numbers that the caller gives."""

    def __init__(self, site: Site, spec: Spec, may_stop: bool = True) -> None:
        check_live(spec)
        self.site, self.spec, self.may_stop = site, spec, may_stop
        beside = [Job(1, Shape(1, 1, 1), memory_kb=1), Job(1, Shape(1, 1, 1), urgent=True, memory_kb=1)]
        jobs = beside * (PREPARED_FOR // 2)
        self.prepared = spec.policy.prepare_joining(arrivals_of(jobs, site), site.procs)
        self.engine = self._new_engine()
        self._acts: list[Act] = []
        self.seen_at = 0

    def _new_engine(self) -> Engine:
        self._seen, self._open_runs = 0, dict[int, int]()
        engine = Engine(self.site, self.spec, self.prepared, self.may_stop)
        self._begin_copies(engine)
        return engine

    def _begin_copies(self, engine: Engine) -> None:
        kind = Copy if engine.own is None else OwnCopy
        self.trial, self.future = kind(engine), kind(engine)
        self.foreseen = -1
        self._ahead: tuple[tuple[int, int], Batch] | None = None

    @property
    def pools(self) -> tuple[int, ...]:
        """Processors of the pools that jobs run in: one, or the groups of redirection."""
        return tuple(self.prepared.groups.values()) or (self.site.procs,)

    @property
    def now(self) -> int:
        return self.engine.now

    @property
    def following(self) -> int:
        """When the policy wants its next turn, or a job comes to its walltime; NEVER: when told."""
        return self.engine.now if self.engine.is_open else self.engine.following

    # ---- time ---------------------------------------------------------------------------------------------

    def open(self, t: int) -> None:
        """Let it be ``t``; what was due before happens at its own instant."""
        if self.engine.is_open and t <= self.engine.now:
            return
        self._catch_up(t)
        self.engine.open(max(t, self.engine.now))

    def look(self, t: int) -> None:
        """Let happen what was due before ``t``, and foresee from ``t`` on; the policy has no turn at it."""
        if not self.engine.is_open or t > self.engine.now:
            self._catch_up(t)
        self.seen_at = max(t, self.engine.now)

    def _catch_up(self, t: int) -> None:
        """Let happen what was due before ``t``; no instant is open then."""
        self.close()
        while self.engine.following < t:
            self.engine.open(self.engine.following)
            self.close()

    def close(self) -> None:
        """The policy's turn."""
        if self.engine.is_open:
            self.engine.close()
            self._notice()

    def acts(self) -> list[Act]:
        """What was decided since the last call; what stops comes before what starts at the same instant."""
        found, self._acts = self._acts, []
        return found

    def _notice(self) -> None:
        """Read from the log of runs what the last instant changed."""
        state, engine = self.engine.state, self.engine
        runs, now = int(state.clock.runs), engine.now
        words: dict[int, str] = {Ended.AT_WALLTIME: KILL, Ended.BY_SUSPENSION: SUSPEND}
        for run, job in list(self._open_runs.items()):
            if state.runs.end[run] != OPEN:
                del self._open_runs[run]
                ended = int(state.runs.ended[run])
                if ended != Ended.BY_ITSELF:
                    self._acts.append(Act(words.get(ended, STOP), job, now))
        for run in range(self._seen, runs):
            job = engine.of_column[int(state.runs.job[run])]
            why, pool = int(state.runs.why[run]), int(state.runs.pool[run])
            self._acts.append(Act(RESUME if why == Why.RESUMED else START, job, now, why, pool))
            if state.runs.end[run] == OPEN:
                self._open_runs[run] = job
        self._seen = runs

    # ---- jobs ---------------------------------------------------------------------------------------------

    def submit(self, number: int, job: Job) -> None:
        """A job arrives, at the instant that is open."""
        self.engine.know(number, job)
        self.engine.submit(number, job.shape)

    def cancel(self, number: int) -> bool:
        """Take a waiting job away; False if it does not wait."""
        if number not in self.engine.here or not self.engine.waits(number):
            return False
        self.engine.cancel(number)
        self.engine.forget(number)
        return True

    def end(self, number: int, t: int) -> int:
        """A running job has ended; the instant, which is open then."""
        self._catch_up(t)
        engine, t = self.engine, max(t, self.engine.now)
        column = engine.here[number].column if number in engine.here else -1
        if column >= 0 and engine.state.jobs.phase[column] == Phase.RUNNING:
            run = int(engine.state.jobs.run[column])
            length = t - int(engine.state.runs.start[run])
            kept = int(engine.state.jobs.kept[column]) - int(engine.state.runs.lead[run])
            engine.world.runtime[column] = length + kept
            while engine.world.size[0] + 2 > engine.world.ends.shape[1]:
                engine.state, engine.world = grow(engine.state, engine.world)
            _put_first(engine.world.ends, int(engine.world.size[0]), t, run)
            engine.world.size[0] += 1
        engine.open(t)
        return t

    def phase(self, number: int) -> str:
        """waiting, running, suspended, refused or done."""
        engine = self.engine
        if number not in engine.here:
            return "done"
        if engine.waits(number):
            return "waiting"
        found = int(engine.state.jobs.phase[engine.here[number].column])
        names: dict[int, str] = {
            Phase.RUNNING: "running",
            Phase.SUSPENDED: "suspended",
            Phase.REFUSED: "refused",
        }
        return names.get(found, "waiting" if found == Phase.WAITING else "done")

    def knows(self, number: int) -> bool:
        """Whether a job was submitted here and not taken away."""
        return number in self.engine.here

    def ended(self, number: int) -> int:
        """When a job that is over ended (µs)."""
        engine = self.engine
        return int(engine.state.runs.end[engine.state.jobs.run[engine.here[number].column]])

    def promise(self, number: int) -> int | None:
        """What the policy promised the job (µs): a latest start or end, as ``prepared.promise_kind`` says."""
        if number not in self.engine.here:
            return None
        told = int(self.engine.state.jobs.promise[self.engine.here[number].column])
        return told if told >= 0 else None

    # ---- foresight ----------------------------------------------------------------------------------------

    def _estimator(self) -> Batch | None:
        """EASY promises nothing: as in a simulated grid, what it does is estimated by conservative
        backfilling that finds the cluster as it is now."""
        if self.spec.name != "easy" or not run_together((self.spec,)):
            return None
        at = (self.engine.version, self._present())
        if self._ahead is None or self._ahead[0] != at:
            plan = planned_from(self.site, make_spec("conservative"), self.picture(), at[1])
            self._ahead = (at, plan)
        return self._ahead[1]

    def picture(self) -> Picture:
        """What runs and what waits, each in order of submission here."""
        engine, running, waiting = self.engine, [], []
        for number, submission in engine.here.items():
            if self.phase(number) == "waiting":
                waiting.append((number, engine.live[number]))
            elif self.phase(number) == "running":
                run = int(engine.state.jobs.run[submission.column])
                running.append((number, int(engine.state.runs.start[run]), engine.live[number]))
        return Picture(running, waiting)

    @property
    def _reserves(self) -> bool:
        """Whether every waiting job has a reserved start, which holds if nothing else comes."""
        return self.spec.name == "conservative" and self.spec.params["compress"] != "scratch"

    def _reserved(self, state: State, column: int) -> tuple[int, int]:
        """(start, completion) of a job under a policy that reserves."""
        if state.jobs.phase[column] == Phase.WAITING:
            start = int(state.jobs.reserved[column])
        else:
            start = int(state.runs.start[state.jobs.run[column]])
        return start, start + int(state.jobs.wall[column])

    def _present(self) -> int:
        return self.engine.now if self.engine.is_open else max(self.seen_at, self.engine.now)

    def tried(self, job: Job) -> int:
        """When a job that is not here would be completed if it were submitted now; NEVER: not at all."""
        engine, now = self.engine, self._present()
        if (plan := self._estimator()) is not None:
            return plan.tried(job)
        engine.settle()
        engine.know(ONLY_TRIED, job)
        try:
            self.trial.renew(now)
            column = self.trial.begin(now, ONLY_TRIED, job.shape)
            if self._reserves and self.trial.state is not None:
                return self._reserved(self.trial.state, column)[1]
            return self.trial.completion(column)
        finally:
            engine.forget(ONLY_TRIED)

    def planned(self, number: int) -> tuple[int, int]:
        """(start, completion) of a job that waits or runs, if nothing else comes; NEVER if it is not run."""
        engine = self.engine
        if (plan := self._estimator()) is not None:
            return plan.planned(number)
        engine.settle()
        if self._reserves and not engine.is_open:
            return self._reserved(engine.state, engine.here[number].column)
        if self.foreseen != engine.version:
            self.foreseen = engine.version
            self.future.renew(self._present())
            self.future.begin(self._present())
        column = engine.here[number].column
        if self._reserves and self.future.state is not None:
            return self._reserved(self.future.state, column)
        completion = self.future.completion(column)
        if completion == NEVER:
            return NEVER, NEVER
        assert self.future.state is not None
        run = int(self.future.state.jobs.run[column])
        return int(self.future.state.runs.start[run]), completion

    @classmethod
    def warm(cls, site: Site, spec: Spec) -> None:
        """Compile what a cluster needs before anybody waits for it."""
        batch = cls(site, spec)
        half = max(site.procs // 2, 1)
        for number in range(4):
            batch.open(number)
            batch.submit(number, Job(10, Shape(half, 1, 1), urgent=number == 3, memory_kb=1))
            batch.close()
        batch.planned(2)
        batch.tried(Job(10, Shape(1, 1, 1), memory_kb=1))
        batch.open(5)
        batch.cancel(2)
        batch.close()
        batch.end(0, 6)
        batch.close()
        batch.look(100)

    # ---- forgetting ---------------------------------------------------------------------------------------

    def drop_over(self) -> bool:
        """Take jobs that are over out of the tables where they are many; False if that has to wait.

        Nothing that is to come changes. A policy whose notes name jobs by their columns, as one of the
        user's own may, cannot have that: :meth:`forget_past` is for it.
        """
        engine, clock = self.engine, self.engine.state.clock
        columns = len(engine.of_column)
        live = int(clock.waits + clock.runs_now + clock.suspends)
        if engine.own is not None or not engine.kind.takes_other_numbers:
            return False
        if engine.is_open or columns < max(FORGET_AFTER, 2 * live):
            return False
        new = engine.drop_over()
        self._open_runs = {int(new[run]): job for run, job in self._open_runs.items()}
        self._seen = int(engine.state.clock.runs)
        self._begin_copies(engine)
        return True

    def saved(self) -> bytes:
        """All that :meth:`restore` needs to go on from here, between two instants."""
        engine, file = self.engine, BytesIO()
        assert engine.own is None and not engine.is_open
        here = [(number, each.column, *each.shape) for number, each in engine.here.items()]
        tables: dict[Any, Any] = dict(enumerate(_tables(engine.state, engine.world))) | {
            "requested": engine.requested,
            "of_column": engine.submitted,
            "here": np.array(here, np.int64).reshape(-1, 5),
            "now": np.array([engine.now, engine.following]),
        }
        np.savez_compressed(file, **{str(name): table for name, table in tables.items()})
        return file.getvalue()

    def restore(self, saved: bytes, job_of: Callable[[int], Job]) -> None:
        """Be as the batch system was that was saved, on the same cluster under the same policy."""
        engine = self.engine = self._new_engine()
        with np.load(BytesIO(saved)) as found:
            tables = iter([found[str(number)] for number in range(len(found) - len(NOT_NUMBERED))])
            requested, of_column, here, (now, following) = (found[name] for name in NOT_NUMBERED)
        engine.state = _filled(engine.state, tables)
        engine.world = World(*tables)
        engine.requested, engine.of_column = requested, of_column.tolist()
        for number, column, *shape in here.tolist():
            engine.know(number, job_of(number))
            engine.here[number] = Submission(column, Shape(*shape))
        engine.now, engine.following = int(now), int(following)
        runs = Runs(engine.state.runs[:, : engine.state.clock.runs])
        self._seen = runs.shape[1]
        for run in np.flatnonzero(runs.end == OPEN).tolist():
            self._open_runs[run] = engine.of_column[int(runs.job[run])]
        self._begin_copies(engine)

    def forget_past(self, running: Mapping[int, tuple[int, Job]]) -> bool:
        """Make the tables anew where they hold many jobs that are over, and nothing waits or is suspended.

        ``running`` are the jobs that run, each with the instant at which it started. A job that starts where
        nothing waits starts at once under every policy, so that submitting them in order of their starts
        gives the state that the policy would have with them alone. Nothing is decided: the acts are dropped.
        """
        engine = self.engine
        most = FORGET_AFTER if engine.own is None else OWN_REMEMBERS
        if len(engine.of_column) < most or engine.is_open or len(self.pools) > 1:
            return False
        if any(self.phase(number) in ("waiting", "suspended") for number in engine.here):
            return False
        self.restart(running, engine.now)
        return True

    def restart(self, running: Mapping[int, tuple[int, Job]], now: int) -> None:
        """Begin anew at ``now`` with jobs that run since some instants."""
        kept, self._acts = self._acts, []
        self.engine = self._new_engine()
        for number, (start, job) in sorted(running.items(), key=lambda item: (item[1][0], item[0])):
            self.open(start)
            self.submit(number, job)
            self.close()
        self.open(now)
        self.close()
        self._acts = kept
