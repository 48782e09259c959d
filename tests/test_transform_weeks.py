"""Busy weeks: by hand, against a plain count, and on the logs of the archive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.units import SECOND
from headway.workload import read
from headway.workload.header import Header
from headway.workload.table import Workload
from headway.workload.transform import Week, weeks
from random_examples import examples

TRACES = Path(__file__).parents[2] / "shared" / "traces"


def log(submit: list[int], wait: list[int], run: list[int], procs: list[int], **more: Any) -> Workload:
    header = Header(["; MaxProcs: 10", "; UnixStartTime: 500"])
    return Workload.from_arrays(
        unit="s", submit=submit, wait=wait, runtime=run, procs=procs, header=header, **more
    )


def test_recorded_utilization_is_cut_at_the_edges() -> None:
    # Windows of 100 s from the first submission at 50. Job 1 runs 130..170 on 5, so 20 s in each window
    # [50, 150) and [150, 250): 100 processor-seconds of 1000 each. Job 2 runs 150..240 on 8: 720. Job 3 is
    # submitted at 260 and runs 260..350 on 10: 900 in [250, 350).
    work = log([50, 150, 260], [80, 0, 0], [40, 90, 90], [5, 8, 10])
    found = weeks(work, at_least=0, length=100)
    assert [(w.number, w.start // SECOND) for w in found] == [(0, 50), (1, 150), (2, 250)]
    assert [w.utilization for w in found] == pytest.approx([0.1, 0.82, 0.9])
    busy = weeks(work, at_least=0.82, length=100)
    assert [w.number for w in busy] == [1, 2]
    second = busy[0].workload
    assert second.job.tolist() == [2] and second.submit.tolist() == [0]
    assert second.header.get("UnixStartTime") == "650" and second.header.max_procs == 10
    assert second.transformations[1] == "week(number=1, start=150, utilization=0.820000)"
    assert second.ledger.dropped == 2


def test_submitted_utilization_counts_the_whole_work() -> None:
    work = log([50, 150, 260], [80, 0, 0], [40, 90, 90], [5, 8, 10])
    found = weeks(work, at_least=0, length=100, utilization="submitted", procs=20)
    assert [w.utilization for w in found] == pytest.approx([0.1, 0.36, 0.45])
    assert found[0].workload.header.max_procs == 20


def test_what_was_allocated_is_what_ran() -> None:
    work = log([0, 50], [0, 0], [100, 10], [5, 1], allocated=[8, -1])
    [only] = weeks(work, at_least=0, length=100)
    assert only.utilization == pytest.approx((8 * 100 + 10) / 1000)


def test_sliding_windows_start_when_busy_and_do_not_overlap() -> None:
    # 10 processors busy during 60..160 and 200..300.
    work = log([0, 60, 200, 290], [0, 0, 0, 0], [1, 100, 100, 1], [1, 10, 10, 1])
    found = weeks(work, at_least=0.9, length=100, placing="sliding", step=10)
    # 50..150 is 90 % busy already; the next window may begin at 150, and 190..290 is 90 % busy.
    assert [w.start // SECOND for w in found] == [50, 190]
    assert [len(w.workload) for w in found] == [1, 1]


def test_first_or_drawn() -> None:
    work = log([i * 100 for i in range(10)], [0] * 10, [90] * 10, [10] * 10)
    assert [w.number for w in weeks(work, length=100, count=3)] == [0, 1, 2]
    drawn = [w.number for w in weeks(work, length=100, count=3, draw=5)]
    assert len(drawn) == 3 and drawn == sorted(drawn)
    assert drawn == [w.number for w in weeks(work, length=100, count=3, draw=5)]
    others = {tuple(w.number for w in weeks(work, length=100, count=3, draw=seed)) for seed in range(5)}
    assert len(others) > 1
    assert len(weeks(work, length=100, count=30, draw=1)) == 10


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 500), st.integers(-1, 80), st.integers(0, 300), st.integers(1, 12)),
        min_size=1,
        max_size=25,
    ),
    kind=st.sampled_from(["recorded", "submitted"]),
)
@examples(80)
def test_utilization_against_a_plain_count(rows: list[tuple[int, int, int, int]], kind: str) -> None:
    submit, wait, run, procs = (list(column) for column in zip(*rows, strict=True))
    if kind == "recorded" and max(wait) < 0:
        wait[0] = 0
    work = log(submit, wait, run, procs)
    found = weeks(work, at_least=0, length=60, utilization=kind)  # type: ignore[arg-type]
    origin = min(submit)
    assert [w.start // SECOND for w in found] == list(range(origin, max(submit) + 1, 60))
    for week in found:
        begin, end = week.start // SECOND, week.start // SECOND + 60
        area = 0
        for r, w, p, q in zip(submit, wait, run, procs, strict=True):
            if kind == "submitted":
                area += q * p if begin <= r < end else 0
            elif w >= 0:
                area += q * max(min(r + w + p, end) - max(r + w, begin), 0)
        assert week.utilization == pytest.approx(area / 600, abs=1e-9)
        assert len(week.workload) == sum(begin <= r < end for r in submit)


def archive(name: str) -> Workload:
    path = TRACES / name
    if not path.exists():
        pytest.skip(f"{path} is not here: the archive's logs do not come with the project")
    return read(path)


def in_order(found: list[Week]) -> bool:
    return bool(np.all(np.diff([w.start for w in found]) >= 604_800 * SECOND))


def test_busy_weeks_of_curie() -> None:
    work = archive("CEA-Curie-2011-2.1-cln.swf.gz")
    thin = weeks(work, procs=80_640)
    assert 23 <= len(thin) <= 26 and in_order(thin)
    assert len(weeks(work)) == 18  # the header's 93,312 processors
    assert all(week.utilization >= 0.7 and week.workload.submit.min() >= 0 for week in thin)
    assert 23 <= len(weeks(work, procs=80_640, utilization="submitted")) <= 26
    assert [w.start for w in weeks(work, procs=80_640, count=20)] == [w.start for w in thin[:20]]


def test_busy_weeks_of_ricc() -> None:
    found = weeks(archive("RICC-2010-2.swf.gz"))
    assert len(found) == 20 and in_order(found)
    assert sum(len(week.workload) for week in found) > 400_000
