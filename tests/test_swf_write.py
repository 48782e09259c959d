"""Writing SWF: what is read, written and read again is the same workload."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from collections.abc import Iterator
from errno import ENOSPC
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from headway.errors import UsageError
from headway.workload import RULES, Workload, read, read_swf, swf, write_swf
from headway.workload.swf import read_swf_in_parts
from random_examples import examples
from swf_texts import CHOSEN, TEXTS

ORDINARY = settings(examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])


def from_text(text: str, **rules: str) -> Workload:
    return read_swf(io.BytesIO(text.encode()), rules)


@ORDINARY
@given(text=TEXTS, rules=CHOSEN)
def test_written_and_read_again_it_is_the_same(tmp_path: Path, text: str, rules: dict[str, str]) -> None:
    workload = from_text(text, **rules)
    assume(len(workload))
    path = tmp_path / "again.swf"
    write_swf(workload, path)
    again = read_swf(path, rules)
    assert again.header.lines[: len(workload.header.lines)] == workload.header.lines
    assert again.ledger.dropped == 0
    # Where a rule chose or raised a number, that one is written, so that the file says it under any rule.
    only_here = {"requested_procs"} if rules.get("procs") == "allocated" else set()
    only_here |= {"requested_time"} if rules.get("overrun") == "trust" else set()
    assert set(again.columns) - only_here == set(workload.columns) - only_here
    for name in set(workload.columns) - only_here:
        assert np.array_equal(again.columns[name], workload.columns[name]), name


@ORDINARY
@given(text=TEXTS, rules=CHOSEN)
def test_the_file_stands_for_itself(tmp_path: Path, text: str, rules: dict[str, str]) -> None:
    """Whatever rules made a workload, its file read with the default ones gives the same jobs to schedule."""
    workload = from_text(text, **rules)
    assume(len(workload))
    path = tmp_path / "again.swf"
    write_swf(workload, path)
    again = read(path, cancelled="keep")
    for name in ("job", "submit", "procs", "walltime", "runtime", "user", "queue"):
        assert np.array_equal(again.columns[name], workload.columns[name]), name


@ORDINARY
@given(text=TEXTS, rules=CHOSEN, partial=st.sampled_from(RULES["partial"]), most=st.integers(1, 8))
def test_no_job_is_lost_whatever_the_rule_for_pieces(
    tmp_path: Path, text: str, rules: dict[str, str], partial: str, most: int
) -> None:
    """Joined jobs and jobs with exit codes are whole jobs, in a part of a log too, written once or twice."""
    workload = from_text(text, **rules)
    assume(len(workload))
    workload = workload.select(range(min(most, len(workload))))
    again = workload
    for path in (tmp_path / "once.swf", tmp_path / "twice.swf"):
        write_swf(again, path)
        again = read_swf(path, rules | {"partial": partial})
        assert again.job.tolist() == workload.job.tolist()
        assert again.runtime.tolist() == workload.runtime.tolist()
    assert path.read_bytes() == (tmp_path / "once.swf").read_bytes()


def test_exit_codes_are_named_where_the_log_no_longer_shows_them(tmp_path: Path) -> None:
    """Job 2 has an exit code 3; what shows that it is none of a piece is job 1's 137, which is cut away."""
    line = "{} {} 5 100 4 -1 -1 4 200 -1 {} 7 8 -1 2 3 -1 -1\n"
    workload = from_text("; MaxProcs: 8\n" + line.format(1, 0, 137) + line.format(2, 9, 3))
    write_swf(workload.select([1]), tmp_path / "part.swf")
    header = "; WholeJobs: every line is a job; status 2, 3 and 4 are exit codes, not pieces of jobs\n"
    assert (tmp_path / "part.swf").read_text() == f"; MaxProcs: 8\n{header}{line.format(2, 9, 3)}"
    for rule in RULES["partial"]:
        assert read(tmp_path / "part.swf", partial=rule).job.tolist() == [2]
    (part,) = read_swf_in_parts(tmp_path / "part.swf")
    assert part.job.tolist() == [2] and [entry.rule for entry in part.ledger] == ["partial"]


def test_a_joined_log_is_read_in_parts(tmp_path: Path) -> None:
    """Once its pieces are joined and written, a log has summary lines: done is 1, failed 0, unknown -1."""
    line = "{} 0 5 100 4 -1 -1 4 200 -1 {} 7 8 -1 2 3 -1 -1\n"
    pieces = [(1, 2), (2, 2), (1, 3), (2, 4), (3, 2)]
    write_swf(from_text("".join(line.format(*piece) for piece in pieces)), tmp_path / "joined.swf")
    (part,) = read_swf_in_parts(tmp_path / "joined.swf")
    assert part.job.tolist() == [1, 2, 3] and part.header.lines == ()
    assert part.columns["status"].tolist() == [1, 0, -1]


def test_lines_are_written_as_they_were() -> None:
    lines = [
        "; MaxProcs: 64   ",
        ";\tTabbed é",
        "1 0 5 100 4 99.5 -1 -1 -1 -1 1 7 8 -1 2 3 -1 -1",
        "2 10 -1 0 8 -1 500 16 3600 -1 0 7 8 -1 2 3 1 60",
        "3 20.25 0 7 8 -1 500 0 3600 900 -1 7 8 -1 2 3 -1 -1",
    ]
    text = "\n".join(lines) + "\n"
    code = "import sys; from headway.workload import read, write_swf; write_swf(read('-'), '-')"
    done = subprocess.run([sys.executable, "-c", code], input=text.encode(), capture_output=True, check=True)
    assert done.stdout.decode() == text


def test_comments_that_are_not_utf8_come_back(tmp_path: Path) -> None:
    data = b"; Installation: Universit\xe9\n1 0 5 100 4 -1 -1 4 200 -1 1 7 8 -1 2 3 -1 -1\n"
    (tmp_path / "a.swf").write_bytes(data)
    write_swf(read(tmp_path / "a.swf"), tmp_path / "b.swf")
    assert (tmp_path / "b.swf").read_bytes() == data


def test_changed_columns_are_written_as_changed(tmp_path: Path) -> None:
    workload = from_text("1 0 5 100 4 -1 70 -1 -1 -1 1\n2 0 5 100 4 -1 70 -1 -1 -1 1\n")
    changed = workload.with_columns(procs=[4, 9], walltime=[100_000_000, 1_500_000], memory_kb=[70, 80])
    write_swf(changed, tmp_path / "changed.swf")
    first, second = (tmp_path / "changed.swf").read_text().splitlines()
    assert first == "1 0 5 100 4 -1 70 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1"
    assert second == "2 0 5 100 4 -1 70 9 1.5 80 1 -1 -1 -1 -1 -1 -1 -1"


def test_gzip_is_chosen_by_the_name_and_reproducible(tmp_path: Path) -> None:
    workload = Workload.from_arrays(unit="s", submit=[0, 1.5], procs=[1, 2], runtime=[3, 4])
    one, other = tmp_path / "one.swf.gz", tmp_path / "other.swf.gz"
    write_swf(workload, one)
    write_swf(workload, other)
    assert one.read_bytes() == other.read_bytes()
    assert gzip.decompress(one.read_bytes()).decode().splitlines() == [
        "1 0 -1 3 -1 -1 -1 1 3 -1 -1 -1 -1 -1 -1 -1 -1 -1",
        "2 1.5 -1 4 -1 -1 -1 2 4 -1 -1 -1 -1 -1 -1 -1 -1 -1",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.swf.gz", "other.swf.gz"]


def test_nothing_is_written_where_there_is_no_place(tmp_path: Path) -> None:
    workload = Workload.from_arrays(unit="s", submit=[0], procs=[1], runtime=[3])
    with pytest.raises(UsageError, match=r"a\.swf cannot be written: No such file or directory"):
        write_swf(workload, tmp_path / "absent" / "a.swf")
    (tmp_path / "folder.swf").mkdir()
    with pytest.raises(UsageError, match=r"folder\.swf is a folder; only regular files are replaced"):
        write_swf(workload, tmp_path / "folder.swf")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.swf"]


@pytest.mark.parametrize("name", ["log.swf", "log.swf.gz"])
def test_nothing_is_written_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A disk that is full after the first block leaves what was there, and nothing where nothing was."""
    workload = Workload.from_arrays(unit="s", submit=[0, 1, 2], procs=[1, 1, 1], runtime=[3, 3, 3])
    drafts: list[int] = []

    def until_full(given: Workload) -> Iterator[bytes]:
        yield b"1 0 -1 3\n"
        drafts.append(len([path for path in tmp_path.iterdir() if path.name.endswith(".part")]))
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(swf, "_texts", until_full)
    for before in (None, b"what was there"):
        if before is not None:
            (tmp_path / name).write_bytes(before)
        with pytest.raises(UsageError, match="cannot be written: No space left on device"):
            write_swf(workload, tmp_path / name)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == (
            {} if before is None else {name: before}
        )
    assert drafts == [1, 1]  # it was being written when the disk was full
