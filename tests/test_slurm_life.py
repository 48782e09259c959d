"""Recorded runs with arrays, dependencies, reservations, lost nodes, preemption and accelerators, left to the
policy's own clocks: as near to the recorded one as another run of the real Slurm is.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import headway
from headway import Schedule
from headway.schedule import STATES
from headway.site import Site
from headway.units import SECOND
from truth.as_site import write_site


def simulated(name: str, folder: Path, seed: int = 1) -> Schedule:
    site = Site.load(write_site(name, folder / name))
    return headway.simulate(site.read_jobs(), site.platform(), f"slurm(seed={seed})")


@pytest.mark.parametrize(
    ("name", "within", "error"),
    [
        ("a-array-a", 0.55, 0.10),
        ("b-resv-a", 0.70, 0.10),
        ("c-node", 0.50, 0.20),
        ("d-qos-a", 0.60, 0.20),
        ("d-gang", 0.80, 0.20),
        ("f-limits", 0.60, 0.15),
        pytest.param("site-a", 0.45, 0.31, marks=pytest.mark.long),
    ],
)
def test_as_near_as_another_real_run(name: str, within: float, error: float, tmp_path: Path) -> None:
    """Means over three seeds: with limits and preemption one run says little about another."""
    near, wait = [], []
    for seed in (1, 2, 3):
        schedule = simulated(name, tmp_path, seed)
        recorded, submit = schedule.workload.recorded_start, schedule.workload.submit
        start = schedule.first_start
        near.append(np.mean(abs(start - recorded) <= 600 * SECOND))
        wait.append((start - submit).mean() / (recorded - submit).mean())
    assert np.mean(near) >= within
    assert abs(np.mean(wait) - 1) <= error


def test_suspensions_of_a_recorded_run_keep_every_law(tmp_path: Path) -> None:
    """Among them that no more CPUs are used at once than there are, and that memory stays with the suspended;
    about as many are suspended as in the recorded run, which had 25 suspensions."""
    schedule = simulated("d-gang", tmp_path)
    assert headway.audit(schedule).ok
    assert schedule.pieces is not None
    assert 13 <= (schedule.pieces.state == STATES.index("suspended")).sum() <= 50


def test_nobody_runs_into_a_maintenance(tmp_path: Path) -> None:
    """By its time limit: what was started before ends in time."""
    schedule = simulated("b-resv-a", tmp_path)
    origin = schedule.workload.header.unix_start or 0
    site = schedule.platform.site
    assert site is not None
    one = next(one for one in site.reservations if "MAINT" in one.flags)
    begins, ends = ((t - origin) * SECOND for t in (one.start, one.end))
    known = schedule.start >= ((one.announced or 0) - origin) * SECOND
    overlaps = (schedule.start < ends) & (schedule.end > begins)
    assert not (overlaps & known).any()
    assert schedule.start[schedule.start >= ends].min() - ends < 120 * SECOND


def test_a_lost_node_takes_its_jobs_and_nobody_starts_on_it(tmp_path: Path) -> None:
    schedule = simulated("c-node", tmp_path)
    site, shares = schedule.platform.site, schedule.shares
    assert site is not None and shares is not None
    origin = schedule.workload.header.unix_start or 0
    for event in site.events:
        if event.partition:
            continue
        begins, ends = ((t - origin) * SECOND for t in (event.start, event.end or 1 << 40))
        here = shares.job[shares.node == site.node_place[event.node]]
        assert not ((schedule.start[here] > begins) & (schedule.start[here] < ends)).any()
        if event.state == "DOWN":
            assert not ((schedule.start[here] < begins) & (schedule.end[here] > begins)).any()
    assert len(schedule) == len(site.read_jobs())  # nobody is lost: all of these jobs may be requeued


def test_arrays_keep_their_limits_and_dependents_wait(tmp_path: Path) -> None:
    schedule = simulated("a-array-a", tmp_path)
    jobs = schedule.workload
    for array in np.unique(jobs.columns["array"][jobs.columns["array"] >= 0]):
        tasks = np.flatnonzero(jobs.columns["array"] == array)
        limit = int(jobs.columns["array_limit"][tasks[0]])
        if limit > 0:
            running = [
                int(((schedule.start[tasks] <= t) & (schedule.end[tasks] > t)).sum())
                for t in schedule.start[tasks]
            ]
            assert max(running) <= limit
    texts, codes = jobs.labels["dependency"], jobs.columns["dependency"]
    number = {int(one): place for place, one in enumerate(jobs.job)}
    checked = 0
    for place in np.flatnonzero(codes >= 0):
        kind, _, target = texts[codes[place]].partition(":")
        if kind in ("afterany", "afterok") and target.isdigit() and int(target) in number:
            assert schedule.start[place] >= schedule.end[number[int(target)]]
            checked += 1
    assert checked > 3
