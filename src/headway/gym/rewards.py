"""Rewards by their names, and the sums that they are made of."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from headway.jit.kernels import kernel
from headway.units import SECOND

Sums = npt.NDArray[np.float64]

WAIT, BSLD, UTILIZATION, WAIT_CHANGE, BSLD_CHANGE, UTILIZATION_CHANGE = range(6)
REWARDS = ("wait", "bsld", "utilization", "wait_change", "bsld_change", "utilization_change")
TAU = 10.0
"""Seconds: bounded slowdowns take shorter jobs to be as long."""


class Sum(IntEnum):
    """What rewards are made of (seconds)."""

    WAITED_SUM = 0
    """Waiting time of all jobs, busy share x time, and by how much the expected slowdowns of those that wait
    grew, all three since the last decision; before the second one, since the episode began."""
    BUSY_AREA = 1
    GROWN = 2
    STARTED_WAITS = 3
    """Waits and bounded slowdowns of jobs that started."""
    STARTED_BSLD = 4
    RATE = 5
    """What the expected slowdowns grow by each second."""
    LAST_BUSY = 6
    """The busy share and the time at the last decision; at first those of the episode's beginning."""
    LAST_TIME = 7
    LAST_WAITS = 8
    """STARTED_WAITS and STARTED_BSLD at the last decision."""
    LAST_BSLD = 9


@kernel
def growth(walltime: int) -> float:
    """What a waiting job's bounded slowdown grows by each second, if it ran as long as requested."""
    return 1.0 / max(walltime / SECOND, TAU)


@kernel
def add_time(sums: Sums, time: int, waiting: int, busy: float) -> None:
    """Time has passed with so many waiting and such a share of processors busy."""
    seconds = time / SECOND
    sums[Sum.WAITED_SUM] += waiting * seconds
    sums[Sum.BUSY_AREA] += busy * seconds
    sums[Sum.GROWN] += sums[Sum.RATE] * seconds


@kernel
def add_started(sums: Sums, wait: int, length: int) -> None:
    """A job has started after such a wait and will run so long."""
    waited, runs = wait / SECOND, length / SECOND
    sums[Sum.STARTED_WAITS] += waited
    sums[Sum.STARTED_BSLD] += max((waited + runs) / max(runs, TAU), 1.0)


@kernel
def reward_of(sums: Sums, kind: int, now: int, busy: float) -> float:
    """What came of the last decision; of the first one, all since the episode began."""
    passed = now / SECOND - sums[Sum.LAST_TIME]
    if kind == WAIT:
        return -(sums[Sum.STARTED_WAITS] - sums[Sum.LAST_WAITS]) / 3600.0
    if kind == BSLD:
        return -(sums[Sum.STARTED_BSLD] - sums[Sum.LAST_BSLD])
    if kind == UTILIZATION:
        return sums[Sum.BUSY_AREA] / passed if passed > 0 else busy
    if kind == WAIT_CHANGE:
        return -sums[Sum.WAITED_SUM] / 3600.0
    if kind == BSLD_CHANGE:
        return -sums[Sum.GROWN]
    return busy - sums[Sum.LAST_BUSY]


@kernel
def clear_sums(sums: Sums, now: int, busy: float) -> None:
    """The next reward is of what comes from now on."""
    sums[Sum.WAITED_SUM] = sums[Sum.BUSY_AREA] = sums[Sum.GROWN] = 0.0
    sums[Sum.LAST_WAITS], sums[Sum.LAST_BSLD] = sums[Sum.STARTED_WAITS], sums[Sum.STARTED_BSLD]
    sums[Sum.LAST_BUSY], sums[Sum.LAST_TIME] = busy, now / SECOND
