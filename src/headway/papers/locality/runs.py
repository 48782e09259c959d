"""Every run is measured once and kept in a file; several are simulated at a time."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from headway.campaign import Progress
from headway.cores import cores
from headway.errors import UsageError
from headway.metrics.catalogue import BY_NAME
from headway.metrics.own_numbers import BOUND, file_waits, improvements, stretches
from headway.metrics.sample import Sample, file_load
from headway.papers.kept import KeptRuns, Numbers
from headway.papers.locality.weeks import Group, Week
from headway.plain import Notify
from headway.platform import Cluster, Platform
from headway.schedule import Schedule
from headway.simulate import simulate
from headway.units import SECOND

BANDWIDTH = 0.1
"""GB/s to each node, as in the paper."""
PERCENT = tuple(range(0, 101, 2))
"""Percentiles kept of stretches and waits."""
Wanted = tuple[Week, str, float]


class Runs:
    """The results so far; what is missing is simulated."""

    def __init__(self, folder: Path, say: Notify = lambda text: None) -> None:
        self.kept = KeptRuns("locality", folder, say)
        self._plain: dict[str, Schedule] = {}
        self._locks: dict[str, threading.Lock] = {}

    def get(self, week: Week, policy: str, bandwidth: float = BANDWIDTH) -> Numbers:
        """The numbers of a policy in a week; `bandwidth` in GB/s to each node."""
        return self.kept.get(_key(week, policy, bandwidth), lambda: self._measured(week, policy, bandwidth))

    def over(self, group: Group, policy: str, bandwidth: float = BANDWIDTH) -> list[Numbers]:
        """The numbers of each week of a kind."""
        return [self.get(week, policy, bandwidth) for week in group.weeks]

    def fetch(self, wanted: Sequence[Wanted], tell: Callable[[Progress], None] | None = None) -> None:
        """Simulate what is missing, on every core; each result is kept as soon as it is there.

        The threads are daemons: whoever interrupts does not wait for simulations that nobody will read.
        """
        missing = {_key(*one): one for one in wanted if _key(*one) not in self.kept.results}
        progress = Progress(skipped=len({_key(*one) for one in wanted}) - len(missing), exact=True)
        progress.total = progress.skipped + len(missing)
        left: queue.SimpleQueue[str] = queue.SimpleQueue()
        done: queue.SimpleQueue[tuple[str, Numbers | Exception]] = queue.SimpleQueue()
        for key in missing:
            left.put(key)

        def work() -> None:
            while True:
                try:
                    key = left.get_nowait()
                except queue.Empty:
                    return
                try:
                    done.put((key, self._measured(*missing[key])))
                except Exception as error:  # raised again by the caller
                    done.put((key, error))

        begin = time.monotonic()
        for _ in range(min(cores(), len(missing))):
            threading.Thread(target=work, daemon=True).start()
        for _ in missing:
            key, found = done.get()
            if isinstance(found, Exception):
                raise found
            self.kept.keep({key: found})
            progress.done += 1
            progress.seconds = time.monotonic() - begin
            if tell is not None:
                tell(progress)

    def _measured(self, week: Week, policy: str, bandwidth: float) -> Numbers:
        plain = self._fcfs(week, bandwidth)
        made = plain if policy == "fcfs" else _schedule(week, policy, bandwidth)
        return measure(made, plain, week)

    def _fcfs(self, week: Week, bandwidth: float) -> Schedule:
        """The reference of the sessions' improvements, simulated once for a week."""
        key = f"{week.name} {week.digest} {bandwidth:g}"
        with self._locks.setdefault(key, threading.Lock()):
            if key not in self._plain:
                self._plain[key] = _schedule(week, "fcfs", bandwidth)
            return self._plain[key]


def _key(week: Week, policy: str, bandwidth: float) -> str:
    return f"{week.name} {week.digest} {policy} {bandwidth:g}"


def _schedule(week: Week, policy: str, bandwidth: float) -> Schedule:
    return simulate(week.workload, at_bandwidth(week.machine, bandwidth), policy)


def mean(found: Sequence[Numbers], number: str) -> float:
    """The mean of a number over weeks."""
    return float(np.mean([one[number] for one in found]))


def reused(found: Sequence[Numbers]) -> float:
    """The share of jobs with a file that found it on their node, over weeks."""
    return float(sum(one["reuses"] for one in found) / max(sum(one["files"] for one in found), 1))


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
    if not done.any():
        raise UsageError(f"{week.title}: all jobs that are judged are killed at their requests")
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
        "stretches": [round(float(x), 4) for x in np.percentile(stretch[done], PERCENT)],
        "waits": [round(float(x) / SECOND, 1) for x in np.percentile(schedule.wait[rows], PERCENT)],
        "sessions": len(better),
        "better": float((better > 1).mean()),
        "not_worse": float((better >= 1).mean()),
        "median_improvement": float(np.median(better)),
        "max_queue": int(schedule.provenance["max_queue"]),
        "mean_queue": BY_NAME["mean_queue"].compute(Sample(schedule)),
        "seconds": float(schedule.provenance["timing"]["simulation_cpu_seconds"]),
    }
