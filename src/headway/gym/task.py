"""What is to be learned, and from which log: the settings that one environment and a vector of them share."""

from __future__ import annotations

import numpy as np

from headway.errors import UsageError
from headway.gym.episodes import MOST, Episodes, check_kind, is_number, settings
from headway.gym.rewards import REWARDS
from headway.platform import Platform
from headway.policies.agent.features import OF_MACHINE, OF_SLOT
from headway.policies.agent.network import TASKS
from headway.policies.policy import Policy
from headway.policies.spec import make_spec
from headway.units import LONGEST, SECOND
from headway.workload.cancelled import ended_only, ran_only


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
