"""Files of a run: what is in them, that they come back, and that they appear whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from headway import Schedule
from headway.errors import InputError, UsageError
from headway.platform import Cluster, NodeGroup, Platform
from headway.schedule.csv_table import CsvTable
from headway.schedule.files import whole_folder
from headway.workload import LedgerEntry, Workload
from small_schedules import schedule, untied
from test_schedule import JOBS, redirected

PLAIN = ("run.json", "schedule.csv", "schedule.parquet", "summary.json")


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def rich() -> Schedule:
    """Every optional column, labels, a ledger with a dropped job, fractions of a second."""
    base = schedule(JOBS, [0, 7, 32], procs=3)
    labelled = Workload(
        dict(base.workload.columns)
        | {
            "user": np.array([1, 0, -1]),
            "urgent": np.array([True, False, False]),
            "deadline": np.array([-1, 60_000_000, 99_500_000]),
            "parallel_fraction": np.array([0.8, np.nan, 0.99]),
            "max_procs": np.array([32, -1, 5]),
        },
        labels={"user": ["zoe", "adam"]},
        ledger=base.workload.ledger.__class__(4, (LedgerEntry("too_large", "dropped", 1, (9,), True),)),
        rules={"overrun": "kill"},
    )
    platform = Platform(
        (Cluster("one", nodes=(NodeGroup(2, 4), NodeGroup(1, 8, 256.0))), Cluster("two", procs=3))
    )
    return Schedule(
        labelled,
        platform,
        "mine(k=3)",
        base.start + 250_000,
        base.end + 250_000,
        np.array([0, 2, 5]),
        base.killed,
        procs=np.array([4, 1, 3]),
        promise=np.array([250_000, -1, 40_000_000]),
        promise_kind="told",
        cluster=np.array([1, 0, -1]),
        group=np.array([0, 1, 0]),
        labels={"cluster": ["one", "two"], "group": ["principal", "redirection"]},
        groups={"principal": 4, "redirection": 2},
        waiting=np.array([0, 1_500_000, 0]),
        own={"redirections": 1},
        provenance={"version": "0", "seeds": {"run": 7}, "timing": {"wall": 0.5}},
    )


def test_schedule_csv_is_exactly_this(tmp_path: Path) -> None:
    schedule(JOBS, [0, 7, 32], procs=3, columns={"user": [4, 4, 9]}).save(tmp_path / "out")
    # Job 2: submitted at 5, started at 7, cut at its walltime of 25 s. Job 3: no length, waited 26.5 s.
    assert (tmp_path / "out" / "schedule.csv").read_text() == (
        "job,submit,start,end,procs,walltime,runtime,wait,why,killed,user,queue\n"
        "1,0,0,10,2,20,10,0,head,0,4,-1\n"
        "2,5,7,32,1,25,30,2,head,1,4,-1\n"
        "3,5.5,32,32,3,7,0,26.5,head,0,9,-1\n"
    )
    assert sorted(files(tmp_path / "out")) == list(PLAIN)


def test_runs_are_written_where_a_job_has_several_pieces(tmp_path: Path) -> None:
    redirected().save(tmp_path / "out")
    assert (tmp_path / "out" / "runs.csv").read_text() == (
        "job,run,state,start,end,procs,cluster,group,node,processors,ended\n"
        "1,0,running,0,4,2,,,,0-1,redirected\n"
        '1,1,running,6,16,2,,,,"3,5",done\n'
        "2,0,running,0,5,1,,,,,done\n"
    )
    assert sorted(files(tmp_path / "out")) == ["run.json", "runs.csv", "runs.parquet", *PLAIN[1:]]


@pytest.mark.parametrize("make", [rich, redirected, lambda: schedule(JOBS, [0, 7, 32], procs=3)])
def test_a_loaded_schedule_is_the_saved_one(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    saved = make()
    saved.save(tmp_path / "out")
    loaded = Schedule.load(tmp_path / "out")
    for name in ("start", "end", "why", "killed", "procs", "walltime", "runtime"):
        assert getattr(loaded, name).tolist() == getattr(saved, name).tolist(), name
    for name in ("promise", "group", "cluster", "node", "waiting"):
        column = getattr(saved, name)
        assert (getattr(loaded, name) is None) == (column is None), name
        assert column is None or getattr(loaded, name).tolist() == column.tolist(), name
    for name in ("policy", "promise_kind", "capacity", "groups", "labels", "own", "platform"):
        assert getattr(loaded, name) == getattr(saved, name), name
    for name in ("job", "submit", "procs", "walltime", "runtime", "queue"):
        assert loaded.workload.columns[name].tolist() == saved.workload.columns[name].tolist(), name
    assert loaded.workload.ledger == saved.workload.ledger
    assert loaded.workload.rules == saved.workload.rules
    assert loaded.summary() == saved.summary()
    assert loaded.frame().equals(saved.frame())
    loaded.save(tmp_path / "again")
    assert files(tmp_path / "again") == files(tmp_path / "out")


def test_optional_columns_of_the_workload_come_back(tmp_path: Path) -> None:
    rich().save(tmp_path / "out")
    workload = Schedule.load(tmp_path / "out").workload
    assert [workload.labels["user"][code] if code >= 0 else None for code in workload.user] == [
        "adam",
        "zoe",
        None,
    ]
    assert workload.urgent.tolist() == [True, False, False]
    assert workload.deadline.tolist() == [-1, 60_000_000, 99_500_000]
    assert np.array_equal(workload.parallel_fraction, [0.8, np.nan, 0.99], equal_nan=True)
    assert workload.max_procs.tolist() == [32, -1, 5]
    assert workload.procs.tolist() == [2, 1, 3]  # the log's, from trace_procs


def test_two_runs_differ_in_their_timing_alone(tmp_path: Path) -> None:
    first, second = rich(), rich()
    second.provenance["timing"] = {"wall": 99.0}
    first.save(tmp_path / "a")
    second.save(tmp_path / "b")
    a, b = files(tmp_path / "a"), files(tmp_path / "b")
    runs = [json.loads(content.pop("run.json")) for content in (a, b)]
    assert a == b
    assert runs[0].pop("timing") != runs[1].pop("timing")
    assert runs[0] == runs[1]


def test_run_json_tells_how_the_schedule_was_made(tmp_path: Path) -> None:
    rich().save(tmp_path / "out")
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["policy"] == "mine(k=3)"
    assert record["ledger"] == [
        {"rule": "too_large", "action": "dropped", "count": 1, "jobs": [9], "dropped": True}
    ]
    assert (record["jobs_in_log"], record["jobs"], record["dropped"]) == (4, 3, 1)
    assert record["platform"]["cluster"][1] == {"name": "two", "speed": 1.0, "procs": 3}
    assert record["seeds"] == {"run": 7}


def test_an_occupied_folder_is_refused_and_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("precious")
    with pytest.raises(UsageError, match=r"not empty.*force=True"):
        redirected().save(out)
    assert files(out) == {"mine.txt": b"precious"}
    assert list(tmp_path.iterdir()) == [out]


def test_force_replaces_our_files_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "out"
    redirected().save(out)
    (out / "mine.txt").write_text("precious")
    schedule(JOBS, [0, 7, 32], procs=3).save(out, force=True)
    assert sorted(files(out)) == ["mine.txt", *PLAIN]  # runs.csv of the earlier run is gone
    assert len(Schedule.load(out)) == 3
    assert list(tmp_path.iterdir()) == [out]


def test_an_empty_folder_and_missing_parents_are_welcome(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    redirected().save(tmp_path / "empty")
    redirected().save(tmp_path / "deep" / "er")
    assert files(tmp_path / "empty") == files(tmp_path / "deep" / "er")


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        redirected().save(tmp_path / "out", force=True)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_nothing_half_written_remains(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), whole_folder(tmp_path / "out") as draft:
        (draft / "schedule.csv").write_text("job,")
        raise error
    assert list(tmp_path.iterdir()) == []


def test_folders_within_the_folder_are_replaced_too(tmp_path: Path) -> None:
    for content in ("old", "new"):
        with whole_folder(tmp_path / "out", force=True) as draft:
            (draft / "easy").mkdir()
            (draft / "easy" / content).write_text(content)
    assert [path.name for path in (tmp_path / "out" / "easy").iterdir()] == ["new"]


def test_a_folder_without_a_schedule_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"schedule\.csv"):
        Schedule.load(tmp_path)


def test_an_empty_schedule_is_saved_and_loaded(tmp_path: Path) -> None:
    schedule([], [], procs=3).save(tmp_path / "out")
    loaded = Schedule.load(tmp_path / "out")
    assert len(loaded) == 0
    assert loaded.summary()["mean_wait"] is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2,5,7,32", "2,5,soon,32", r"schedule\.csv:3: start: 'soon' was found where a number of seconds"),
        ("2,5,7,32", "two,5,7,32", r"schedule\.csv:3: job: 'two' was found where a whole number"),
        ("2,5,7,32", "2,5,,32", r"schedule\.csv:3: start: the cell is empty"),
        (",head,1", ",luck,1", r"schedule\.csv:3: why: 'luck' was found where one of immediate, head"),
        (",head,1", ",head,7", r"schedule\.csv:3: killed: '7' was found where 0 or 1"),
        ("2,5,7,32", "2,5,7,32,0,0", r"schedule\.csv:3: 14 fields were found where the header names 12"),
        ("job,submit", "job,sent", r"schedule\.csv:1: submit: there is no such column"),
    ],
)
def test_a_damaged_table_is_told_with_line_and_field(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    schedule(JOBS, [0, 7, 32], procs=3).save(tmp_path / "out")
    untied(tmp_path / "out")
    table = tmp_path / "out" / "schedule.csv"
    table.write_text(table.read_text().replace(old, new))
    with pytest.raises(InputError, match=message):
        Schedule.load(tmp_path / "out")


def test_damaged_run_json_is_told(tmp_path: Path) -> None:
    schedule(JOBS, [0, 7, 32], procs=3).save(tmp_path / "out")
    (tmp_path / "out" / "run.json").write_text("{")
    with pytest.raises(InputError, match=r"run\.json:1: is not JSON"):
        Schedule.load(tmp_path / "out")
    (tmp_path / "out" / "run.json").write_text("{}")
    with pytest.raises(InputError, match=r"run\.json: policy: the entry is missing"):
        Schedule.load(tmp_path / "out")


def test_lines_are_counted_through_blank_lines_and_line_ends_of_all_kinds(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_bytes(b'\xef\xbb\xbfjob, Start ,note\r\n1,0,"two\r\nlines"\r\n\r\n2,x,\r\n')
    with pytest.raises(InputError, match=r"table\.csv:5: start"):
        CsvTable(file, ("job", "start")).times("start")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00job"])
def test_what_is_no_table_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "table.csv").write_bytes(content)
    with pytest.raises(InputError, match=r"table\.csv"):
        CsvTable(tmp_path / "table.csv", ("job",)).integers("job")
    with pytest.raises(InputError, match="no such file"):
        CsvTable(tmp_path / "nothing.csv", ("job",))
