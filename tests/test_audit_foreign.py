"""Other tools' schedules: a CSV file judged against a log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.audit import Audit, audit, read_foreign
from headway.errors import InputError
from headway.platform import Cluster, NodeGroup, Platform
from small_schedules import Job, easy_starts, schedule, workload

# On 4 processors: job 11 (2 procs) 0-10; job 12 (2 procs) 0-20, cut at its walltime; job 13 (4) 20-25.5.
JOBS: list[Job] = [(0, 2, 10, 15), (0, 2, 30, 20), (3, 4, 5.5, 6)]
LOG = workload(JOBS, job=[11, 12, 13])
GOOD = "job,start,end\n11,0,10\n12,0,20\n13,20,25.5\n"


def judged(
    tmp_path: Path, text: str, policy: str | None = None, runs: str | None = None, **more: Any
) -> Audit:
    (tmp_path / "foreign.csv").write_text(text)
    if runs is not None:
        (tmp_path / "runs.csv").write_text(runs)
    platform = more.get("platform", Platform.procs(4))
    log = more.get("log", LOG)
    record = read_foreign(
        tmp_path / "foreign.csv", log, platform, None if runs is None else tmp_path / "runs.csv"
    )
    return audit(record, policy=policy)


def faults(verdict: Audit) -> list[tuple[str, tuple[int, ...]]]:
    return [(fault.law, fault.jobs) for fault in verdict.faults]


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        "end,note,job,start\n10,a,11,0\n20,,12,0\n25.5,c,13,20\n",  # any order, other columns
        "job, Start ,END,procs\r\n13,20.0,25.500000,4\r\n12,0,20,\r\n11.0,0,1e1,2\r\n",  # other habits
        "\ufeff" + GOOD + "\n",
    ],
)
def test_a_right_schedule_in_several_spellings(tmp_path: Path, text: str) -> None:
    verdict = judged(tmp_path, text)
    assert verdict.ok, verdict.faults
    assert verdict.jobs == 3
    assert {law.name for law in verdict.laws} >= {"complete", "capacity", "run length", "request"}
    assert "killing" not in {law.name for law in verdict.laws}  # the file does not say who was killed


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("11,0,10\n", "", [("complete", (11,))]),
        ("11,0,10\n", "11,0,10\n11,0,10\n", [("complete", (11,))]),
        ("11,0,10\n", "11,0,10\n99,0,10\n", [("complete", (99,))]),
        ("13,20,25.5", "13,2,7.5", [("submission", (13,)), ("capacity", (11, 12, 13))]),
        ("13,20,25.5", "13,20,26", [("run length", (13,))]),
        ("12,0,20", "12,0,21", [("run length", (12,)), ("walltime", (12,)), ("capacity", (12, 13))]),
        ("13,20,25.5", "13,19.999999,25.499999", [("capacity", (12, 13))]),
        ("11,0,10", "11,10,0", [("pieces", (11,)), ("run length", (11,))]),
    ],
)
def test_wrong_schedules(tmp_path: Path, old: str, new: str, expected: list[Any]) -> None:
    assert faults(judged(tmp_path, GOOD.replace(old, new))) == expected


def test_processors_other_than_requested(tmp_path: Path) -> None:
    verdict = judged(tmp_path, "job,start,end,procs\n11,0,10,1\n12,0,20,2\n13,20,25.5,\n")
    (fault,) = verdict.faults
    assert fault.message == "job 11 has 1 processor, the log says 2 processors"


def test_policies_are_judged_too(tmp_path: Path) -> None:
    assert judged(tmp_path, GOOD, policy="fcfs").ok
    late = GOOD.replace("13,20,25.5", "13,22,27.5")
    assert faults(judged(tmp_path, late, policy="fcfs")) == [("fcfs head", (13,))]
    assert faults(judged(tmp_path, late, policy="easy")) == [("easy head", (13,))]
    assert judged(tmp_path, late).ok
    told = "job,start,end,promise\n11,0,10,0\n12,0,20,\n13,20,25.5,18\n"
    assert faults(judged(tmp_path, told, policy="conservative")) == [("promise", (13,))]
    assert judged(tmp_path, told).ok


def test_our_own_table_is_read_as_any_other(tmp_path: Path) -> None:
    made = schedule(JOBS, easy_starts(JOBS, 4), 4, policy="easy", columns={"job": [11, 12, 13]})
    made.save(tmp_path / "out")
    record = read_foreign(tmp_path / "out" / "schedule.csv", LOG, Platform.procs(4))
    assert audit(record, policy="easy").ok


def test_no_jobs_at_all(tmp_path: Path) -> None:
    assert faults(judged(tmp_path, "job,start,end\n")) == [
        ("complete", (11,)),
        ("complete", (12,)),
        ("complete", (13,)),
    ]
    assert faults(judged(tmp_path, GOOD, log=workload([]))) == [("complete", (n,)) for n in (11, 12, 13)]


# Job 12 runs 0-5, is given up, and runs 5.5-25.5 for good; job 13 follows at 25.5; job 11 is in one piece.
RESTARTED = "job,start,end\n11,0,10\n12,5.5,25.5\n13,25.5,31\n"
PIECES = "job,run,state,start,end,ended\n12,0,running,0,5,redirected\n12,1,running,5.5,25.5,walltime\n"


def test_pieces_of_jobs_that_ran_more_than_once(tmp_path: Path) -> None:
    assert judged(tmp_path, RESTARTED, runs=PIECES).ok
    assert faults(judged(tmp_path, RESTARTED, runs=PIECES.replace("0,5,red", "0,6,red"))) == [
        ("pieces", (12,)),
        ("capacity", (11, 12)),  # from 5.5 to 6 job 12 is there twice
    ]
    never = PIECES.replace("5.5,25.5,walltime", "5.5,25.5,suspended")
    assert faults(judged(tmp_path, RESTARTED, runs=never)) == [("one final run", (12,))]
    stranger = PIECES + "77,0,running,0,1,done\n"
    assert faults(judged(tmp_path, RESTARTED, runs=stranger)) == [("complete", (77,))]
    bare = "job,start,end\n12,5.5,25.5\n"
    assert judged(tmp_path, RESTARTED, runs=bare).ok


def test_pieces_tell_clusters_and_nodes(tmp_path: Path) -> None:
    grid = Platform((Cluster("a", procs=2), Cluster("b", procs=2)))
    log = workload(JOBS[:2], job=[11, 12])
    text = "job,start,end\n11,0,10\n12,0,20\n"
    apart = "job,start,end,cluster\n11,0,10,a\n12,0,20,b\n"
    assert judged(tmp_path, text, runs=apart, platform=grid, log=log).ok
    both = apart.replace(",b", ",a")
    assert faults(judged(tmp_path, text, runs=both, platform=grid, log=log)) == [
        ("cluster capacity", (11, 12))
    ]
    nodes = Platform((Cluster("c", nodes=(NodeGroup(3, 2),)),))
    same = "job,start,end,node\n11,0,10,2\n12,0,20,2\n"
    verdict = judged(tmp_path, text, runs=same, platform=nodes, log=log)
    assert faults(verdict) == [("node capacity", (11, 12))]
    with pytest.raises(InputError, match=r"runs\.csv:3: cluster: 'z' was found where one of a, b"):
        judged(tmp_path, text, runs=apart.replace(",b", ",z"), platform=grid, log=log)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "job,start\n11,0\n",
            r"foreign\.csv:1: end: there is no such column; the header must name job, start, end",
        ),
        (GOOD.replace("12,0,20", "12,,20"), r"foreign\.csv:3: start: the cell is empty"),
        (GOOD.replace("12,0,20", "12,0"), r"foreign\.csv:3: end: the cell is empty"),
        (
            GOOD.replace("12,0,20", "12,0,late"),
            r"foreign\.csv:3: end: 'late' was found where a number of seconds",
        ),
        (GOOD.replace("12,0,20", "1.5,0,20"), r"foreign\.csv:3: job: '1\.5' was found where a whole number"),
        (
            GOOD.replace("12,0,20", "12,0,20,7"),
            r"foreign\.csv:3: 4 fields were found where the header names 3",
        ),
        (GOOD.replace("12,0,20", "12,0,nan"), r"foreign\.csv:3: end: 'nan'"),
        ("", r"foreign\.csv: the file is empty"),
        ("job,start,end,start\n1,0,5,7\n", r"foreign\.csv:1: the column start is there twice; remove one"),
        ("job,start,end, Start\n1,0,5,7\n", r"foreign\.csv:1: the column start is there twice; remove one"),
        ("PAR1\n1,2\n", r"foreign\.csv: is a Parquet file; give the CSV file next to it"),
    ],
)
def test_bad_files_are_told_with_line_and_field(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        judged(tmp_path, text)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.csv: there is no such file"):
        read_foreign(tmp_path / "nothing.csv", LOG, Platform.procs(4))
