"""Slurm's rules: a cycle that stops early changes nothing, and small sites come out as worked by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headway
from headway.audit import audit
from headway.batsim.decide import Decider
from headway.engine.tables import copy_memory
from headway.errors import UsageError
from headway.policies.slurm.setup import setup
from headway.policies.slurm.tables.settings import Settings
from headway.policies.spec import parse_spec
from headway.site import Site
from headway.site.config import Config
from headway.site.model import Association, Limits, Node, Partition, Qos
from headway.workload.header import Header
from random_examples import examples


class Looked(NamedTuple):
    """A memory in which one table is seen in two ways."""

    sets: Any
    words: Any


CONFIG = {
    "SelectTypeParameters": "CR_Core",
    "PriorityType": "priority/multifactor",
    "PriorityWeightAge": "1000",
    "PriorityWeightFairshare": "5000",
    "PriorityWeightPartition": "500",
    "AccountingStorageType": "accounting_storage/slurmdbd",
    "AccountingStorageEnforce": "limits",
}


def small_site(config: dict[str, str], cpus: int = 4, nodes: int = 6) -> Site:
    """Six nodes in two overlapping partitions, two users in an account each, a QOS with a limit."""
    return Site(
        "small",
        tuple(Node(f"n{k}", cpus) for k in range(1, nodes + 1)),
        (
            Partition("batch", tuple(range(nodes)), max_minutes=600, is_default=True),
            Partition("short", tuple(range(nodes // 2, nodes)), max_minutes=30, tier=3, job_factor=5),
        ),
        qos=(Qos("normal", limits=Limits(max_tres_per_user={"cpu": 3 * cpus})),),
        associations=(
            Association("root"),
            Association("a", parent=0, shares=2),
            Association("b", parent=0),
            Association("a", "u0", parent=1),
            Association("b", "u1", parent=2),
        ),
        config=Config.of(config),
    )


def workload(jobs: list[tuple[int, int, int, int, int, bool, int]], cpus: int = 4) -> headway.Workload:
    """Jobs (gap s, nodes, CPUs on each, limit min, share of it % , exclusive, user and partition)."""
    gaps, nodes, each, limit, part, exclusive, who = (np.array(column) for column in zip(*jobs, strict=True))
    asked = np.minimum(each, cpus) * nodes
    return headway.Workload.from_arrays(
        unit="s",
        submit=np.cumsum(gaps),
        procs=asked,
        runtime=np.maximum(limit * 60 * part // 100, 1),
        walltime=limit * 60,
        user=who % 2,
        account=who % 2,
        qos=np.zeros(len(jobs), np.int64),
        partition=np.where((who >= 2) & (limit <= 30) & (nodes <= 3), 1, 0),
        min_nodes=nodes,
        max_nodes=nodes,
        cpus=asked,
        tasks=asked,
        cpus_per_task=np.ones(len(jobs), np.int64),
        exclusive=exclusive.astype(np.int64),
        header=Header(["; UnixStartTime: 1700000000"]),
        labels={
            "partition": ["batch", "short"],
            "user": ["u0", "u1"],
            "account": ["a", "b"],
            "qos": ["normal"],
        },
    )


JOB = st.tuples(
    st.integers(0, 200),
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(1, 90),
    st.integers(1, 100),
    st.booleans(),
    st.integers(0, 3),
)


@examples(30)
@given(jobs=st.lists(JOB, min_size=1, max_size=40), seed=st.integers(0, 3))
def test_a_cycle_that_stops_early_changes_nothing(
    jobs: list[tuple[int, int, int, int, int, bool, int]], seed: int
) -> None:
    log, platform = workload(jobs), small_site(CONFIG).platform()
    quick = headway.simulate(log, platform, f"slurm(seed={seed})")
    original = setup.settings_of

    def plain(site: Site) -> Settings:
        row = original(site)
        row.plain = 1
        return row

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setup, "settings_of", plain)
        whole = headway.simulate(log, platform, f"slurm(seed={seed})")
    assert quick.start.tolist() == whole.start.tolist()
    verdict = audit(quick)
    assert verdict.ok, verdict.faults


def test_a_short_job_fills_in_before_the_plan_of_a_wide_one() -> None:
    """Six nodes, submission order. J1 has n1-n4 for 60 min; J2 wants all six, so backfill plans it at 60 min;
    J3 wants two nodes for 90 min and would run into that plan, J4 wants two for 30 min and does not."""
    basic = {"SelectTypeParameters": "CR_Core", "PriorityType": "priority/basic"}
    log = workload(
        [
            (0, 4, 4, 60, 100, True, 0),
            (10, 6, 4, 60, 100, True, 0),
            (10, 2, 4, 90, 100, True, 0),
            (10, 2, 4, 30, 100, True, 0),
        ]
    )
    undisturbed = "slurm(epilog=0, cycle=0, late=0, drift=0)"
    schedule = headway.simulate(log, small_site(basic).platform(), undisturbed)
    start = (schedule.start // 1_000_000).tolist()
    assert start[0] < 5
    assert 30 <= start[3] < 70  # the first cycle after its submission
    assert 3600 <= start[1] < 3640
    assert start[2] >= start[1] + 3600


def test_a_limit_of_a_user_holds_his_job_and_nobody_else() -> None:
    """MaxTRESPerUser cpu=12 is three nodes: a user's second job waits, the other user's does not."""
    log = workload([(0, 3, 4, 60, 100, True, 0), (5, 1, 4, 10, 100, True, 0), (5, 1, 4, 10, 100, True, 1)])
    schedule = headway.simulate(log, small_site(CONFIG).platform(), "slurm")
    start = (schedule.start // 1_000_000).tolist()
    assert start[1] >= 3600
    assert start[2] < 90


def test_a_job_that_asks_for_more_than_its_limit_is_turned_away_and_told() -> None:
    """Sixteen CPUs under MaxTRESPerUser cpu=12: it would wait for ever."""
    log = workload([(0, 4, 4, 60, 100, True, 0), (5, 1, 4, 10, 100, True, 1)])
    schedule = headway.simulate(log, small_site(CONFIG).platform(), "slurm")
    assert schedule.workload.job.tolist() == [2]
    entry = schedule.workload.ledger.entries[-1]
    assert (entry.rule, entry.jobs) == ("limits", (1,))


def test_a_constraint_keeps_a_job_on_nodes_that_have_the_feature() -> None:
    site = small_site(CONFIG)
    nodes = tuple(replace(node, features=("fast",) if k == 4 else ()) for k, node in enumerate(site.nodes))
    log = workload([(0, 1, 4, 10, 100, True, 0), (1, 1, 4, 10, 100, True, 0), (1, 1, 4, 10, 100, True, 1)])
    log = log.with_columns(constraint=np.array([0, 0, -1])).with_labels(constraint=["fast"])
    schedule = headway.simulate(log, replace(site, nodes=nodes).platform(), "slurm")
    start = (schedule.start // 1_000_000).tolist()
    assert start[1] >= start[0] + 600
    assert start[2] < 90


def test_views_of_a_table_stay_views_of_its_copy() -> None:
    sets = np.zeros((2, 8), np.uint8)
    copied = copy_memory(Looked(sets, sets.view(np.int64)))
    copied.sets[1, 0] = 1
    assert copied.words[1, 0] == 1 and not sets.any()


def test_slurm_without_a_site_says_what_it_needs() -> None:
    log = workload([(0, 1, 1, 10, 50, False, 0)])
    with pytest.raises(UsageError, match="slurm needs a site"):
        headway.simulate(log, 8, "slurm")
    with pytest.raises(UsageError, match=r"slurm needs a site, .*only a number of processors"):
        Decider(parse_spec("slurm"))
