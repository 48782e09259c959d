"""What is to be learned, and from which stretches of a log: those for training, or those for testing.

The log is divided in time. Training sees the first part alone, tests the rest; a stretch never crosses the
line. Which stretch comes next is drawn by a seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np

from headway.errors import UsageError
from headway.gym.rewards import REWARDS
from headway.plain import counted
from headway.platform import Platform
from headway.policies.agent.features import OF_MACHINE, OF_SLOT
from headway.policies.agent.network import TASKS
from headway.policies.policy import Policy
from headway.policies.spec import make_spec
from headway.units import LONGEST, SECOND
from headway.workload import Workload
from headway.workload.cancelled import ended_only, ran_only
from headway.workload.transform.windows import line_of

Part = Literal["train", "test", "all"]
WEEK = 7 * 86_400 * SECOND


@dataclass(frozen=True)
class Episodes:
    """Stretches of ``jobs`` jobs each from a part of a log, which is divided at ``train`` of its time."""

    workload: Workload
    jobs: int = 256
    part: Part = "all"
    train: float = 0.7
    whole: Workload | None = None
    """The log that is divided, where ``workload`` are only the jobs of it that can run."""

    def __post_init__(self) -> None:
        if self.part not in ("train", "test", "all"):
            raise UsageError(f"part must be train, test or all, not {self.part!r}")
        if not isinstance(self.workload, Workload):
            raise UsageError(f"{self.workload!r:.60} is not a workload; read a log with headway.read(file)")
        if not is_number(self.train) or not 0 < self.train < 1:
            raise UsageError(f"train must be above 0 and below 1, not {self.train!r}")
        check_kind(jobs=self.jobs)
        if self.last - self.first < self.jobs:
            raise UsageError(
                f"an episode has {counted(self.jobs, 'job')} and the {self.part} part of the log has "
                f"{max(self.last - self.first, 0)}; give fewer jobs, or a longer log"
            )

    @property
    def line(self) -> int:
        """How many jobs were submitted before the line between training and testing."""
        divided = self.workload if self.whole is None else self.whole
        return int((self.workload.submit < line_of(divided, self.train)).sum())

    @property
    def first(self) -> int:
        """The first job of the part, in order of submission."""
        return self.line if self.part == "test" else 0

    @property
    def last(self) -> int:
        """One beyond the last job of the part."""
        return self.line if self.part == "train" else len(self.workload)

    def draw(self, random: np.random.Generator, count: int) -> np.ndarray:
        """First jobs of so many stretches."""
        return random.integers(self.first, self.last - self.jobs + 1, count)

    def checked(self, firsts: Any) -> np.ndarray:
        """First jobs that were given, by their place in order of submission: a whole episode follows each."""
        try:
            given = np.asarray(firsts)
            with np.errstate(invalid="ignore"):  # what is no number is no whole number either
                found = given.astype(np.int64)
        except (TypeError, ValueError, OverflowError):
            raise UsageError(f"first jobs of episodes are whole numbers, not {firsts!r}") from None
        most = len(self.workload) - self.jobs
        if (found != given).any() or ((found < 0) | (found > most)).any():
            raise UsageError(f"first jobs of episodes are whole numbers from 0 to {most}, not {firsts!r}")
        return found

    def weeks(self) -> list[Workload]:
        """The part's whole weeks as logs of their own, for policies to be compared on."""
        order = self.workload.order[self.first : self.last]
        submit = self.workload.submit[order]
        weeks = []
        for begin in range(int(submit[0]), int(submit[-1]) - WEEK + 2, WEEK):
            chosen = order[(submit >= begin) & (submit < begin + WEEK)]
            if len(chosen):
                weeks.append(self.workload.select(np.sort(chosen), action="in another week"))
        return weeks


def settings(value: str, choices: tuple[str, ...], name: str) -> int:
    """The code of a word."""
    if value not in choices:
        raise UsageError(f"{name} must be {', '.join(choices)}, not {value!r}")
    return choices.index(value)


def is_number(value: object) -> bool:
    """Whether something given for a number is one."""
    return isinstance(value, Real)


MOST = 1 << 16
"""Slots of a window at most."""


def check_kind(**given: Any) -> None:
    """Numbers that must be at least 1."""
    for name, value in given.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise UsageError(f"{name} must be a whole number of at least 1, not {value!r}")


class Task:
    """A task with its reward on a machine, and the log as the engine sees it."""

    def __init__(
        self,
        episodes: Episodes,
        procs: int | Platform,
        task: str,
        reward: str,
        window: int,
        period: float,
        may_wait: bool,
    ) -> None:
        self.machine = procs.total_procs if isinstance(procs, Platform) else procs
        check_kind(window=window, procs=self.machine)
        if window > MOST:
            raise UsageError(f"window must be at most {MOST:,}, not {window}")
        if not is_number(period) or not 1 / SECOND <= period < LONGEST / SECOND:
            raise UsageError(f"period must be a number of seconds, a microsecond at least, not {period!r}")
        if not isinstance(may_wait, bool):
            raise UsageError(f"may_wait must be True or False, not {may_wait!r}")
        # An agent refuses what it cannot schedule on, and so does the one who learns.
        platform = procs if isinstance(procs, Platform) else Platform.procs(procs)
        Policy(make_spec("agent")).to_run(platform, episodes.workload)
        log = ran_only(ended_only(episodes.workload)).fit_to(self.machine)
        self.episodes = Episodes(log, episodes.jobs, episodes.part, episodes.train, whole=episodes.workload)
        self.mode, self.reward = settings(task, TASKS, "task"), settings(reward, REWARDS, "reward")
        self.window, self.period, self.may_wait = window, period, may_wait
        self.features = window * OF_SLOT + OF_MACHINE
        """How many numbers are seen."""
        self.origin = log.header.unix_start or 0
        self.order = log.order
        """The log's jobs in order of submission."""
        names = ("submit", "procs", "walltime", "runtime")
        self.jobs = np.ascontiguousarray([log.columns[name][self.order] for name in names])
        """[column, job] in that order (µs)"""
