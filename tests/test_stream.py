"""Logs larger than memory: what a stream writes is what a run in memory writes."""

from __future__ import annotations

import gzip
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import headway
from commands import SWF, Headway
from headway.errors import InputError, UsageError
from headway.metrics.statistics import RELATIVE_ERROR, ExactSum, Histogram, exact_sum
from headway.streams import Streamed, simulate_stream
from headway.streams.running import Rows, Sizes, unbroken
from headway.streams.summing import SKETCHED, Queue

SMALL = Sizes(window=40, lookahead=25, block=16, blocks=2, chunks=1)
"""Windows, blocks and lookahead so small that everything happens on a log of some hundred jobs."""

LONG = (
    *("sjf", "easy", "easy(order=wfp3, backfill=f1)", "easy(estimate=0.4)"),
    "conservative(compress=scratch)",
)
POLICIES = (
    "fcfs",
    "lxf",
    "easy(backfill=sjf)",
    "easy(order=saf, age=300)",
    "easy(estimate=exact, depth=3)",
    "conservative",
    *(pytest.param(policy, marks=pytest.mark.long) for policy in LONG),
)


def text_of(seed: int, jobs: int = 400, partitions: int = 1) -> str:
    """A log of a busy machine of 16 processors, with jobs of no length, ties, and some disorder."""
    draw = np.random.default_rng(seed)
    submit = np.cumsum(draw.integers(0, 40, jobs)) + draw.integers(0, 60, jobs)
    runtime = draw.integers(0, 300, jobs) * (draw.random(jobs) < 0.9)
    runtime[draw.integers(0, jobs)] = 6000
    wall = np.maximum((runtime * draw.uniform(0.8, 3, jobs)).astype(int), 1)
    procs = np.minimum(draw.geometric(0.25, jobs), 18)
    user = draw.integers(1, 7, jobs)
    part = np.where(np.arange(jobs) < jobs // 2, 1, draw.integers(1, partitions + 1, jobs))
    lines = [
        f"{i + 1} {submit[i]}{'.25' if i == 333 else ''} -1 {runtime[i]} {procs[i]} -1 -1 {procs[i]} "
        f"{wall[i]} -1 1 {user[i]} 1 -1 {1 + i % 3} {part[i]} -1 -1"
        for i in range(jobs)
    ]
    return "; MaxProcs: 16\n" + "\n".join(lines) + "\n"


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Parts of some fifty lines."""
    monkeypatch.setattr("headway.workload.stream.CHUNK", 2500)
    yield


def both(folder: Path, text: str, policy: str) -> tuple[Path, Path, Streamed]:
    """The same log in memory and as a stream, each in a folder."""
    log = folder / "log.swf"
    log.write_text(text)
    whole, stream = folder / "whole", folder / "stream"
    headway.simulate(headway.read(log), 16, policy).save(whole, force=True)
    return whole, stream, simulate_stream(str(log), 16, policy, out=stream, force=True, sizes=SMALL)


def told(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    return json.loads((folder / "summary.json").read_text()), json.loads((folder / "run.json").read_text())


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("policy", POLICIES)
def test_a_stream_gives_the_schedule_and_the_numbers_of_a_run_in_memory(tmp_path: Path, policy: str) -> None:
    for seed in range(3):
        whole, stream, result = both(tmp_path, text_of(seed), policy)
        assert (stream / "schedule.csv").read_bytes() == (whole / "schedule.csv").read_bytes()
        tables = [pl.read_parquet(folder / "schedule.parquet") for folder in (whole, stream)]
        assert tables[0].schema == tables[1].schema
        assert tables[0].equals(tables[1])
        (expected, record), (found, streamed) = told(whole), told(stream)
        sketched = found.pop("sketched")
        assert tuple(sketched) == SKETCHED
        for name in SKETCHED:
            assert found.pop(name) == pytest.approx(expected.pop(name), rel=RELATIVE_ERROR)
        assert found == expected
        for name in ("ledger", "jobs", "jobs_in_log", "dropped", "passes", "runs", "max_queue", "promise"):
            assert streamed[name] == record[name], name
        assert streamed["trace"]["sha256"] == record["trace"]["sha256"]
        assert result.jobs == record["jobs"]


@pytest.mark.usefixtures("small_chunks")
def test_a_second_partition_that_comes_late_is_in_every_row(tmp_path: Path) -> None:
    whole, stream, _ = both(tmp_path, text_of(5, partitions=3), "easy")
    assert "partition" in (stream / "schedule.csv").read_text().splitlines()[0]
    assert (stream / "schedule.csv").read_bytes() == (whole / "schedule.csv").read_bytes()
    assert told(stream)[0]["by_partition"] == told(whole)[0]["by_partition"]


@pytest.mark.usefixtures("small_chunks")
def test_a_streamed_schedule_is_read_back_and_passes_the_audit(tmp_path: Path) -> None:
    _, stream, _ = both(tmp_path, text_of(6), "conservative")
    schedule = headway.Schedule.load(stream)
    assert headway.audit(schedule).ok
    assert len(schedule) > 300


def test_packed_logs_and_pipes(tmp_path: Path) -> None:
    packed = tmp_path / "log.swf.gz"
    packed.write_bytes(gzip.compress(text_of(1).encode()))
    expected = simulate_stream(str(packed), None, "easy", sizes=SMALL)
    (tmp_path / "log.swf").write_text(text_of(1))
    with (tmp_path / "log.swf").open("rb") as file:
        assert simulate_stream(file, None, "easy", sizes=SMALL).summary == expected.summary


@pytest.mark.usefixtures("small_chunks")
def test_an_interrupt_keeps_every_job_that_had_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from headway.engine.driver import Driver

    log = tmp_path / "log.swf"
    log.write_text(text_of(2))
    whole = pl.read_csv(both(tmp_path, text_of(2), "easy")[0] / "schedule.csv", infer_schema=False)
    run_until, called = Driver.run_until, []

    def interrupted(self: Driver, t: int) -> None:
        called.append(t)
        if len(called) == 4:
            run_until(self, t - 300_000_000)
            raise KeyboardInterrupt
        run_until(self, t)

    monkeypatch.setattr(Driver, "run_until", interrupted)
    result = simulate_stream(str(log), 16, "easy", out=tmp_path / "kept", sizes=SMALL)
    assert result.interrupted
    kept = pl.read_csv(tmp_path / "kept" / "schedule.csv", infer_schema=False)
    stopped = float(kept["end"].cast(pl.Float64).max())  # type: ignore[arg-type]
    assert 100 < len(kept) < len(whole)
    assert kept.equals(whole.filter(pl.col("job").is_in(kept["job"].implode())))
    assert len(kept) == len(whole.filter(pl.col("end").cast(pl.Float64) <= stopped))
    record = told(tmp_path / "kept")[1]
    assert record["interrupted"] is True
    assert record["jobs_in_log"] == record["jobs"] + record["dropped"]
    assert len(headway.Schedule.load(tmp_path / "kept")) == len(kept)


def test_an_interrupt_waits_for_the_end_of_a_block() -> None:
    done = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's & ignores it
    try:
        with pytest.raises(KeyboardInterrupt), unbroken():
            signal.raise_signal(signal.SIGINT)
            done.append("all of it")
        assert done == ["all of it"]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("dbf", "dbf cannot schedule a stream"),
        ("redirection", "redirection cannot schedule a stream"),
        ("easy(dialect=pyss)", "dialect=pyss cannot be on a stream"),
        ("easy(estimate=last2)", "estimate=last2 cannot be on a stream"),
    ],
)
def test_policies_that_must_see_the_whole_log_are_refused(tmp_path: Path, policy: str, words: str) -> None:
    (tmp_path / "log.swf").write_text(SWF)
    with pytest.raises(UsageError, match=words.replace("(", r"\(")):
        simulate_stream(str(tmp_path / "log.swf"), None, policy)


def test_what_only_a_whole_log_can_tell_is_an_error_with_the_line(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    lines = text_of(3, 30).splitlines()
    log.write_text("\n".join([*lines, lines[-1]]))
    with pytest.raises(InputError, match=r":32: field 1 .job number.*job 30 comes after.*convert"):
        simulate_stream(str(log), None, "easy")
    log.write_text("\n".join([*lines[:-1], lines[-1].replace(" -1 1 ", " -1 2 ", 1)]))
    with pytest.raises(InputError, match=r":31: field 11 .status.*a piece of a checkpointed job"):
        simulate_stream(str(log), None, "easy")


def test_a_packed_log_is_told_by_name_also_where_its_bytes_look_like_those_of_sacct(tmp_path: Path) -> None:
    (tmp_path / "log.zip").write_bytes(b"PK\x03\x04a|b\n")
    with pytest.raises(InputError, match=r"log.zip: is a zip file; unpack it, or pack it with gzip"):
        simulate_stream(str(tmp_path / "log.zip"), 4, "fcfs")


@pytest.mark.usefixtures("small_chunks")
def test_a_job_that_stands_too_far_below_is_an_error(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    late = "900 5 -1 10 2 -1 -1 2 12 -1 1 1 1 -1 1 -1 -1 -1\n"
    log.write_text(text_of(4) + late)
    with pytest.raises(InputError, match=r"job 900 was submitted at 5 s, before .* more than 25 lines"):
        simulate_stream(str(log), None, "easy", sizes=SMALL)
    assert not list(tmp_path.glob("out*"))


def test_a_log_without_jobs_that_fit_gives_an_empty_schedule(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    log.write_text(SWF)
    result = simulate_stream(str(log), 1, "sjf", out=tmp_path / "out")
    assert (result.jobs, result.ledger.dropped) == (1, 3)
    log.write_text("; MaxProcs: 4\n1 0 -1 10 9 -1 -1 9 12 -1 1 1 1 -1 1 -1 -1 -1\n")
    result = simulate_stream(str(log), None, "sjf", out=tmp_path / "none")
    assert result.jobs == 0
    assert result.summary["mean_wait"] is None
    assert len(pl.read_parquet(tmp_path / "none" / "schedule.parquet")) == 0


def test_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Headway(tmp_path, capsys, monkeypatch)
    run.write("log.swf", SWF)
    shown = run("simulate", "log.swf", "--policy", "easy", "--stream", "--out", "out")
    assert shown.status == 0
    assert "mean_wait" in shown.out and "median_wait, p95_wait, median_bsld" in shown.out
    assert run("simulate", "log.swf", "--policy", "easy", "--out", "whole").status == 0
    assert (tmp_path / "out/schedule.csv").read_bytes() == (tmp_path / "whole/schedule.csv").read_bytes()
    assert run("simulate", "log.swf", "--policy", "easy", "--stream", "--out", "out").status == 2
    refused = run("simulate", "log.swf", "--policy", "easy", "--stream", "--failures", "mtbf=30d, repair=4h")
    assert refused.status == 2
    assert "processors that come and go" in refused.err


# ---- the parts ---------------------------------------------------------------------------------------


def test_rows_come_out_in_order_however_jobs_end_and_wherever_they_lie(tmp_path: Path) -> None:
    from headway.workload.table import ALWAYS

    draw = np.random.default_rng(7)
    rows, out = Rows(tmp_path, block=8, in_memory=1), []
    pending: list[int] = []
    for first in range(0, 200, 20):
        numbers = draw.permutation(np.arange(first, first + 20))
        rows.add(dict.fromkeys(ALWAYS, numbers * 3), numbers)
        pending = [int(n) for n in draw.permutation([*pending, *numbers])]
        some, pending = pending[: 18 if first else 0], pending[18 if first else 0 :]
        ended = np.array([n for n in some if n != 3], np.int64)
        pending += [n for n in some if n == 3]
        rows.end(ended, dict.fromkeys(("start", "end", "why", "killed", "promise"), ended + 1000))
        out += [int(job) for block in rows.complete() for job in block["job"]]
        assert first < 60 or list(tmp_path.iterdir())
    assert out == []  # row 3 has not ended
    last = np.array(pending)
    rows.end(last, dict.fromkeys(("start", "end", "why", "killed", "promise"), last + 1000))
    for block in rows.complete(last=True):
        assert (block["end"] == block["job"] // 3 + 1000).all()
        out += block["job"].tolist()
    assert out == [3 * n for n in range(200)]
    assert not list(tmp_path.iterdir())


def test_exact_sums_and_histograms_do_not_depend_on_blocks() -> None:
    draw = np.random.default_rng(8)
    values = np.exp(draw.uniform(0, 40, 20_000))
    summed, histogram = ExactSum(), Histogram()
    for block in np.array_split(values, 37):
        summed.add(block)
        histogram.add(block)
    assert summed.value == exact_sum(values)
    for percent in (0, 5, 50, 95, 99.9, 100):
        exact = float(np.percentile(values, percent))
        assert histogram.quantile(percent) == pytest.approx(exact, rel=RELATIVE_ERROR)
    zeros = Histogram()
    zeros.add(np.zeros(5))
    assert zeros.quantile(50) == 0
    assert Histogram().quantile(50) is None


def test_the_longest_queue_counts_what_waits_after_each_instant() -> None:
    queue = Queue()
    queue.add(np.array([0, 0, 5]), np.array([0, 5]))  # one starts at once, one at 5, when one comes
    assert (queue.waiting, queue.largest) == (1, 1)
    queue.add(np.array([7, 7, 7]), np.array([9, 9]))
    assert (queue.waiting, queue.largest) == (2, 4)
