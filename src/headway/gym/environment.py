"""One simulation as an environment of Gymnasium: a driver whose policy asks, in Gymnasium's words."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from headway.engine.driver import Driver
from headway.engine.tables import Runs, Step
from headway.errors import UsageError
from headway.gym import learner
from headway.gym.episodes import Episodes, Part, Task
from headway.gym.rewards import Sum
from headway.jit import kernels
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
        episodes = Episodes(workload, jobs, part, train)
        self.task = Task(episodes, procs, task, reward, window, period, may_wait)
        self.episodes = self.task.episodes
        self.observation_space = spaces.Box(0.0, 1.0, (self.task.features,), np.float32)
        self.action_space: spaces.Space[Any] = action_space(task, window)
        self._by_weights = task == "weights"

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode: the stretch that the seed draws, or ``options={"first": job}`` of the log."""
        super().reset(seed=seed)
        first = option(options, "first")
        if np.ndim(first):
            raise UsageError(f"an episode has one first job, not {first!r:.60}")
        self._first = int(
            self.episodes.draw(self.np_random, 1)[0] if first is None else self.episodes.checked(first)
        )
        self.driver = Driver(*learner.episode(self.task, self._first))
        self._memory: learner.LearnerTables = self.driver.state.memory
        self._lay_down()
        self._go_on()
        return self._memory.agent.seen.copy(), {"action_mask": self._memory.agent.open.copy()}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Decide; a job that may not start now is a wish to wait."""
        m = self._memory
        if self._by_weights:
            m.agent.weights[:] = weights(action, m.agent.weights.shape)
        else:
            try:
                m.answer[0] = chosen = int(action)
                if chosen != action:
                    raise ValueError
            except NO_ACTION:
                raise no_action(action) from None
        reward, over = self._go_on()
        info: dict[str, Any] = {"action_mask": m.agent.open.copy()}
        if over:
            info |= self._figures()
        return m.agent.seen.copy(), reward, over, False, info

    def __getattr__(self, name: str) -> Any:
        if name in ("_memory", "_first"):
            raise gymnasium.error.ResetNeeded("no episode has begun; call reset first")
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        # Addresses are this object's own; a copy finds its tables anew.
        return {name: value for name, value in vars(self).items() if name not in ("_there", "_addresses")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if "driver" in state:
            self._memory = self.driver.state.memory
            self._lay_down()

    def _lay_down(self) -> None:
        """Let the compiled code find the tables."""
        self._there = learner.laid_down(self.driver.state), learner.laid_down(self.driver.world)
        self._addresses = self._there if kernels.INTERPRETED else [part.ctypes.data for part in self._there]

    def _go_on(self) -> tuple[float, bool]:
        """Go on to the next question: the reward of the last answer, and whether it is over."""
        code, reward, over = learner.go_on(*self._addresses)
        while code == Step.GROW:
            self.driver.grow()
            self._lay_down()
            code, reward, over = learner.go_on(*self._addresses)
        if code != Step.ASK:
            raise self.driver.refusal()
        self._is_over = over
        return reward, over

    def _figures(self) -> dict[str, float]:
        """Mean wait (s) and bounded slowdown of the jobs; how many decisions it took."""
        m, jobs = self._memory, self.episodes.jobs
        return {
            "mean_wait": float(m.sums[Sum.STARTED_WAITS]) / jobs,
            "mean_bsld": float(m.sums[Sum.STARTED_BSLD]) / jobs,
            "decisions": float(m.turn[learner.Turn.STEPS]),
        }

    def action_masks(self) -> np.ndarray:
        """Which actions are open now, as sb3-contrib asks for them."""
        return self._memory.agent.open.astype(np.bool_)

    def schedule(self) -> Result:
        """The schedule of the episode that is over, to be judged like any other."""
        first = self._first
        if not self._is_over:
            raise UsageError("the episode is not over, and has no schedule yet")
        rows = self.task.order[first : first + self.episodes.jobs]
        place = np.argsort(rows, kind="stable")
        log = self.episodes.workload.select(rows[place], action="not in the episode")
        runs = Runs(self.driver.state.runs[:, self.driver.state.jobs.run[place]])
        start = runs.start
        return Result(
            workload=log,
            platform=Platform.procs(self.task.machine),
            policy="agent",
            start=start,
            end=start + np.minimum(log.runtime, log.walltime),
            why=runs.why.astype(np.uint8),
            killed=log.runtime > log.walltime,
        )


def option(options: dict[str, Any] | None, known: str) -> Any:
    """The one option that a reset knows, or None where it is not given."""
    if unknown := [name for name in options or () if name != known]:
        raise UsageError(f"reset has no option {unknown[0]!r}; it has {known!r}")
    return (options or {}).get(known)


NO_ACTION = (TypeError, ValueError, ArithmeticError)
"""What is raised where no whole numbers are given, or too many of them."""


def no_action(given: Any, wanted: str = "the number of a slot") -> UsageError:
    """What was chosen is no whole number."""
    return UsageError(f"an action is {wanted}, not {given!r:.60}")


def weights(action: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Weights from -1 to 1; beyond that they are cut, as an agent's are."""
    try:
        given = np.asarray(action, np.float64)
    except (TypeError, ValueError):
        given = np.full(shape, np.nan)
    if given.shape != shape or np.isnan(given).any():
        how_many = " x ".join(map(str, shape))
        raise UsageError(f"weights are {how_many} numbers from -1 to 1, not {action!r:.60}")
    return np.clip(given, -1.0, 1.0)


def action_space(task: str, window: int) -> spaces.Space[Any]:
    """A slot, or the last number to wait; or four weights."""
    if task == "weights":
        return spaces.Box(-1.0, 1.0, (4,), np.float64)
    return spaces.Discrete(window + 1)
