"""One simulation as an environment of Gymnasium."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from headway.gym.episodes import Episodes, Part
from headway.gym.sessions import Simulations
from headway.platform import Platform
from headway.policies.agent.features import VERSION
from headway.result import Result
from headway.workload import Workload


class SchedulingEnv(gymnasium.Env[np.ndarray, Any]):
    """Decisions of a scheduler on stretches of a log.

    ``task``: choose (any of the first ``window`` jobs that fit, or wait), backfill (which job may pass the
    head) or weights (four weights of a priority every ``period`` seconds). Without ``may_wait`` the mask does
    not offer to wait while a job may start. ``reward``: wait (hours, negative, of the jobs that started),
    bsld (negative), utilization, or ``wait_change``, ``bsld_change`` and ``utilization_change``: how they
    changed since the last decision. What is seen is in :mod:`headway.policies.agent.features`;
    ``observation_version`` tells its version.
    """

    metadata: dict[str, Any] = {"render_modes": [], "observation_version": VERSION}  # noqa: RUF012

    def __init__(
        self,
        workload: Workload,
        procs: int | Platform,
        *,
        task: str = "choose",
        reward: str = "bsld",
        window: int = 16,
        jobs: int = 256,
        part: Part = "all",
        train: float = 0.7,
        period: float = 3600.0,
        may_wait: bool = True,
    ) -> None:
        self.episodes = Episodes(workload, jobs, part, train)
        self.simulations = Simulations(
            self.episodes, procs, 1, task, reward, window, period, may_wait=may_wait
        )
        self.episodes = self.simulations.episodes
        self.observation_space = spaces.Box(0.0, 1.0, (self.simulations.seen.shape[1],), np.float32)
        self.action_space: spaces.Space[Any] = action_space(task, window)
        self._by_weights = task == "weights"

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode: the stretch that the seed draws, or ``options={"first": job}`` of the log."""
        super().reset(seed=seed)
        first = (options or {}).get("first")
        firsts = self.episodes.draw(self.np_random, 1) if first is None else np.array([int(first)])
        self.simulations.begin(firsts)
        return self.simulations.seen[0].copy(), {"action_mask": self.simulations.mask[0].copy()}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Decide; a job that may not start now is a wish to wait."""
        many = self.simulations
        if self._by_weights:
            many.weights[0] = action
        else:
            many.actions[0] = action
        many.step()
        over = bool(many.done[0])
        info: dict[str, Any] = {"action_mask": many.mask[0].copy()}
        if over:
            info |= many.figures(0)
            many.done[0] = False
        return many.seen[0].copy(), float(many.reward[0]), over, False, info

    def action_masks(self) -> np.ndarray:
        """Which actions are open now, as sb3-contrib asks for them."""
        return self.simulations.mask[0].astype(np.bool_)

    def schedule(self) -> Result:
        """The schedule of the episode that is over."""
        return self.simulations.schedule(0)


def action_space(task: str, window: int) -> spaces.Space[Any]:
    """A slot, or the last number to wait; or four weights."""
    if task == "weights":
        return spaces.Box(-1.0, 1.0, (4,), np.float64)
    return spaces.Discrete(window + 1)
