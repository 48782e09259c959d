"""Random sites with everything that a job's life may have: every run comes to its end, the audit's invariants
hold, and a backfill cycle that stops early changes nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headway
from headway.policies.slurm.setup import setup
from headway.site import Site
from headway.site.config import Config
from headway.site.model import Association, Node, NodeEvent, Partition, Qos, Reservation
from headway.workload.header import Header
from random_examples import examples

BEGAN = 1_700_000_000
JOB = st.fixed_dictionaries(
    {
        "gap": st.integers(0, 300),
        "nodes": st.integers(1, 4),
        "cpus": st.integers(1, 4),
        "limit": st.integers(1, 60),
        "share": st.integers(1, 120),
        "exclusive": st.integers(0, 1),
        "array": st.integers(-6, 2),
        "depends": st.integers(-6, 4),
        "kind": st.sampled_from(["after", "afterany", "afterok", "afternotok", "singleton"]),
        "held": st.sampled_from([0, 0, 0, 1]),
        "later": st.sampled_from([0, 0, 0, 500, 4000]),
        "reservation": st.sampled_from(["", "", "", "r"]),
        "gres": st.sampled_from(["", "", "gpu:1", "gpu:2"]),
        "licenses": st.sampled_from(["", "", "", "l:1", "l:2"]),
        "requeue": st.sampled_from([-1, 0, 1]),
        "shortest": st.sampled_from([-1, -1, 1, 5]),
        "qos": st.integers(0, 1),
        "status": st.sampled_from([1, 1, 0]),
        "cancelled": st.sampled_from([-1, -1, -1, 30, 600, 4000]),
        "partition": st.integers(0, 2),
    }
)
EVENT = st.tuples(
    st.integers(1, 4), st.integers(0, 6000), st.integers(60, 3000), st.sampled_from(["DOWN", "DRAIN"])
)
KEPT = st.tuples(st.integers(0, 6000), st.integers(300, 3000), st.sampled_from(["all", "half", "none"]))


def site(events: list[tuple[int, int, int, str]], kept: tuple[int, int, str], mode: str) -> Site:
    start, length, nodes = kept
    places = {"all": (0, 1, 2, 3), "half": (0, 1), "none": (3,)}[nodes]
    flags = ("MAINT", "ALL_NODES") if nodes == "all" else ()
    return Site(
        "random",
        tuple(Node(f"n{k}", 4, gres={"gpu": 2} if k > 2 else {}) for k in range(1, 5)),
        (
            Partition("main", (0, 1, 2, 3), is_default=True),
            Partition("short", (2, 3), max_minutes=30, tier=2),
        ),
        qos=(Qos("low", priority=1), Qos("high", priority=10, preempt=("low",))),
        associations=(Association("root"),),
        licenses={"l": 2},
        config=Config.of(
            {
                "SelectTypeParameters": "CR_Core", "PriorityType": "priority/multifactor",
                "PriorityWeightAge": "1000", "PriorityWeightQOS": "100", "PreemptMode": mode,
                "PreemptType": "preempt/qos", "AccountingStorageType": "accounting_storage/slurmdbd",
            }
        ),
        events=tuple(
            NodeEvent(f"n{node}", BEGAN + begin, BEGAN + begin + away, state)
            for node, begin, away, state in events
        ),
        reservations=(Reservation("r", BEGAN + start, BEGAN + start + length, places, flags),),
    )  # fmt: skip


def workload(jobs: list[dict[str, Any]]) -> headway.Workload:
    def column(name: str) -> Any:
        return np.array([job[name] for job in jobs])

    def texts(given: list[str]) -> tuple[Any, list[str]]:
        labels = sorted({one for one in given if one})
        return np.array([labels.index(one) if one else -1 for one in given]), labels

    depends = []
    for place, job in enumerate(jobs):
        target = place - 1 - job["depends"]
        said = "singleton" if job["kind"] == "singleton" else f"{job['kind']}:{target + 1}"
        depends.append(said if job["depends"] >= 0 and target >= 0 else "")
    named = {name: texts(given) for name, given in (
        ("dependency", depends), ("reservation", list(column("reservation"))), ("gres", list(column("gres"))),
        ("licenses", list(column("licenses"))),
    )}  # fmt: skip
    nodes, limit, submit = column("nodes"), column("limit"), np.cumsum(column("gap"))
    partition = np.where((column("partition") == 2) & (limit <= 30) & (nodes <= 2), 1, 0)
    asked = nodes * column("cpus")
    return headway.Workload.from_arrays(
        unit="s",
        submit=submit,
        procs=asked,
        runtime=np.maximum(limit * column("share") * 60 // 100, 1),
        walltime=limit * 60,
        user=np.zeros(len(jobs), np.int64),
        partition=partition,
        min_nodes=nodes,
        max_nodes=nodes,
        cpus=asked,
        tasks=asked,
        cpus_per_task=np.ones_like(nodes),
        exclusive=column("exclusive"),
        array=np.where(column("array") < 0, -1, 100 + column("array")),
        array_task=np.arange(len(jobs)),
        array_limit=np.full(len(jobs), 1),
        held=column("held"),
        eligible=submit + column("later"),
        requeue=column("requeue"),
        time_min=column("shortest") * 60,
        qos=column("qos"),
        status=column("status"),
        cancelled_after=column("cancelled"),
        name=np.zeros(len(jobs), np.int64),
        header=Header([f"; UnixStartTime: {BEGAN}"]),
        labels={
            "partition": ["main", "short"], "qos": ["low", "high"], "user": ["u"], "name": ["same"],
            **{name: labels for name, (_, labels) in named.items()},
        },
        **{name: codes for name, (codes, _) in named.items()},
    )  # fmt: skip


@examples(60)
@given(
    jobs=st.lists(JOB, min_size=1, max_size=30),
    events=st.lists(EVENT, max_size=4),
    kept=KEPT,
    mode=st.sampled_from(["OFF", "REQUEUE", "CANCEL"]),
    seed=st.integers(0, 3),
)
def test_every_run_ends_and_the_invariants_hold(
    jobs: list[dict[str, Any]],
    events: list[tuple[int, int, int, str]],
    kept: tuple[int, int, str],
    mode: str,
    seed: int,
) -> None:  # fmt: skip
    log, machine = workload(jobs), site(events, kept, mode).platform()
    quick = headway.simulate(log, machine, f"slurm(seed={seed})")
    assert not [str(one) for one in headway.audit(quick).faults]
    ledger = quick.workload.ledger
    assert len(quick) + sum(entry.count for entry in ledger.entries if entry.dropped) == len(log)
    with pytest.MonkeyPatch.context() as patch:
        plain = setup.settings_of

        def thorough(given: Site) -> Any:
            row = plain(given)
            row.plain = 1
            return row

        patch.setattr(setup, "settings_of", thorough)
        whole = headway.simulate(log, machine, f"slurm(seed={seed})")
    assert quick.start.tolist() == whole.start.tolist()
