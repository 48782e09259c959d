"""Hundreds of simulations side by side as one vector environment, stepped in one compiled call a thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from headway.errors import UsageError
from headway.gym import core
from headway.gym.environment import NO_ACTION, action_space, no_action, option, weights
from headway.gym.episodes import Episodes, Part, Task, check_kind
from headway.gym.rewards import Sum
from headway.platform import Platform
from headway.policies.agent.features import VERSION, WEEK
from headway.units import SECOND
from headway.workload import Workload

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


class SchedulingVectorEnv(gymnasium.vector.VectorEnv[np.ndarray, Any, np.ndarray]):
    """Many sessions of :class:`headway.gym.SchedulingEnv`; one that is over begins anew at its next step."""

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": [],
        "observation_version": VERSION,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        workload: Workload,
        procs: int | Platform,
        *,
        sessions: int = 256,
        task: str = "choose",
        reward: str = "bsld",
        window: int = 16,
        jobs: int = 256,
        part: Part = "all",
        train: float = 0.7,
        period: float = 3600.0,
        threads: int = 2,
        may_wait: bool = True,
    ) -> None:
        episodes = Episodes(workload, jobs, part, train)
        learned = Task(episodes, procs, task, reward, window, period, may_wait)
        self.simulations = Simulations(learned, sessions, threads)
        self.episodes = learned.episodes
        self.num_envs = sessions
        self.single_observation_space = gymnasium.spaces.Box(0.0, 1.0, (learned.features,), np.float32)
        self.single_action_space = action_space(task, window)
        self.observation_space = batch_space(self.single_observation_space, sessions)
        self.action_space = batch_space(self.single_action_space, sessions)
        self._by_weights = task == "weights"
        self._never, self._has_begun = np.zeros(sessions, np.bool_), False

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode in each session: drawn by the seed, or ``options={"firsts": jobs}`` of the log.

        A first job of -1 leaves its session as it is.
        """
        if isinstance(seed, list):  # the episodes of all sessions are drawn by one generator
            known = [one for one in seed if one is not None]
            mixed = int(np.random.SeedSequence(known).generate_state(1)[0])
            seed = mixed if len(known) == len(seed) else None
        super().reset(seed=seed, options=options)
        firsts = option(options, "firsts")
        if firsts is None:
            drawn = self.episodes.draw(self.np_random, self.num_envs)
        else:
            drawn = np.asarray(firsts)
            if drawn.shape != (self.num_envs,):
                raise UsageError(f"firsts are {self.num_envs} first jobs, one for each session")
            stays = drawn == -1
            drawn = np.where(stays, -1, self.episodes.checked(np.where(stays, 0, drawn)))
        self.simulations.begin(drawn)
        self._has_begun |= bool((drawn >= 0).all())
        return self.simulations.seen.copy(), {"action_mask": self.simulations.mask.copy()}

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """One decision in each session; ``info`` has the mean wait and slowdown of those that are over."""
        many = self.simulations
        if not self._has_begun:
            raise gymnasium.error.ResetNeeded("no episode has begun; call reset first")
        if many.done.any():
            many.firsts[:] = self.episodes.draw(self.np_random, self.num_envs)
        if self._by_weights:
            many.weights[:] = weights(actions, many.weights.shape)
        else:
            try:
                with np.errstate(invalid="raise"):
                    many.actions[:] = actions
                if (many.actions != actions).any():
                    raise ValueError
            except NO_ACTION:
                raise no_action(actions, f"a slot of each of {self.num_envs} sessions") from None
        many.step()
        info = {"action_mask": many.mask.copy()}
        if many.done.any():
            info |= many.figures()
        return many.seen.copy(), many.reward.copy(), many.done.copy(), self._never.copy(), info

    def action_masks(self) -> np.ndarray:
        """Which actions are open now in each session."""
        return self.simulations.mask.astype(np.bool_)
