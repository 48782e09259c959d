"""Environments of Gymnasium: decisions per second, of one from Python and of a vector on two threads."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import headway
from benchmarks.rates import Row
from headway.workload.models import lublin


def on_environments(folder: Path | None, quick: bool) -> Iterator[Row]:
    """Both tasks of slots on a real log, or on a generated one."""
    from headway.gym import SchedulingEnv, SchedulingVectorEnv

    logs = sorted(folder.glob("SDSC-SP2*.swf.gz")) if folder else []
    log = headway.read(logs[0]) if logs else lublin(jobs=20_000, procs=128, load=0.8, seed=1)
    steps = 2_000 if quick else 20_000
    for task in ("choose", "backfill"):
        env = SchedulingEnv(log, 128, task=task)
        yield measured(f"one environment, {task}", lambda env=env: alone(env, steps), 1)  # type: ignore[misc]
        many = SchedulingVectorEnv(log, 128, task=task, sessions=512, threads=2)
        yield measured(f"512 sessions, {task}", lambda many=many: together(many, steps // 20), 2)  # type: ignore[misc]


def measured(name: str, run, cores: int) -> Row:  # type: ignore[no-untyped-def]
    """The best of three; the first, which may compile, is not counted."""
    run()
    best: tuple[float, float] = (0.0, 0.0)
    for _ in range(3):
        wall, cpu = time.perf_counter(), time.process_time()
        steps = run()
        best = max(best, (steps / (time.process_time() - cpu), steps / (time.perf_counter() - wall)))
    return {
        "environment": name,
        "steps/CPU s": round(best[0]),
        "threads": cores,
        "steps/s on idle cores, at most": round(best[0] * cores),
        "steps/s as it was": round(best[1]),
    }


def alone(env, steps: int) -> int:  # type: ignore[no-untyped-def]
    """So many decisions, the first job that may start each time."""
    _, info = env.reset(seed=1)
    for _ in range(steps):
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
        if over:
            _, info = env.reset()
    return steps


def together(env, steps: int) -> int:  # type: ignore[no-untyped-def]
    """So many decisions in each session."""
    _, info = env.reset(seed=1)
    for _ in range(steps):
        *_, info = env.step(np.argmax(info["action_mask"], axis=1))
    return steps * env.num_envs
