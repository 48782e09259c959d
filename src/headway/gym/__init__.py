"""Scheduling as environments of Gymnasium: choose the next job, backfill, or set weights each hour.

    import headway, headway.gym
    env = headway.gym.SchedulingEnv(headway.read("log.swf"), procs=128, task="choose", reward="bsld")
    many = headway.gym.SchedulingVectorEnv(log, procs=128, sessions=256)

Needs the extra ``rl``: ``pip install '.[rl]'``.
"""

from __future__ import annotations

try:
    from headway.gym.environment import SchedulingEnv
except ModuleNotFoundError as error:
    if error.name != "gymnasium":
        raise
    words = "headway.gym needs Gymnasium, the extra rl: pip install '.[rl]' in a checkout of Headway"
    raise ModuleNotFoundError(words, name="gymnasium") from None
from headway.gym.episodes import Episodes
from headway.gym.vector import SchedulingVectorEnv

__all__ = ["Episodes", "SchedulingEnv", "SchedulingVectorEnv"]
