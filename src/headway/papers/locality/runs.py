"""One run after the other, each measured once and kept in a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from headway.metrics.files import BOUND, file_waits, improvements, stretches
from headway.metrics.sample import file_load
from headway.papers.locality.weeks import Week
from headway.platform import Cluster, Platform
from headway.schedule import Schedule
from headway.simulate import simulate
from headway.units import SECOND

NAME = "runs.json"
Numbers = dict[str, Any]


class Runs:
    """The results so far, in memory and in a file; what is missing is simulated."""

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        self.path, self.say = folder / NAME, say
        self.results: dict[str, Numbers] = json.loads(self.path.read_text()) if self.path.exists() else {}
        self._plain: dict[str, Schedule] = {}

    def get(self, week: Week, policy: str, bandwidth: float = 0.1) -> Numbers:
        """The numbers of a policy in a week; `bandwidth` in GB/s to each node."""
        key = f"{week.name} {week.digest} {policy} {bandwidth:g}"
        if key not in self.results:
            faster = f", {bandwidth:g} GB/s" if bandwidth != 0.1 else ""
            self.say(f"{week.title}: {policy}{faster}")
            self.results[key] = measure(
                self._schedule(week, policy, bandwidth), self._fcfs(week, bandwidth), week
            )
            part = self.path.with_suffix(".part")
            part.write_text(json.dumps(self.results, indent=0))
            part.replace(self.path)
        return self.results[key]

    def _fcfs(self, week: Week, bandwidth: float) -> Schedule:
        """The reference of the sessions' improvements, simulated once for a week."""
        key = f"{week.name} {bandwidth:g}"
        if key not in self._plain:
            self._plain = {key: self._schedule(week, "fcfs", bandwidth)}
        return self._plain[key]

    def _schedule(self, week: Week, policy: str, bandwidth: float) -> Schedule:
        return simulate(week.workload, at_bandwidth(week.machine, bandwidth), policy)


def at_bandwidth(platform: Platform, bandwidth: float) -> Platform:
    """The same nodes with another way to the file system."""
    cluster = platform.clusters[0]
    groups = tuple(replace(group, bandwidth_gb_s=bandwidth) for group in cluster.nodes)
    return Platform((Cluster(cluster.name, cluster.speed, nodes=groups),))


def measure(schedule: Schedule, plain: Schedule, week: Week) -> Numbers:
    """Means over the jobs that are judged; times in seconds, killed jobs apart."""
    rows = week.rows
    if len(schedule) != len(rows) or len(plain) != len(rows):  # jobs were dropped: all that ran is judged
        submit = schedule.submit
        rows = (submit >= week.measured[0]) & (submit < week.measured[1])
    done = rows & ~schedule.killed
    stretch, alone = stretches(schedule), schedule.run + file_load(schedule)
    bounded = schedule.response / np.maximum(alone, BOUND)
    waits = file_waits(schedule)
    better = improvements(plain, schedule, rows)
    loaded = schedule.notes["loaded"][rows]
    has = schedule.workload.columns["file"][rows] >= 0
    return {
        "jobs": int(rows.sum()),
        "killed": int((rows & schedule.killed).sum()),
        "stretch": float(stretch[done].mean()),
        "bounded_stretch": float(bounded[done].mean()),
        "wait": float(schedule.wait[rows].mean()) / SECOND,
        "total_flow": float(schedule.response[rows].sum()) / SECOND,
        "file_wait": float(waits[rows].sum()) / SECOND,
        "core_time": float(((schedule.end - schedule.start) * schedule.procs)[rows].sum()) / SECOND,
        "reuses": int((has & (loaded == 0)).sum()),
        "files": int(has.sum()),
        "sessions": len(better),
        "better": float((better > 1).mean()),
        "not_worse": float((better >= 1).mean()),
        "median_improvement": float(np.median(better)),
        "mean_improvement": float(better.mean()),
        "largest_improvement": float(better.max()),
        "smallest_improvement": float(better.min()),
        "max_queue": int(schedule.provenance["max_queue"]),
        "mean_queue": float(schedule.provenance["mean_queue"]),
        "seconds": float(schedule.provenance["timing"]["simulation_cpu_seconds"]),
    }
