"""Simulations side by side as Python holds them: their tables, and the compiled steps over them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from headway.gym import core
from headway.gym.episodes import Task, check_kind
from headway.gym.rewards import Sum
from headway.policies.agent.features import WEEK
from headway.units import SECOND

ALONE = 32
"""So few sessions are not worth a second thread."""


class Simulations:
    """``count`` simulations of stretches of a log."""

    def __init__(self, task: Task, count: int, threads: int = 1) -> None:
        check_kind(sessions=count, threads=threads)
        self.episodes, self.count, window = task.episodes, count, task.window
        submit, procs, walltime, runtime = task.jobs
        room = self.episodes.jobs
        jobs = np.ascontiguousarray([submit, procs, walltime, np.minimum(runtime, walltime)])
        period = round(task.period * SECOND)
        self.tables = core.Sessions(
            jobs=jobs,
            scale=np.minimum(np.log1p(np.maximum(walltime, 0) / SECOND) / WEEK, 1.0),
            clock=np.zeros((count, len(core.Clock)), np.int64),
            queue=np.zeros((count, room), np.int64),
            ends=np.zeros((2 * count, room), np.int64),
            expected=np.zeros((2 * count, room), np.int64),
            started=np.full((count, room), -1, np.int64),
            sums=np.zeros((count, len(Sum))),
            settings=np.array(
                [task.mode, task.reward, window, task.machine, task.origin, period, task.may_wait], np.int64
            ),
        )
        self.seen = np.zeros((count, task.features), np.float32)
        self.mask = np.zeros((count, window + 1), np.int8)
        self.reward, self.done = np.zeros(count), np.zeros(count, np.bool_)
        self.actions, self.weights = np.zeros(count, np.int64), np.zeros((count, 4))
        self.firsts = np.full(count, -1, np.int64)
        threads = threads if count > ALONE else 1
        self._shares = [(count * i // threads, count * (i + 1) // threads) for i in range(threads)]

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(len(self._shares))

    def __getstate__(self) -> dict[str, Any]:
        # Threads cannot be copied; a copy has its own.
        return {name: value for name, value in vars(self).items() if name != "_pool"}

    def begin(self, firsts: np.ndarray) -> None:
        """Begin the episodes with these first jobs; -1 leaves a session as it is."""
        self.firsts[:] = firsts
        self.done[firsts >= 0] = False
        core.begin_all(self.tables, self.firsts, self.episodes.jobs, self.seen, self.mask, 0, self.count)

    def step(self) -> None:
        """One decision in each, by ``actions`` or ``weights``; sessions that were over begin ``firsts``."""
        if len(self._shares) == 1:
            self._step(*self._shares[0])
        else:
            list(self._pool.map(lambda share: self._step(*share), self._shares))

    def figures(self) -> dict[str, np.ndarray]:
        """Mean wait (s) and bounded slowdown of the sessions that are over, and which those are."""
        told: dict[str, np.ndarray] = {}
        for name, column in (("mean_wait", Sum.STARTED_WAITS), ("mean_bsld", Sum.STARTED_BSLD)):
            means = self.tables.sums[:, column] / self.episodes.jobs
            told |= {name: np.where(self.done, means, 0.0), f"_{name}": self.done.copy()}
        return told

    def _step(self, low: int, high: int) -> None:
        core.step_all(
            self.tables, self.actions, self.weights, self.firsts, self.episodes.jobs, self.seen, self.mask,
            self.reward, self.done, low, high,
        )  # fmt: skip
