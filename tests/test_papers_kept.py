"""What a paper's runs are kept by: the code that made them and the jobs they ran on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from headway.errors import InputError
from headway.papers import kept
from headway.papers.kept import KeptRuns, Numbers
from headway.papers.log import Log
from headway.papers.reallocation import runs as grid_runs
from headway.papers.reallocation.runs import Runs
from headway.papers.reallocation.scenarios import Scenario
from headway.workload import Workload


def jobs(**columns: list[float]) -> Workload:
    times: dict[str, Any] = {"submit": [0, 5], "procs": [1, 2], "walltime": [9, 9], "runtime": [4, 4]}
    return Workload.from_arrays(unit="s", **(times | columns))


def test_runs_of_other_code_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    KeptRuns("deadline", tmp_path, said.append).get("run", lambda: {"wait": 1})
    assert (
        KeptRuns("deadline", tmp_path, said.append).get("run", lambda: {"wait": 2}) == {"wait": 1}
        and not said
    )
    monkeypatch.setattr(kept, "code_digest", lambda: "that of another engine")
    changed = KeptRuns("deadline", tmp_path, said.append)
    assert said == [
        f"{tmp_path / 'runs.json'}: made by another version of Headway; its runs are simulated again."
    ]
    assert changed.get("run", lambda: {"wait": 2}) == {"wait": 2}


def test_runs_that_are_added_leave_the_others_in_the_file(tmp_path: Path) -> None:
    KeptRuns("deadline", tmp_path, print).keep({'"a", b': {"wait": 1}, "c": {"wait": [2.5, None]}})
    later = KeptRuns("deadline", tmp_path, print)
    later.keep({"c": {"wait": 3}, "d": {}})
    runs = json.loads((tmp_path / "runs.json").read_text())["runs"]
    assert runs == later.results == {'"a", b': {"wait": 1}, "c": {"wait": 3}, "d": {}}


def test_a_change_in_how_a_paper_measures_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    papers = tmp_path / "papers"
    for name in ("deadline", "urgent"):
        (papers / name).mkdir(parents=True)
    monkeypatch.setattr(kept, "__file__", str(papers / "kept.py"))
    (papers / "deadline" / "runs.py").write_text("one = 1")
    before = kept.measuring_code("deadline")
    (papers / "deadline" / "claims.py").write_text("shown = True")
    (papers / "urgent" / "runs.py").write_text("of another paper = True")
    assert kept.measuring_code("deadline") == before
    (papers / "deadline" / "runs.py").write_text("one = 2")
    assert kept.measuring_code("deadline") != before


@pytest.mark.parametrize("found", [[], {"code": kept.measuring_code("deadline"), "runs": []}, 3])
def test_a_damaged_file_is_refused(tmp_path: Path, found: object) -> None:
    (tmp_path / "runs.json").write_text(json.dumps(found))
    with pytest.raises(InputError, match="remove it"):
        KeptRuns("deadline", tmp_path, print)


def test_every_column_of_a_log_counts() -> None:
    log = Log("kth", "KTH", jobs(), 4)
    again = Log("kth", "KTH", jobs(), 4)
    heavier = Log("kth", "KTH", jobs(used_memory_kb=[1, 2]), 4)
    assert log.digest == again.digest
    assert len({log.digest, replace(log, procs=5).digest, heavier.digest}) == 3


def test_another_log_of_a_site_is_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def of(scenario: Scenario, traces: Mapping[str, str]) -> Workload:
        return jobs(runtime=[float(traces["lyon"]), 4])

    monkeypatch.setattr(grid_runs, "jobs_of", of)
    made: list[str] = []

    def run(log: str) -> Numbers:
        made.append(log)
        return {"log": log}

    scenario = Scenario("april", "three.toml", {"lyon": 2}, 30)
    for log in ("3", "4", "3"):
        found = Runs(tmp_path, {"lyon": log}, print).other("period", scenario, 0, partial(run, log))
        assert found == {"log": log}
    assert made == ["3", "4"]
