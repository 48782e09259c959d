"""What transformations promise: the same under a seed, jobs and work kept, a way to disk and back."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.units import SECOND
from headway.workload import read_annotations, read_swf, write_swf
from headway.workload.annotations import annotated, write_annotations
from headway.workload.header import Header
from headway.workload.table import Workload
from headway.workload.transform import apply, offered_load
from random_examples import examples

rows = st.tuples(
    st.integers(0, 100_000),  # submit
    st.integers(1, 64),  # procs
    st.integers(0, 50_000),  # run
    st.integers(1, 60_000),  # walltime
    st.integers(1, 4),  # user
    st.integers(0, 2),  # queue
)


@st.composite
def workloads(draw: st.DrawFn, least: int = 0) -> Workload:
    lines = draw(st.lists(rows, min_size=least, max_size=30))
    submit, procs, run, walltime, user, queue = np.array(lines, np.int64).reshape(-1, 6).T
    return Workload.from_arrays(
        unit="s",
        submit=submit,
        procs=procs,
        runtime=run,
        walltime=walltime,
        user=user,
        queue=queue,
        header=Header(["; MaxProcs: 64", "; UnixStartTime: 7"]),
    )


SEEDED = [
    "shake(arrivals=500, runtimes=0.3, seed={})",
    "deadlines(share=0.5, seed={})",
    "urgent(share=0.5, seed={})",
    "inject(jobs=[[4, 60], [8, 30]], count=9, choose=random, seed={})",
    "files(memory=[128, 256, 1024], seed={})",
    "memory(table, seed={})",
    "swap(table, seed={})",
    "moldable(seed={})",
    "home([a, b, c], sizes=[64, 32, 16], seed={})",
    "estimates(tsafrir, seed={})",
    "estimates(f(3), seed={})",
]


def content(work: Workload) -> dict[str, list[object]]:
    """Columns as plain lists; what is not a number is None, so that equal means equal."""
    return {
        name: [None if value != value else value for value in column.tolist()]
        for name, column in work.columns.items()
    }


@pytest.mark.parametrize("spec", SEEDED)
@given(work=workloads(), seed=st.integers(0, 2**32))
@examples(15)
def test_a_seed_decides_everything(spec: str, work: Workload, seed: int) -> None:
    text = spec.format(seed)
    once, again = apply(work, text), apply(work, text)
    assert content(once) == content(again) and once.labels == again.labels


@pytest.mark.parametrize("spec", SEEDED)
def test_another_seed_gives_something_else(spec: str) -> None:
    count = 200
    work = Workload.from_arrays(
        unit="s",
        submit=np.arange(count) * 1000,
        procs=np.arange(count) % 30 + 2,
        runtime=np.arange(count) * 7 + 60,
        walltime=np.arange(count) * 20 + 600,
        header=Header(["; MaxProcs: 64"]),
    )
    assert content(apply(work, spec.format(1))) != content(apply(work, spec.format(2)))


KEEPING = [
    "exact",
    "estimates(f(2))",
    "deadlines",
    "deadlines(share=0.3)",
    "urgent(share=0.5)",
    "files",
    "files(chain=user)",
    "memory(table)",
    "swap(table)",
    "moldable",
    "home([a, b])",
    "shake",
    "load(factor=0.7)",
    "from_zero",
]


@pytest.mark.parametrize("spec", KEEPING)
@given(work=workloads())
@examples(15)
def test_jobs_sizes_and_run_times_are_kept(spec: str, work: Workload) -> None:
    after = apply(work, spec)
    for name in ("job", "procs", "runtime", "user", "queue"):
        assert np.array_equal(after.columns[name], work.columns[name])
    assert [entry for entry in after.ledger if entry.rule != spec] == list(work.ledger)


@given(work=workloads(), cores=st.integers(1, 70))
def test_splitting_keeps_the_work_and_fits_the_node(work: Workload, cores: int) -> None:
    parts = apply(work, f"split(cores={cores})")
    assert parts.procs.max(initial=0) <= cores
    assert int(np.dot(parts.procs, parts.runtime)) == int(np.dot(work.procs, work.runtime))
    assert len(np.unique(parts.job)) == len(parts) == parts.ledger.kept
    # Whatever fitted is untouched, number included.
    for job in work.job[work.procs <= cores]:
        assert np.count_nonzero(parts.job == job) == 1


@given(work=workloads(), cuts=st.lists(st.integers(0, 100_001), min_size=1, max_size=4))
def test_windows_that_cover_the_log_share_out_its_jobs(work: Workload, cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), 200_000]
    parts = [apply(work, f"window(from={a}, to={b})") for a, b in pairwise(edges)]
    assert sorted(job for part in parts for job in part.job.tolist()) == work.job.tolist()
    for part, begin in zip(parts, edges[:-1], strict=True):
        assert np.all(part.submit >= 0)
        assert part.header.number("UnixStartTime") == 7 + begin
        assert part.ledger.total == len(work) and part.ledger.kept == len(part)


@given(work=workloads(least=2), target=st.floats(0.05, 3))
def test_the_load_asked_for(work: Workload, target: float) -> None:
    now = offered_load(work, 64)
    if not 0 < now < float("inf"):
        return
    after = apply(work, f"load(target={target})")
    order = np.argsort(work.submit, kind="stable")
    assert np.all(np.diff(after.submit[order]) >= 0)
    assert after.submit.min() == work.submit.min()
    # Whole seconds: the span is right to half a second.
    span = (after.submit.max() - after.submit.min()) / SECOND
    wanted = float((work.submit.max() - work.submit.min()) / SECOND) * now / target
    assert abs(span - wanted) <= 0.5 + 1e-6 * wanted


@given(work=workloads(), procs=st.integers(1, 500))
def test_another_machine_and_back(work: Workload, procs: int) -> None:
    scaled = apply(work, f"machine({procs})")
    assert scaled.procs.min(initial=1) >= 1 and scaled.procs.max(initial=0) <= procs
    order = np.argsort(work.procs, kind="stable")
    assert np.all(np.diff(scaled.procs[order]) >= 0)
    # A multiple of the machine can be undone exactly.
    multiple = apply(work, "machine(192)", "machine(64)")
    assert np.array_equal(multiple.procs, work.procs)


ANNOTATING = [
    "deadlines(share=0.5, horizon=1000.25)",
    "urgent(share=0.5)",
    "inject(jobs=[[4, 60.5]], count=3)",
    "files(memory=[128, 256, 1024])",
    "memory(table)",
    "swap(table)",
    "moldable",
    'home([lyon, "a, b"])',
    "shake(arrivals=3, runtimes=0.2)",
    "split(cores=20)",
    "exact",
]


@given(
    work=workloads(least=1),
    specs=st.lists(st.sampled_from(ANNOTATING), min_size=1, max_size=5, unique=True),
    local=st.booleans(),
)
@examples(60)
def test_the_way_to_disk_and_back(work: Workload, specs: list[str], local: bool) -> None:
    if local and any(spec.startswith("home") for spec in specs):
        specs = [*sorted(specs, key=lambda spec: not spec.startswith("home")), "local(share=0.5)"]
    made = apply(work, *specs)
    with tempfile.TemporaryDirectory() as folder:
        swf, csv = Path(folder) / "jobs.swf", Path(folder) / "jobs.csv"
        write_swf(made, swf)
        write_annotations(made, csv)
        back = read_annotations(read_swf(swf), csv)
    assert len(back) == len(made)
    for name in ("job", "submit", "procs", "walltime", "runtime", "user", "queue"):
        assert np.array_equal(back.columns[name], made.columns[name]), name
    for name in [*annotated(made), *(["memory_kb"] if "memory_kb" in made else [])]:
        if name in ("file", "cluster"):
            assert names(back, name) == names(made, name)
        else:
            assert content(back)[name] == content(made)[name], name


def names(work: Workload, column: str) -> list[str | None]:
    """Names of a labelled column, row by row."""
    return [None if code < 0 else work.labels[column][code] for code in work.columns[column].tolist()]
