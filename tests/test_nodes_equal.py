"""The policies on nodes against their plain references, job for job, in every mode."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes_reference import FILES, MATCHES, PRESENCES, check, file_jobs, node_lists, simulated
from random_examples import examples
from reference.jobs import Job
from reference.nodes import Node

BACKFILLS = st.sampled_from(["none", "conservative"])
PRESENCE = st.sampled_from(PRESENCES)
# With match=exact the narrow nodes of a draw may leave a job nowhere to go; it has a test of its own.
MATCH = st.sampled_from(["fits", "any"])
NAMED = st.builds(
    "{}(backfill={}, presence={}, match={})".format,
    st.sampled_from(["fcfs", "eft", "lea", "leo", "lem"]),
    BACKFILLS,
    PRESENCE,
    MATCH,
)
FREE = st.builds(
    "score(load={}, evict={}, copies={}, backfill={}, presence={}, match={})".format,
    st.sampled_from([0, 1, 2.5, 10]),
    st.sampled_from([0, 1, 0.5, 7000]),
    st.sampled_from([0, 1, 0.25]),
    BACKFILLS,
    PRESENCE,
    MATCH,
)
OTHERS = st.one_of(
    st.builds(
        "lem(threshold={}, backfill={}, presence={})".format, st.sampled_from([0.3, 0.5]), BACKFILLS, PRESENCE
    ),
    st.builds("easy(presence={}, match={})".format, PRESENCE, MATCH),
    st.builds("conservative(presence={}, match={})".format, PRESENCE, MATCH),
    st.builds("backfill-big(allowance={}, presence={})".format, st.sampled_from(["none", "mean"]), PRESENCE),
    st.builds(
        "area-filling(areas={}, tmax={}, form={}, presence={})".format,
        st.sampled_from(["all", "all", "0.0001", "0.0003"]),
        st.sampled_from(["max", "mean"]),
        st.sampled_from(["plan", "ratio"]),
        PRESENCE,
    ),
)


@pytest.mark.long
@examples(200)
@given(jobs=file_jobs(), nodes=node_lists(), spec=NAMED)
def test_named_rules(jobs: list[Job], nodes: list[Node], spec: str) -> None:
    check(jobs, nodes, spec)


@pytest.mark.long
@examples(200)
@given(jobs=file_jobs(), nodes=node_lists(), spec=FREE)
def test_free_weights(jobs: list[Job], nodes: list[Node], spec: str) -> None:
    check(jobs, nodes, spec)


@pytest.mark.long
@examples(200)
@given(jobs=file_jobs(), nodes=node_lists(), spec=OTHERS)
def test_thresholds_baselines_and_sizes(jobs: list[Job], nodes: list[Node], spec: str) -> None:
    check(jobs, nodes, spec)


@examples(60)
@given(jobs=file_jobs(), spec=st.sampled_from(["fcfs", "lea", "leo", "lem", "easy"]), presence=PRESENCE)
def test_every_match_on_equal_nodes(jobs: list[Job], spec: str, presence: str) -> None:
    nodes = [Node(4, Fraction(gb), Fraction(1)) for gb in (8, 16, 8, 16)]
    for match in (*MATCHES, *(["now"] if spec in ("lea", "leo", "lem") else [])):
        check(jobs, nodes, f"{spec}(presence={presence}, match={match})")


@examples(60)
@given(jobs=file_jobs(), presence=PRESENCE)
def test_without_weights_now_is_backfill_big(jobs: list[Job], presence: str) -> None:
    nodes = [Node(4, Fraction(gb), Fraction(1)) for gb in (8, 16, 8, 16)]
    scored = simulated(jobs, nodes, f"score(load=0, evict=0, copies=0, match=now, presence={presence})")
    by_size = simulated(jobs, nodes, f"backfill-big(presence={presence})")
    assert scored.start.tolist() == by_size.start.tolist()
    assert scored.node is not None and by_size.node is not None
    assert scored.node.tolist() == by_size.node.tolist()


def long_queue(count: int, need: int = 12) -> list[Job]:
    """Jobs that come faster than they can run, in sessions that share files; some need so much memory."""
    jobs = []
    for k in range(count):
        file = sorted(FILES)[(k // 5) % len(FILES)]
        walltime = 4 + (k * 7) % 13
        jobs.append(
            Job(
                k + 1,
                submit=k // 4,
                procs=1 + (k * k) % 4,
                walltime=walltime,
                runtime=max(0, walltime - (k * 5) % 9),
                file=file if k % 11 else None,
                file_gb=Fraction(FILES[file]) if k % 11 else Fraction(0),
                needs_node_gb=Fraction(need if k % 7 == 0 else 0),
            )
        )
    return jobs


@pytest.mark.parametrize("backfill", ["none", "conservative"])
@pytest.mark.parametrize("presence", PRESENCES)
@pytest.mark.parametrize("rule", ["fcfs", "eft", "lea", "leo", "lem"])
def test_a_long_queue(rule: str, presence: str, backfill: str) -> None:
    nodes = [
        Node(4, Fraction(8), Fraction(1)),
        Node(4, Fraction(8), Fraction(1)),
        Node(4, Fraction(16), Fraction(2)),
    ]
    made = check(long_queue(40), nodes, f"{rule}(backfill={backfill}, presence={presence})")
    assert made.provenance["max_queue"] > 20 and made.own["file_reuses"]
