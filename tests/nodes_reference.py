"""The references of the node policies beside the simulator, and small workloads with files and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

import headway
from headway import Schedule
from headway.platform import Cluster, NodeGroup, Platform
from headway.policies.spec import parse_spec
from headway.workload import Workload
from reference.easy_nodes import simulate_easy_nodes
from reference.instances import job_lists
from reference.jobs import SECOND, Job
from reference.locality import simulate_locality
from reference.nodes import Node, Placed
from reference.size_classes import simulate_area_filling, simulate_backfill_big

FILES = {"a": 0, "b": 1, "c": 3, "d": 7, "e": 2}
PRESENCES = ("contiguous", "until-next-start", "lru")
MATCHES = ("fits", "exact", "any")


def node(cores: int = 4, memory: int = 128) -> Node:
    """A node; 1 GB/s: a file of n GB loads in n seconds."""
    return Node(cores, Fraction(memory), Fraction(1))


def job(
    submit: int, cores: int, walltime: int, run: int, file: str | None = None, gb: int = 0, need: int = 0
) -> Job:
    """A job, times in seconds."""
    return Job(0, submit, cores, walltime, run, file=file, file_gb=Fraction(gb), needs_node_gb=Fraction(need))


# A node of 128 and one of 256 GB, 4 cores each; all jobs take a whole node.
SIZES = [
    job(0, 4, 10, 10, need=128),
    job(1, 4, 10, 10, need=128),
    job(2, 4, 10, 10, need=256),
    job(2, 4, 5, 5, need=128),
]
TWO_SIZES = [node(), node(memory=256)]


def platform_of(nodes: Sequence[Node]) -> Platform:
    """The nodes as a platform, one group each."""
    groups = tuple(
        NodeGroup(1, node.cores, float(node.memory_gb), float(node.bandwidth_gb_s)) for node in nodes
    )
    return Platform((Cluster("test", nodes=groups),))


def workload_of(jobs: Sequence[Job]) -> Workload:
    """The jobs, times in seconds, with their files and sizes."""
    names = sorted({job.file for job in jobs if job.file is not None})
    columns: dict[str, Any] = {
        "submit": [job.submit for job in jobs],
        "procs": [job.procs for job in jobs],
        "walltime": [job.walltime for job in jobs],
        "runtime": [job.runtime for job in jobs],
        "user": [1 for _ in jobs],
        "file": np.array([-1 if job.file is None else names.index(job.file) for job in jobs]),
        "file_gb": np.array([np.nan if job.file is None else float(job.file_gb) for job in jobs]),
        "needs_node_gb": np.array([float(job.needs_node_gb) for job in jobs]),
    }
    made = Workload.from_arrays(unit="s", job=[job.id for job in jobs], **columns)
    return made.with_labels(file=names)


def simulated(jobs: Sequence[Job], nodes: Sequence[Node], spec: str) -> Schedule:
    """What the simulator makes of jobs whose times are seconds."""
    return headway.simulate(workload_of(jobs), platform_of(nodes), spec)


def by_reference(jobs: Sequence[Job], nodes: Sequence[Node], spec: str) -> Placed:
    """What the reference makes of them, in µs."""
    scaled = [
        replace(job, submit=job.submit * SECOND, walltime=job.walltime * SECOND, runtime=job.runtime * SECOND)
        for job in jobs
    ]
    params: dict[str, Any] = dict(parse_spec(spec).params)
    name = parse_spec(spec).name
    areas = params.get("areas", "all")
    for other in ("urgent", "areas", "hole", "compress"):
        params.pop(other, None)
    if name == "easy":
        own = {key: params[key] for key in ("presence", "match") if key in params}
        return simulate_easy_nodes(scaled, nodes, **own)
    if name == "backfill-big":
        return simulate_backfill_big(scaled, nodes, **params)
    if name == "area-filling":
        if not isinstance(areas, str):
            params["known_from"] = min(job.submit for job in scaled) + round(float(areas) * 86_400 * SECOND)
            params["statistics"] = [job for job in scaled if job.submit < params["known_from"]]
        return simulate_area_filling(scaled, nodes, **params)
    if name == "conservative":
        return simulate_locality(scaled, nodes, "fcfs", "conservative", **params)
    return simulate_locality(scaled, nodes, name, **params)


def check(jobs: Sequence[Job], nodes: Sequence[Node], spec: str) -> Schedule:
    """Compare job for job: node, start, end, kill, wait for the file; and the loads."""
    found, expected = simulated(jobs, nodes, spec), by_reference(jobs, nodes, spec)
    assert found.node is not None and len(found) == len(jobs)
    for row, result in enumerate(expected.results):
        got = [
            int(column[row])
            for column in (found.node, found.start, found.end, found.killed, found.notes["file_wait"])
        ]
        due = [expected.nodes[row], result.start, result.end, result.killed, expected.overheads[row]]
        assert got == due, (row, jobs[row], spec)
    assert (found.own["file_loads"], found.own["file_reuses"]) == (expected.loads, expected.reuses)
    return found


@st.composite
def node_lists(draw: st.DrawFn) -> list[Node]:
    """Two to four nodes; the first is wide enough for all jobs, the largest has memory for all."""
    memory, speed = st.sampled_from([8, 8, 16]), st.sampled_from([1, 1, 2])
    nodes = [
        Node(draw(st.sampled_from([4, 4, 3])), Fraction(draw(memory)), Fraction(draw(speed)))
        for _ in range(draw(st.integers(1, 3)))
    ]
    return [*nodes, Node(4, Fraction(16), Fraction(1))]


@st.composite
def file_jobs(draw: st.DrawFn, /, max_jobs: int = 14, horizon: int = 20, longest: int = 8) -> list[Job]:
    """Jobs of at most 4 cores with shared files; class 16 has nodes of 4 cores, class 8 perhaps not."""
    jobs = draw(
        job_lists(
            4,
            max_jobs=max_jobs,
            horizon=horizon,
            longest=longest,
            file=st.sampled_from([None, *FILES]),
            needs_node_gb=st.sampled_from([Fraction(0), Fraction(8), Fraction(12)]),
        )
    )
    return [replace(job, file_gb=Fraction(FILES[job.file]) if job.file else Fraction(0)) for job in jobs]
