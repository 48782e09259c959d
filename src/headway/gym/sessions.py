"""Simulations side by side as Python holds them: their tables, and the compiled steps over them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from headway.gym import core
from headway.gym.episodes import Episodes, check_kind, settings
from headway.platform import Platform
from headway.policies.agent.features import OF_MACHINE, OF_SLOT, WEEK
from headway.result import Result
from headway.schedule.codes import WHY
from headway.units import SECOND

TASKS = {"choose": core.CHOOSE, "backfill": core.BACKFILL, "weights": core.WEIGHTS}
REWARDS = {
    "wait": core.WAIT,
    "bsld": core.BSLD,
    "utilization": core.UTILIZATION,
    "wait_change": core.WAIT_CHANGE,
    "bsld_change": core.BSLD_CHANGE,
    "utilization_change": core.UTILIZATION_CHANGE,
}
ALONE = 32
"""So few sessions are not worth a second thread."""


class Simulations:
    """``count`` simulations of stretches of a log."""

    def __init__(
        self,
        episodes: Episodes,
        procs: int | Platform,
        count: int,
        task: str,
        reward: str,
        window: int,
        period: float,
        threads: int = 1,
        may_wait: bool = True,
    ) -> None:
        check_kind(window=window, sessions=count, threads=threads)
        machine = procs.total_procs if isinstance(procs, Platform) else procs
        check_kind(procs=machine)
        self.episodes = Episodes(
            episodes.workload.fit_to(machine), episodes.jobs, episodes.part, episodes.train
        )
        self.count, self.window, self.machine = count, window, machine
        self.mode, kind = settings(task, TASKS, "task"), settings(reward, REWARDS, "reward")
        log = self.episodes.workload
        self.order = np.argsort(log.submit, kind="stable")
        submit, size, walltime, runtime = (
            log.columns[name][self.order] for name in ("submit", "procs", "walltime", "runtime")
        )
        room = self.episodes.jobs
        jobs = np.ascontiguousarray([submit, size, walltime, np.minimum(runtime, walltime)])
        origin = log.header.unix_start or 0
        self.tables = core.Sessions(
            jobs=jobs,
            scale=np.minimum(np.log1p(np.maximum(walltime, 0) / SECOND) / WEEK, 1.0),
            clock=np.zeros((count, core.FIELDS), np.int64),
            queue=np.zeros((count, room), np.int64),
            ends=np.zeros((2 * count, room), np.int64),
            expected=np.zeros((2 * count, room), np.int64),
            started=np.full((count, room), -1, np.int64),
            sums=np.zeros((count, core.SUMS)),
            settings=np.array(
                [self.mode, kind, window, machine, origin, round(period * SECOND), may_wait], np.int64
            ),
        )
        self.seen = np.zeros((count, window * OF_SLOT + OF_MACHINE), np.float32)
        self.mask = np.zeros((count, window + 1), np.int8)
        self.reward, self.done = np.zeros(count), np.zeros(count, np.bool_)
        self.actions, self.weights = np.zeros(count, np.int64), np.zeros((count, 4))
        self.firsts = np.full(count, -1, np.int64)
        self._threads = ThreadPoolExecutor(threads) if threads > 1 and count > ALONE else None
        self._shares = [
            (count * i // threads, count * (i + 1) // threads)
            for i in range(threads if self._threads is not None else 1)
        ]
        if self._threads is None:
            self._shares = [(0, count)]

    def begin(self, firsts: np.ndarray) -> None:
        """Begin the episodes with these first jobs; -1 leaves a session as it is."""
        self.firsts[:] = firsts
        self.done[firsts >= 0] = False
        core.begin_all(self.tables, self.firsts, self.episodes.jobs, self.seen, self.mask, 0, self.count)

    def step(self) -> None:
        """One decision in each, by ``actions`` or ``weights``; sessions that were over begin ``firsts``."""
        if self._threads is None:
            self._step(*self._shares[0])
        else:
            list(self._threads.map(lambda share: self._step(*share), self._shares))

    def _step(self, low: int, high: int) -> None:
        core.step_all(
            self.tables, self.actions, self.weights, self.firsts, self.episodes.jobs, self.seen, self.mask,
            self.reward, self.done, low, high,
        )  # fmt: skip

    def figures(self, session: int) -> dict[str, float]:
        """Mean wait (s) and bounded slowdown of the jobs that have started; how many decisions it took."""
        started = max(int((self.tables.started[session] >= 0).sum()), 1)
        sums = self.tables.sums[session]
        return {
            "mean_wait": float(sums[core.STARTED_WAITS]) / started,
            "mean_bsld": float(sums[core.STARTED_BSLD]) / started,
            "decisions": float(self.tables.clock[session, core.STEPS]),
        }

    def schedule(self, session: int) -> Result:
        """The schedule of an episode that is over, to be judged like any other."""
        first = int(self.tables.clock[session, core.FIRST])
        rows = self.order[first : first + self.episodes.jobs]
        place = np.argsort(rows, kind="stable")
        log = self.episodes.workload.select(rows[place], action="not in the episode")
        start = self.tables.started[session][place]
        return Result(
            workload=log,
            platform=Platform.procs(self.machine),
            policy="agent",
            start=start,
            end=start + np.minimum(log.runtime, log.walltime),
            why=np.where(start == log.submit, WHY.index("immediate"), WHY.index("head")).astype(np.uint8),
            killed=log.runtime > log.walltime,
        )
