"""headway inspect: what is in a log, in numbers and in charts, without anything heavy."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from commands import Headway
from headway.workload import Workload
from headway.workload.statistics import describe
from traces import trace

HEADER = "; Computer: Test machine\n; MaxProcs: 8\n; TimeZoneString: Europe/Stockholm\n"
LINES = """\
1 0 -1 30 1 -1 -1 1 60 -1 1 1 1 -1 1 -1 -1 -1
2 100 -1 3600 8 -1 -1 8 3600 -1 1 2 1 -1 1 -1 -1 -1
3 200 -1 90 4 -1 -1 4 60 -1 1 2 1 -1 2 -1 -1 -1
4 300 -1 0 3 -1 -1 3 60 -1 1 3 1 -1 2 -1 -1 -1
"""


@pytest.fixture
def headway(headway: Headway) -> Headway:
    headway.write("log.swf", HEADER + LINES)
    return headway


def test_everything_is_shown(headway: Headway) -> None:
    result = headway("inspect", "log.swf")
    assert result.status == 0
    lines = [" ".join(line.split()) for line in result.out.splitlines()]
    assert "Computer: Test machine" in lines and "TimeZoneString: Europe/Stockholm" in lines
    for title in (
        "Offered load over time, each column 0.1 min",
        "Jobs and work by processors",
        "Jobs and work by run time",
        "Run time as a share of the request",
        "Busiest users",
        "Busiest queues",
        "Ledger",
    ):
        assert title in lines
    assert any(line.startswith("most frequent requests: 60 s (75%), 1 h (25%)") for line in lines)
    [widest] = [line for line in lines if line.startswith("5-8 ")]
    assert "1 25% of jobs" in widest and widest.endswith("99% of work")  # 28,800 of 29,190 processor-seconds
    assert any(line.startswith("zero_runtime") for line in lines)
    assert any(line.startswith("overrun") for line in lines)


def test_what_is_wider_than_the_machine_is_told_and_no_number_is_cut(headway: Headway) -> None:
    """Labels of 14 and 6 characters were cut: a load of 100,000,000 was shown as 100000."""
    wide = LINES.replace("2 100 -1 3600 8 -1 -1 8", f"2 100 -1 3600 {10**9} -1 -1 -1")
    headway.write("log.swf", HEADER + wide)
    lines = [" ".join(line.split()) for line in headway("inspect", "log.swf").out.splitlines()]
    assert "jobs wider than the machine 1 a simulation leaves them out: rule too_large" in lines
    assert any(line.startswith("536870913-1073741824 ") for line in lines)
    assert any(line.startswith("108000000000.00 ") for line in lines)


def test_a_header_that_is_no_utf_8_shows_its_bytes(headway: Headway) -> None:
    headway.write("log.swf", b"; Computer: Caf\xe9\n" + LINES.encode())
    assert "Computer: Caf\\xe9" in headway("inspect", "log.swf").out


def test_the_same_numbers_as_json(headway: Headway) -> None:
    document = json.loads(headway("inspect", "log.swf", "--json").out)
    assert document["header"]["Computer"] == "Test machine"
    assert document["lengths"] == [
        ["under 1 s", 1], ["under 1 min", 1], ["under 10 min", 1], ["under 1 h", 0], ["under 4 h", 1],
    ]  # fmt: skip
    assert document["requests"] == [[60, 3], [3600, 1]]
    assert [row[:2] for row in document["users"]] == [["2", 2], ["1", 1], ["3", 1]]
    assert document["users"][0][2] == pytest.approx((28_800 + 360) / 29_190)
    assert {row["rule"] for row in document["ledger"]} == {"zero_runtime", "overrun"}


def test_shares_of_work_add_up_to_one() -> None:
    workload = Workload.from_arrays(
        unit="s",
        submit=range(50),
        procs=[1 + i % 9 for i in range(50)],
        runtime=[i * i * 300 for i in range(1, 51)],
    )
    described = describe(workload, 16)
    for name in ("work_by_size", "work_by_length"):
        assert sum(share for _, share in described[name]) == pytest.approx(1)
    for name in ("sizes", "lengths", "accuracy"):
        assert sum(count for _, count in described[name]) == 50
    assert described["lengths"][-1] == ("longer", sum(i * i * 300 >= 604_800 for i in range(1, 51)))
    assert described["users"] == []  # nobody is known


@pytest.mark.parametrize("name", ["log.swf", "KTH-SP2"])
def test_neither_compiler_nor_data_frames_are_loaded(headway: Headway, name: str) -> None:
    log = headway.folder / name if name.endswith(".swf") else trace(name)
    code = (
        "import sys\nfrom headway.cli import main\n"
        f"sys.argv = ['headway', 'inspect', {str(log)!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "heavy = {'numba', 'llvmlite', 'polars', 'matplotlib', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert "Offered load over time" in run.stdout
