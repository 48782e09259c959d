"""Slurm's list of jobs: where its order decides, and the queue that the merge sort makes of it."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import pytest

from headway.engine.setup import Jobs, make_state
from headway.engine.tables import State
from headway.jit.kernels import INTERPRETED
from headway.policies.prepare import Arrivals
from headway.policies.slurm.limits.listing import list_job, sort_as_slurm
from headway.policies.slurm.queue.queue import enqueue
from headway.policies.slurm.setup.site_tables import may_run_in_circles
from headway.policies.slurm.tables.controller import UNSET
from headway.policies.slurm.tables.jobs import SlurmJobs
from headway.policies.slurm.tables.passes import Records
from headway.policies.slurm.tables.settings import Preemption
from headway.policies.spec import parse_spec
from headway.schedule import ENDED
from headway.site import Site
from headway.site.model import Association, Partition, Qos
from headway.workload import Workload
from reference.slurm.queue import merge_sort
from slurm_by_hand import MINUTE, log, simulated, site, starts

pytestmark = [
    pytest.mark.interpreted,
    pytest.mark.skipif(not INTERPRETED, reason="kernels are called one by one here, which only Python can"),
]


def ranked(*qos: Qos, **config: str) -> Site:
    """A site where the QOS is all of a priority, and who may preempt others comes before them."""
    preempting = {
        "PriorityType": "priority/multifactor", "PriorityWeightQOS": "1000", "PreemptType": "preempt/qos",
        "PreemptMode": "REQUEUE", "AccountingStorageType": "accounting_storage/slurmdbd",
    }  # fmt: skip
    return site(preempting | config, qos=qos, associations=(Association("root"),))


CIRCLE = (Qos("a", priority=100), Qos("b", priority=50), Qos("c", priority=1, preempt=("a",)))
"""By priority a comes before b and b before c; but c may preempt a."""

MERGED = {"abc": "abc", "acb": "abc", "bac": "bca", "bca": "bca", "cab": "cab", "cba": "cab"}
"""Of the list's halves the first has one job, the second the other two, of which there is only one order."""


@pytest.mark.parametrize("order", ["".join(order) for order in permutations("abc")])
def test_a_circle_is_cut_where_merging_cuts_it(order: str) -> None:
    """One job holds the machine until all three wait. Nobody is preempted: all have run too briefly."""
    jobs = log((0, 4, 60, 30), *[(k, 4, 10, 10) for k in (1, 2, 3)], qos=["b", *order])
    first, *begun = starts(jobs, ranked(*CIRCLE, PreemptExemptTime="1-00:00:00"))
    assert first < MINUTE and min(begun) >= 30 * MINUTE
    assert "".join(qos for _, qos in sorted(zip(begun, order, strict=True))) == MERGED[order]


def state_of(jobs: Workload, on: Site) -> State:
    """The tables before the first of some jobs comes."""
    platform, given = on.platform(), jobs.columns
    policy = parse_spec("slurm").policy.on(platform, jobs)
    arrivals = Arrivals(
        jobs.submit,
        jobs.procs,
        jobs.walltime,
        jobs.runtime,
        {name: given[name] for name in policy.columns if name in jobs},
        platform,
        dict(jobs.labels),
        jobs.header.unix_start or 0,
    )
    prepared = policy.prepare(arrivals, on.cpus)
    asked = Jobs(jobs.submit, jobs.procs, jobs.walltime, jobs.runtime, prepared.plan)
    return make_state(asked, prepared.setup)[0]


def some_jobs(random: Random, count: int) -> tuple[dict[str, list[Any]], Site]:
    """Jobs of five QOS in two partitions, some of them tasks of three arrays; and who may preempt whom."""
    names = "abcde"
    preempts = [tuple(other for other in names[:k] if random.random() < 0.4) for k in range(len(names))]
    on = ranked(*(Qos(name, preempt=them) for name, them in zip(names, preempts, strict=True)))
    side = Partition("side", (2, 3), tier=random.choice((1, 2)))
    array = [random.choice((UNSET, UNSET, 0, 1, 2)) for _ in range(count)]
    of_array = [(random.choice(names), random.choice(("main", "side", "main,side"))) for _ in range(3)]
    asked = [
        (random.choice(names), random.choice(("main", "side", "main,side")))
        if one == UNSET
        else of_array[one]
        for one in array
    ]
    columns: dict[str, list[Any]] = {
        "qos": [qos for qos, _ in asked], "partition": [part for _, part in asked], "array": array,
        "array_task": list(range(count)),
    }  # fmt: skip
    return columns, replace(on, partitions=(*on.partitions, side))


def plain_queue(
    columns: dict[str, list[Any]], on: Site, priority: list[int], later: list[int]
) -> list[tuple[int, int]]:
    """Job and partition of each record, as a merge sort has them that knows arrays as single entries."""
    entries: dict[tuple[int, str], list[int]] = {}
    for job, array in enumerate(columns["array"]):
        for part in columns["partition"][job].split(","):
            first = columns["array"].index(array) if array != UNSET else job
            entries.setdefault((first, part), []).append(job)
    may = {qos.name: qos.preempt for qos in on.qos}
    parts = {part.name: (k, -part.tier) for k, part in enumerate(on.partitions)}

    def is_first(one: tuple[int, str], other: tuple[int, str]) -> bool:
        mine, theirs = columns["qos"][one[0]], columns["qos"][other[0]]
        if theirs in may[mine] or mine in may[theirs]:
            return theirs in may[mine]
        ranks = [(parts[part][1], -priority[job], job) for job, part in (one, other)]
        return ranks[0] <= ranks[1]

    merged = merge_sort([entry for entry in sorted(entries) if entry[0] not in later], is_first)
    return [(job, parts[part][0]) for first, part in merged for job in entries[first, part]]


@pytest.mark.parametrize("seed", range(60))
def test_the_queue_is_that_of_a_plain_merge_sort(seed: int) -> None:
    """Arrays are one entry each; who cannot be looked at yet takes no part, wherever it stands."""
    random, count = Random(seed), seed % 30 + 1
    columns, on = some_jobs(random, count)
    state = state_of(log(*[(k, 1, 10, 10) for k in range(count)], **columns), on)
    memory = state.memory
    memory.settings.circles = 1
    room = np.zeros((2, len(Records), memory.queue.shape[1]), np.int64)
    memory = memory._replace(order=room[0], listed=room[1])
    state = state._replace(memory=memory)
    later = [job for job in range(count) if columns["array"][job] == UNSET and random.random() < 0.2]
    priority = [random.randrange(5) for _ in range(count)]
    for job in range(count):
        list_job(memory, job)
        memory.jobs.begin[job] = 2 if job in later else 0
        memory.jobs.entered[job] = 0
        enqueue(state, job)
    queue = Records(memory.queue[:, : memory.clock.queued])
    queue.priority[:] = [priority[first] for first in memory.jobs.first_task[queue.job]]
    sort_as_slurm(memory, 1)
    found = list(zip(queue.job.tolist(), queue.partition.tolist(), strict=True))
    expected = plain_queue(columns, on, priority, later)
    assert found[: len(expected)] == expected
    assert {job for job, _ in found[len(expected) :]} == set(later)


RELATIONS = [
    ({"c": "ab", "b": "a"}, False), ({"c": "a"}, True), ({"c": "ab"}, False), ({"b": "a", "c": "a"}, False),
    ({"b": "a", "c": "b"}, True), ({}, False),
]  # fmt: skip


@pytest.mark.parametrize(("preempts", "circles"), RELATIONS)
def test_there_are_circles_where_the_right_to_preempt_ranks_nobody(
    preempts: dict[str, str], circles: bool
) -> None:
    """Three jobs of three QOS, of which some may preempt others."""
    on = ranked(*(Qos(name, preempt=tuple(preempts.get(name, ""))) for name in "abc"))
    jobs = SlurmJobs(np.full((SlurmJobs["holds"], 3), UNSET))
    jobs.qos[:] = [0, 1, 2]
    assert may_run_in_circles(on, Preemption.BY_QOS, jobs) == circles
    assert not may_run_in_circles(on, Preemption.OFF, jobs)


def test_a_task_is_listed_where_its_array_was_made_and_the_others_behind() -> None:
    """Of four jobs of one node, the cheapest victims are the first of the list: the first task and the job
    that came after its array, for the second task has been in the list only since the first one started.
    """
    low, high = Qos("low", priority=1), Qos("high", priority=100, preempt=("low",))
    jobs = log(
        *[(0, 1, 60, 30)] * 4,
        (600, 2, 10, 10),
        array=[7, 7, -1, -1, -1],
        array_task=[0, 1, -1, -1, -1],
        qos=["low"] * 4 + ["high"],
    )
    schedule = simulated(jobs, ranked(low, high, PreemptExemptTime="0"))
    assert schedule.pieces is not None
    victims = schedule.pieces.job[schedule.pieces.ended == ENDED.index("preempted")]
    assert sorted(victims.tolist()) == [0, 2]


def test_a_cycle_that_starts_a_task_looks_at_its_array_in_no_other_partition() -> None:
    """The first task has the one node of its first partition. Another one would fit into the second partition
    at once, beside the plan of the wide job that closes both to the main loop; it starts a cycle later.
    """
    side = Partition("side", (3,))
    jobs = log(
        (0, 1, 60, 60),
        (1, 4, 30, 30),
        *[(100, 1, 10, 5)] * 2,
        array=[-1, -1, 7, 7],
        array_task=[-1, -1, 0, 1],
        partition=["main", "main", "side,main", "side,main"],
    )
    _, wide, *tasks = starts(jobs, site(partitions=(*site().partitions, side)))
    assert wide >= 3600
    assert 100 <= tasks[0] <= 160 and tasks[1] == tasks[0] + 30
