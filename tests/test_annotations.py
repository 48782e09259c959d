"""Annotation files: every column typed and checked, every mistake named by file, line and column."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.errors import InputError
from headway.workload import Workload, read_annotations
from random_examples import examples

JOBS = Workload.from_arrays(
    unit="s", job=[30, 10, 20], submit=[0, 1, 2], procs=[1, 2, 9], runtime=[5, 6, 7], memory_kb=[7, 8, 9]
)


def annotate(tmp_path: Path, text: str, jobs: Workload = JOBS) -> Workload:
    path = tmp_path / "notes.csv"
    path.write_text(text, encoding="utf-8")
    return read_annotations(jobs, path)


def test_every_column(tmp_path: Path) -> None:
    workload = annotate(
        tmp_path,
        "job,urgent,deadline,swap,memory_mb,file,file_gb,needs_node_gb,parallel_fraction,max_procs,cluster,local\n"
        "10,1,86400.5,0.25,1.5,data.h5,6.4,128,0.95,32,Lyon,1\n"
        "20,0,,,,data.h5,6.4,,,,Bordeaux,0\n",
    )
    values = {name: column.tolist() for name, column in workload.columns.items()}
    assert values["urgent"] == [False, True, False]
    assert values["deadline"] == [-1, 86_400_500_000, -1]
    assert values["swap"] == [-1, 250_000, -1]
    assert values["memory_kb"] == [7, 1536, 9]
    assert values["file"] == [-1, 0, 0]
    assert values["max_procs"] == [-1, 32, -1]
    assert values["cluster"] == [-1, 0, 1]
    assert values["local"] == [False, True, False]
    assert math.isnan(values["file_gb"][0]) and values["file_gb"][1:] == [6.4, 6.4]
    assert math.isnan(values["needs_node_gb"][0]) and values["needs_node_gb"][1] == 128.0
    assert values["parallel_fraction"][1] == 0.95 and math.isnan(values["parallel_fraction"][2])
    assert workload.labels == {"file": ["data.h5"], "cluster": ["Lyon", "Bordeaux"]}
    assert workload.job.tolist() == JOBS.job.tolist()
    assert workload.transformations == (f"annotations {tmp_path / 'notes.csv'}",)
    assert workload.urgent.dtype == np.bool_ and workload.file.dtype == np.int64


def test_a_second_file_adds_to_the_first(tmp_path: Path) -> None:
    first = annotate(tmp_path, "job,file,deadline\n10,a,5\n20,b,6\n")
    both = annotate(tmp_path, "job,file,deadline\n30,b,\n20,c,9\n", first)
    assert both.deadline.tolist() == [-1, 5_000_000, 9_000_000]
    assert [both.labels["file"][code] for code in both.file] == ["b", "a", "c"]


def test_spelling_that_spreadsheets_use(tmp_path: Path) -> None:
    workload = annotate(tmp_path, '\ufeff"job", urgent ,file\r\n"10", 1.0 ,"a, b"\r\n\r\n20,,\r\n')
    assert workload.urgent.tolist() == [False, True, False]
    assert workload.labels["file"] == ["a, b"]


def test_dropped_jobs_may_be_listed(tmp_path: Path) -> None:
    fitted = JOBS.fit_to(4)
    workload = annotate(tmp_path, "job,urgent\n20,1\n10,1\n", fitted)
    assert workload.urgent.tolist() == [False, True]
    entry = workload.ledger.entries[-1]
    assert (entry.rule, entry.jobs, entry.dropped) == ("annotations", (20,), False)
    assert workload.ledger.kept == 2


@pytest.mark.parametrize(
    ("text", "line", "field", "expected"),
    [
        ("job,urgent\n10,1\n99,1\n", 3, "job", "job 99 is not in the workload"),
        ("job,urgent\n10,1\n20,0\n10,0\n", 4, "job", "job 10 is on line 2 already"),
        ("job,urgent\nten,1\n", 2, "job", "'ten' cannot be taken; write a number"),
        ("job,urgent\n10.5,1\n", 2, "job", "write a whole number"),
        ("job,urgent\n,1\n", 2, "job", "'' cannot be taken"),
        ("job,urgent\n10,2\n", 2, "urgent", "'2' cannot be taken; write 0 or 1, or leave it empty"),
        ("job,urgent\n10,yes\n", 2, "urgent", "'yes' cannot be taken"),
        ("job,deadline\n10,-5\n", 2, "deadline", "write a number from 0 to 1152921504606"),
        ("job,deadline\n10,nan\n", 2, "deadline", "write a number"),
        ("job,swap\n10,inf\n", 2, "swap", "write a number"),
        ("job,swap\n10,1e99\n", 2, "swap", "write a number from 0"),
        ("job,memory_mb\n10,-1\n", 2, "memory_mb", "write a number from 0"),
        ("job,parallel_fraction\n10,1.01\n", 2, "parallel_fraction", "write a number from 0 to 1"),
        ("job,max_procs\n10,0\n", 2, "max_procs", "write a number from 1"),
        ("job,max_procs\n10,2.5\n", 2, "max_procs", "write a whole number"),
        ("job,file_gb\n10,1_0\n", 2, "file_gb", "write a number"),
        ("job,local\n10,true\n", 2, "local", "write a number"),
        (
            "job,file,file_gb\n10,a,5\n20,a,6\n",
            3,
            "file_gb",
            "the same file has 5 GB on line 2 and 6 GB here",
        ),
        ("job,urgent\n10\n", 2, None, "has 1 cell and the header 2"),
        (
            "job,colour\n10,red\n",
            1,
            None,
            "no annotation 'colour' (did you mean 'cluster'?); the columns are job, urgent, deadline",
        ),
        ("urgent\n1\n", 1, None, "must name the columns, job among them"),
        ("job,urgent,urgent\n", 1, None, "urgent is there twice"),
        ("", 1, None, "must name the columns"),
        ('job,file\n10,"open\n', 2, None, "is not CSV"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, line: int, field: str | None, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        annotate(tmp_path, text)
    error = caught.value
    assert (error.file, error.line, error.field) == (str(tmp_path / "notes.csv"), line, field)
    assert expected in str(error) and "\n" not in str(error)


def test_files_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_bytes(b"job,file\n10,\xff\xff\n")
    with pytest.raises(InputError, match=r"notes\.csv:2: is not UTF-8 text"):
        read_annotations(JOBS, path)
    with pytest.raises(InputError, match="no such file"):
        read_annotations(JOBS, tmp_path / "absent.csv")


CELLS = st.sampled_from(
    ["", "0", "1", "10", "20", "30", "-1", "0.5", "nan", "1e400", "x", '"', "9" * 40, "\x00", "é"]
)
NAMES = st.sampled_from(
    ["job", "urgent", "deadline", "memory_mb", "file", "file_gb", "max_procs", "local", "?"]
)


@settings(examples(300), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(NAMES, max_size=3).map(lambda names: ["job", *names]),
    rows=st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=4),
)
def test_any_file_gives_a_workload_or_one_sentence(
    tmp_path: Path, names: list[str], rows: list[list[str]]
) -> None:
    text = "\n".join(",".join(cells) for cells in [names, *rows])
    try:
        workload = annotate(tmp_path, text)
    except InputError as error:
        assert str(error).startswith(str(tmp_path)) and "\n" not in str(error)
    else:
        assert workload.job.tolist() == [30, 10, 20]
        assert set(names) <= {"job", "memory_mb", *workload.columns}
