"""Campaigns: cells, their identity, pairing, resuming, failures, workers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import headway
from headway.campaign import Campaign, Results, figures, running, workers
from headway.campaign.identity import policy_key, workload_digest
from headway.campaign.measure import Cell, Chunk, Outcome, Settings, Task, run_task
from headway.campaign.store import Store
from headway.errors import UsageError
from headway.policies.spec import parse_spec
from headway.workload.header import Header
from headway.workload.models import generate
from headway.workload.swf import write_swf

MODEL = "lublin(jobs=60, procs=16, load=1.5, seed={seed})"
FEW = ["jobs", "mean_wait", "mean_bsld"]


def small(**changes: Any) -> Campaign:
    """Two workloads of 60 jobs under three policies, paired with EASY."""
    arguments: dict[str, Any] = {
        "workloads": MODEL,
        "policies": ["fcfs", {"policy": "easy", "grid": {"order": ["fcfs", "sjf"]}}],
        "baseline": "easy",
        "replications": 2,
        "metrics": FEW,
    }
    return Campaign(**(arguments | changes))


def column(cells: list[Cell], name: str) -> list[Any]:
    return [cell.columns[name] for cell in cells]


def never(chunk: object) -> Any:
    raise AssertionError("a finished cell was run again")


# ---- cells ------------------------------------------------------------------------------------


def test_every_policy_meets_every_workload_and_a_baseline_in_the_grid_stands_once() -> None:
    cells = small().cells()
    assert column(cells, "label") == ["easy", "fcfs", "easy(order=sjf)"] * 2
    assert column(cells, "seed") == [0, 0, 0, 1, 1, 1]
    easy = cells[0]
    assert easy.parameters == {"order": "fcfs"}
    assert column(cells[:3], "baseline") == [easy.id] * 3


def test_points_are_sets_of_parameters_and_grids_are_all_combinations() -> None:
    grid = {"policy": "easy", "grid": {"order": ["fcfs", "sjf"], "depth": [1, 2, "all"]}}
    points = {"policy": "easy(age=60)", "points": [{"order": "sjf"}, {"depth": 3}]}
    cells = Campaign("lublin(jobs=5, procs=4)", [grid, points]).cells()
    assert len(cells) == 8
    assert cells[5].parameters == {"order": "sjf", "depth": "all"}
    assert [cell.parameters for cell in cells[6:]] == [{"age": 60, "order": "sjf"}, {"age": 60, "depth": 3}]


def test_the_baseline_of_redirection_has_its_processors_and_its_jobs() -> None:
    policy = {"policy": "redirection", "grid": {"alpha": [0.1, 0.25], "theta": [1, 10]}, "baseline": "easy"}
    cells = Campaign("lublin(jobs=5, procs=100)", policy).cells()
    by_id = {cell.id: cell for cell in cells}
    assert len(cells) == 6
    for cell in cells:
        baseline = by_id[cell.columns["baseline"]] if cell.columns["baseline"] else None
        if cell.spec.name == "redirection":
            assert baseline is not None
            added = {0.1: 10, 0.25: 25}[cell.parameters["alpha"]]
            assert baseline.platform.total_procs == 100 + added
            assert baseline.widest == cell.widest == 100
    unequal = Campaign("lublin(jobs=5, procs=100)", policy | {"equal": False}).cells()
    assert {cell.platform.total_procs for cell in unequal} == {100}


def test_redirection_to_another_cluster_has_a_baseline_of_both_in_one_pool() -> None:
    two = headway.Platform.from_description(
        {"cluster": [{"name": "a", "procs": 60}, {"name": "b", "procs": 20}]}
    )
    policy = {"policy": "redirection", "baseline": "easy"}
    baseline, cell = Campaign("lublin(jobs=5, procs=60)", policy, platforms=two).cells()
    assert (baseline.platform.total_procs, len(baseline.platform.clusters)) == (80, 1)
    assert baseline.widest == cell.widest == 60
    unequal, _ = Campaign("lublin(jobs=5, procs=60)", policy | {"equal": False}, platforms=two).cells()
    assert unequal.platform.total_procs == 60


def test_a_baseline_on_more_processors_runs_no_job_that_the_policy_could_not(tmp_path: Path) -> None:
    wide = headway.Workload.from_arrays(unit="s", submit=[0, 1], procs=[4, 10], runtime=[5, 5])
    cells = Campaign(
        wide, {"policy": "redirection(size=split, alpha=0.5)", "baseline": "easy"}, platforms=12
    ).cells()
    assert {cell.widest for cell in cells} == {6}
    found = Campaign(wide, "easy", platforms=[8, 12], metrics=["jobs", "dropped"]).run(tmp_path / "out")
    assert found.frame.select("procs", "jobs", "dropped").rows() == [(8, 1, 1), (12, 2, 0)]


def test_workloads_are_opened_seed_by_seed_where_they_differ() -> None:
    log = generate("lublin(jobs=60, procs=16, seed=1)")
    campaign = small(workloads=[MODEL, log], replications=3)
    opened = [[batch.cells[0].columns["seed"] for batch in found] for found in campaign.opened()]
    assert opened == [[0], [1], [2], [0]]
    assert campaign.openings == len(opened)


def test_seeds_that_change_nothing_are_refused_and_fixed_workloads_run_once() -> None:
    with pytest.raises(headway.UsageError, match="depends on its seeds"):
        Campaign("lublin(jobs=5, procs=4)", "easy", seeds=[1, 2])
    both = Campaign(["lublin(jobs=5, procs=4)", MODEL], "easy", seeds=[3, 4])
    assert column(both.cells(), "seed") == [3, 3, 4]


def test_weeks_become_parts_and_shaken_versions_of_one_week_are_one_block() -> None:
    day = 86_400
    log = headway.Workload.from_arrays(
        unit="s", submit=np.arange(20) * day, procs=[4] * 20, runtime=[day] * 20, wait=[0] * 20
    )
    campaign = Campaign(
        {"workload": log, "procs": 4, "apply": ["weeks(procs=4)", "shake(seed={seed})"], "name": "log"},
        "easy",
        seeds=[1, 2],
    )
    cells = campaign.cells()
    assert list(zip(column(cells, "part"), column(cells, "seed"), strict=True)) == [
        (0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (2, 2),
    ]  # fmt: skip
    blocks = column(cells, "block")
    assert blocks[:3] == blocks[3:] == ["log part 0", "log part 1", "log part 2"]
    assert len({cell.id for cell in cells}) == 6
    seeded = column(small().cells(), "block")
    assert len(set(seeded)) == 2


# ---- identity ---------------------------------------------------------------------------------


def test_a_cell_is_its_content_not_its_names(tmp_path: Path) -> None:
    swf = "; MaxProcs: 4\n1 0 -1 10 2 -1 -1 2 12 -1 1 1 1 -1 1 -1 -1 -1\n"
    for name, text in (("a.swf", swf), ("b.swf", swf), ("c.swf", swf.replace(" 12 ", " 13 "))):
        (tmp_path / name).write_text(text)
    first, renamed, edited = (
        Campaign(str(tmp_path / f"{name}.swf"), "easy").cells()[0].id for name in ("a", "b", "c")
    )
    assert first == renamed != edited
    base = {"workloads": str(tmp_path / "a.swf"), "policies": "easy"}
    changes: list[dict[str, Any]] = [
        {"platforms": 5}, {"tau": 60}, {"policies": "easy(depth=2)"}, {"metrics": FEW}, {"trim": 5},
        {"apply": "exact"}, {"classes": True}, {"schedules": True}, {"replications": 1, "seeds": None},
    ]  # fmt: skip
    ids = [Campaign(**(base | change)).cells()[0].id for change in changes]
    assert ids[-1] == first
    assert len({first, *ids}) == len(changes)


def test_an_edited_policy_under_an_old_name_is_another(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("class Mine: ...\n")
    before = policy_key(parse_spec(f"{file}:Mine(k=3)"))
    moved = tmp_path / "other.py"
    moved.write_bytes(file.read_bytes())
    assert policy_key(parse_spec(f"{moved}:Mine(k=3)")) == before
    file.write_text("class Mine: ... # changed\n")
    assert policy_key(parse_spec(f"{file}:Mine(k=3)")) != before
    keys = tmp_path / "keys.py"
    keys.write_text("def area(job):\n    return job.walltime * job.procs\n")
    keyed = parse_spec(f"easy(order={keys}:area)")
    before = policy_key(keyed)
    keys.write_text("def area(job):\n    return -job.walltime * job.procs\n")
    assert policy_key(keyed) != before
    nested = parse_spec("redirection(principal=conservative)")
    assert policy_key(nested) != policy_key(parse_spec("redirection"))


def test_a_campaign_says_what_it_was_made_of(tmp_path: Path) -> None:
    log = tmp_path / "a.swf"
    log.write_text("; MaxProcs: 4\n1 0 -1 10 2 -1 -1 2 12 -1 1 1 1 -1 1 -1 -1 -1\n")
    (tmp_path / "mine.py").write_text("from sizes import key\n")
    (tmp_path / "sizes.py").write_text("def key(job):\n    return job.procs\n")
    (tmp_path / "m.py").write_text("def one(schedule):\n    return {'one': 1}\n")
    (tmp_path / "urgent.csv").write_text("job,urgent\n1,1\n")
    campaign = Campaign(
        {"trace": "a.swf", "annotations": "urgent.csv"}, "easy(order=./mine.py:key)", measures=["m.py:one"],
        folder=tmp_path,
    )  # fmt: skip
    record = campaign.run(tmp_path / "out", workers=1).described
    [workload] = record["workloads"]
    assert workload["sha256"] == sha256(log.read_bytes()).hexdigest()
    names = ("mine.py", "sizes.py", "m.py", "urgent.csv")
    expected = {name: sha256((tmp_path / name).read_bytes()).hexdigest() for name in names}
    assert {Path(file).name: digest for file, digest in record["files"].items()} == expected


def test_the_digest_of_a_workload_sees_every_column() -> None:
    workload = generate("lublin(jobs=5, procs=4)")
    digest = workload_digest(workload)
    for name, values in workload.columns.items():
        other: dict[str, Any] = {name: np.append(values[:-1], 99)}
        changed = workload.with_columns(**other)
        assert workload_digest(changed) != digest
    assert workload_digest(workload.with_labels(user=["a"])) != digest
    later = Header([*workload.header.lines, "; UnixStartTime: 43200"])  # agents see the time of day
    assert workload_digest(workload.with_header(later)) != digest


# ---- runs -------------------------------------------------------------------------------------


def test_results_are_those_of_simulate_and_finished_cells_never_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = small(tau=60).run(tmp_path / "out", workers=1)
    assert results.progress is not None and results.progress.done == 6
    for row in results.frame.iter_rows(named=True):
        workload = generate(MODEL.format(seed=row["seed"]))
        expected = headway.simulate(workload, 16, row["policy"]).summary(tau=60)
        assert [row[name] for name in FEW] == [expected[name] for name in FEW]
    bytes_before = (tmp_path / "out" / "results.parquet").read_bytes()
    monkeypatch.setattr("headway.campaign.workers.run_chunk", never)
    again = small(tau=60).run(tmp_path / "out", workers=1)
    assert again.progress is not None and (again.progress.done, again.progress.skipped) == (0, 6)
    assert (tmp_path / "out" / "results.parquet").read_bytes() == bytes_before


def test_two_logs_of_the_same_jobs_are_run_and_counted_once_and_told(tmp_path: Path) -> None:
    first, second = tmp_path / "first.swf", tmp_path / "copy.swf"
    write_swf(generate("lublin(jobs=60, procs=16)"), first)
    shutil.copy(first, second)
    campaign = Campaign(workloads=[first, second], policies=["fcfs", "easy"], metrics=FEW)
    for done in (2, 0):
        results = campaign.run(tmp_path / "out", workers=1)
        assert results.frame["workload"].to_list() == ["first"] * 2
        assert results.progress is not None
        assert (results.progress.done, results.progress.skipped) == (done, 2 - done)
        assert results.progress.total == 2
        assert results.progress.repeated == {"copy": "first"}


def test_a_larger_campaign_runs_only_what_is_new(tmp_path: Path) -> None:
    small().run(tmp_path, workers=1)
    larger = small(replications=3).run(tmp_path, workers=1)
    assert larger.progress is not None and (larger.progress.done, larger.progress.skipped) == (3, 6)
    smaller = small(replications=1).run(tmp_path, workers=1)
    assert len(smaller) == 3
    assert pl.read_parquet(tmp_path / "cells" / "*.parquet").height == 9


def test_one_worker_two_threads_and_two_processes_give_the_same_bytes(tmp_path: Path) -> None:
    kinds: list[dict[str, Any]] = [
        {"workers": 1}, {"workers": 2, "processes": False}, {"workers": 2, "processes": True},
    ]  # fmt: skip
    found = []
    for number, kind in enumerate(kinds):
        folder = tmp_path / str(number)
        small(schedules=True, classes=True).run(folder, **kind)
        files = {path.name: path.read_bytes() for path in (folder / "schedules").iterdir()}
        found.append(((folder / "results.parquet").read_bytes(), files))
    assert found[0] == found[1] == found[2]
    assert len(found[0][1]) == 6


def test_threads_move_into_processes_where_much_is_left_in_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[workers.Process] = []

    class Counted(workers.Process):
        def __init__(self) -> None:
            super().__init__()
            begun.append(self)

    monkeypatch.setattr(workers, "Process", Counted)
    monkeypatch.setattr(Campaign, "_interpreted", lambda campaign: False)
    monkeypatch.setattr(running, "CHUNK_SECONDS", 1e-9)  # cell by cell
    small(replications=1).run(tmp_path / "first", workers=1)  # loads the policies
    small(replications=30).run(tmp_path / "few", workers=2)
    assert not begun
    monkeypatch.setattr(running, "PAYS", 0.0)
    small(replications=30).run(tmp_path / "many", workers=2)
    assert len(begun) == 1
    small(replications=30).run(tmp_path / "threads", workers=2, processes=False)
    assert len(begun) == 1
    found = [(tmp_path / name / "results.parquet").read_bytes() for name in ("few", "many", "threads")]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(("python", "shared"), [(0.002, False), (0.001, True)])
def test_a_second_thread_stands_back_where_cells_are_mostly_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, python: float, shared: bool
) -> None:
    goes: dict[int, int] = {}

    class Pretending(workers.Here):
        def run(self, chunks: Sequence[Chunk]) -> list[Outcome]:
            time.sleep(0.002)
            tasks = [task for chunk in chunks for task in chunk.tasks]
            goes[id(self)] = goes.get(id(self), 0) + 1
            return [Outcome(task.id, {"jobs": 1}, seconds=0.003, python=python) for task in tasks]

    monkeypatch.setattr(running, "CHUNK_SECONDS", 0.0)
    monkeypatch.setattr(workers, "Here", Pretending)
    monkeypatch.setattr(Campaign, "_interpreted", lambda campaign: False)
    results = small(replications=20).run(tmp_path, workers=2)
    assert len(results) == 60
    assert (sum(goes.values()) - max(goes.values()) > 1) == shared


def test_schedules_and_classes_are_kept_where_asked_for(tmp_path: Path) -> None:
    results = small(schedules=True, classes=True).run(tmp_path, workers=1)
    first = results.frame.row(0, named=True)
    workload = generate(MODEL.format(seed=first["seed"]))
    schedule = headway.simulate(workload, 16, first["policy"])
    assert results.schedule(first["cell"]).equals(schedule.frame())
    sizes = results.classes().filter((pl.col("cell") == first["cell"]) & (pl.col("by") == "size"))
    assert sizes["jobs"].sum() == 60
    with pytest.raises(headway.InputError, match="no schedule"):
        results.schedule("0" * 32)
    (tmp_path / "schedules" / f"{first['cell']}.parquet").write_bytes(b"damaged")
    again = small(schedules=True, classes=True).run(tmp_path, workers=1)
    with pytest.raises(headway.InputError, match=r"parquet: is not a sound .* with --fresh"):
        again.schedule(first["cell"])
    fresh = small(schedules=True, classes=True).run(tmp_path, workers=1, fresh=True)
    assert fresh.schedule(first["cell"]).equals(schedule.frame())


def test_a_measure_of_the_sample_sees_tau(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "def f(sample):\n    return {'bound': sample.tau, 'largest': max(sample.bounded_slowdown)}\n"
    )
    results = small(measures=[f"{file}:f"], metrics=["max_bsld"], tau=60).run(tmp_path / "out", workers=1)
    assert results.frame["bound"].to_list() == [60_000_000] * len(results)
    assert results.frame["largest"].to_list() == results.frame["max_bsld"].to_list()


def test_measures_of_ones_own_become_columns_and_are_part_of_the_identity(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def last(schedule):\n    return {'last_end': float(schedule.end.max()) / 1e6}\n")
    campaign = small(measures=[f"{file}:last"], metrics=["makespan"])
    results = campaign.run(tmp_path / "out", workers=1)
    first = results.frame.row(0, named=True)
    begin = int(generate(MODEL.format(seed=0)).submit.min()) / 1e6
    assert first["last_end"] - begin == pytest.approx(first["makespan"])
    key = Settings(measures=(f"{file}:last",)).key()
    assert "measures" not in key  # it stands in the identity by its source, not by its path
    clash = tmp_path / "clash.py"
    clash.write_text("def f(schedule):\n    return {'makespan': 1}\n")
    failed = small(measures=[f"{clash}:f"], metrics=["makespan"]).run(tmp_path / "clash", workers=1).failed
    assert "name of another column" in failed["error"][0]


def test_an_edited_key_in_a_file_is_run_again_and_gives_other_results(tmp_path: Path) -> None:
    keys = tmp_path / "keys.py"
    keys.write_text("def size(job):\n    return job.procs\n")
    campaign = Campaign(
        MODEL, "strict(order=keys.py:size)", seeds=[1], folder=tmp_path, metrics=["mean_wait"]
    )
    first = campaign.run(tmp_path / "out", workers=1)
    assert first.failed.height == 0, first.failed["error"].to_list()
    keys.write_text("def size(job):\n    return -job.procs\n")
    second = campaign.run(tmp_path / "out", workers=1)
    assert second.progress is not None and second.progress.done == 1
    assert first.frame["mean_wait"].to_list() != second.frame["mean_wait"].to_list()
    expected = headway.simulate(generate(MODEL.format(seed=1)), 16, "lqf").summary()
    assert second.frame["mean_wait"].to_list() == [expected["mean_wait"]]


FLAKY = """
import os
from pathlib import Path

def flaky(schedule):
    if "sjf" in schedule.policy and Path({flag!r}).exists():
        {deed}
    return {{"fine": 1}}
"""


def test_failed_cells_are_kept_with_their_error_and_retried_on_request(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    flag.touch()
    (tmp_path / "m.py").write_text(FLAKY.format(flag=str(flag), deed="raise ValueError('no luck')"))
    campaign = small(measures=[f"{tmp_path / 'm.py'}:flaky"])
    results = campaign.run(tmp_path / "out", workers=1)
    assert results.failed["label"].to_list() == ["easy(order=sjf)"] * 2
    assert all(text.startswith("ValueError: no luck (") for text in results.failed["error"])
    assert results.frame.height == 4
    flag.unlink()
    kept = campaign.run(tmp_path / "out", workers=1)
    assert kept.failed.height == 2 and kept.progress is not None and kept.progress.done == 0
    done = campaign.run(tmp_path / "out", workers=1, retry_failed=True)
    assert done.failed.height == 0 and done.progress is not None and done.progress.done == 2
    assert done.frame["fine"].to_list() == [1] * 6


def test_a_fresh_run_counts_whatever_came_of_it(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    (tmp_path / "m.py").write_text(FLAKY.format(flag=str(flag), deed="raise ValueError('no luck')"))
    campaign = small(measures=[f"{tmp_path / 'm.py'}:flaky"], schedules=True)
    assert campaign.run(tmp_path / "out", workers=1).failed.height == 0
    flag.touch()
    again = campaign.run(tmp_path / "out", workers=1, fresh=True)
    assert again.failed["label"].to_list() == ["easy(order=sjf)"] * 2
    assert again.frame.height == 4
    with pytest.raises(headway.InputError, match="no schedule"):
        again.schedule(again.failed["cell"][0])
    moved = tmp_path / "moved"  # copies have times of their own
    shutil.copytree(tmp_path / "out", moved, copy_function=shutil.copyfile)
    kept = campaign.run(moved, workers=1)
    assert kept.failed.height == 2 and kept.progress is not None and kept.progress.done == 0


def test_classes_are_those_of_the_last_run(tmp_path: Path) -> None:
    def outcome(cell: str, wait: int) -> Outcome:
        return Outcome(cell, classes=[{"by": "size", "class": "1", "jobs": 1, "mean_wait": wait}])

    for number in range(8):  # which of two files has the later name is a matter of luck
        store, cells = Store(tmp_path / str(number)), (f"{number}a", f"{number}b")
        with store.writing():
            for cell in cells:
                store.add([outcome(cell, 1)], {})
            store.merge()
        with store.writing():
            store.add([outcome(cell, 2) for cell in cells], {})
            assert Results(store.folder, pl.DataFrame()).classes()["mean_wait"].to_list() == [2, 2]
            store.merge()
        assert Results(store.folder, pl.DataFrame()).classes()["mean_wait"].to_list() == [2, 2]


def test_a_second_campaign_does_not_take_away_the_folder_of_the_first(tmp_path: Path) -> None:
    first, second = Store(tmp_path / "out"), Store(tmp_path / "out")
    refused = pytest.raises(UsageError, match="another campaign")
    # The folder was not there when the second began, and is when the second asks for it.
    with refused, second.gone_if_empty(), first.writing(), second.writing():
        pass
    assert (tmp_path / "out").is_dir()


def test_an_edited_measure_is_measured_again_in_the_same_process(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    for value in (1, 2):
        file.write_text(f"def mine(schedule):\n    return {{'mine': {value}}}\n")
        results = small(measures=[f"{file}:mine"]).run(tmp_path / "out", workers=1)
        assert results.frame["mine"].to_list() == [value] * 6


def test_a_measure_that_changes_during_a_campaign_is_told(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text("def mine(schedule):\n    return {'mine': 1}\n")
    campaign = small(measures=[f"{file}:mine"])
    task = Task.of(campaign.cells()[0])
    file.write_text("def mine(schedule):\n    return {'mine': 2}\n")
    outcome = run_task(task, generate(MODEL.format(seed=0)), campaign.settings)
    assert outcome.error == "the source of a measure changed after the campaign began; run it again"


@pytest.mark.parametrize(
    ("numbers", "error"),
    [
        ("{'status': 1}", "'status' has the name of another column; rename it"),
        ("{'cell': 1}", "'cell' has the name of another column; rename it"),
        ("{'label': 1}", "'label' has the name of another column; rename it"),
        ("{'turn': 1}", "'turn' has the name of another column; rename it"),
        ("{7: 1}", "is called 7, which is not text; give it a name"),
    ],
)
def test_numbers_with_names_that_a_table_cannot_have_are_told(
    tmp_path: Path, numbers: str, error: str
) -> None:
    (tmp_path / "m.py").write_text(f"def mine(schedule):\n    return {numbers}\n")
    results = small(measures=[f"{tmp_path / 'm.py'}:mine"], replications=1).run(tmp_path / "o", workers=1)
    assert results.failed.height == 3
    assert results.failed["error"][0].endswith(error)


def test_a_measure_named_like_a_parameter_is_kept_beside_it(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def mine(schedule):\n    return {'order': 5}\n")
    results = small(measures=[f"{tmp_path / 'm.py'}:mine"], replications=1).run(tmp_path / "o", workers=1)
    assert results.frame["order"].to_list() == [5, 5, 5]
    assert results.frame["policy_order"].to_list() == ["fcfs", None, "sjf"]


def test_a_text_cannot_be_compared(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def mine(schedule):\n    return {'mine': 'long'}\n")
    results = small(measures=[f"{tmp_path / 'm.py'}:mine"]).run(tmp_path / "out", workers=1)
    with pytest.raises(UsageError, match="mine is not a number in every cell"):
        results.against_baseline("mine")
    with pytest.raises(UsageError, match="mine is not a number in every cell"):
        figures.box(results, "mine", relative=False)


def test_a_mean_of_nothing_is_no_value(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text(
        "import numpy as np\ndef mine(schedule):\n"
        "    return {'mine': np.float64('nan') if 'sjf' in schedule.policy else 7.0}\n"
    )
    results = small(measures=[f"{file}:mine"]).run(tmp_path / "out", workers=1)
    assert results.frame["mine"].to_list() == [7.0, 7.0, None] * 2
    assert results.against_baseline("mine", by="label")["label"].to_list() == ["fcfs"]


def test_what_cannot_be_judged_is_told(tmp_path: Path) -> None:
    results = small(classes=True, metrics=["mean_wait", "killed"]).run(tmp_path / "out", workers=1)
    assert results.against_baseline("mean_wait", by="label").equals(
        results.against_baseline("mean_wait", by=["label"])
    )
    for level in (95, 1.0, 0.0, float("nan"), "high"):
        with pytest.raises(UsageError, match=r"level must be above 0 and below 1, as 0\.95 for 95 %"):
            results.against_baseline("mean_wait", level=level)
    assert results.winners(labels="fcfs").equals(results.winners(labels=["fcfs"]))
    with pytest.raises(UsageError, match=r"no policy of \['lcfs'\] has a baseline; there are fcfs, easy\("):
        results.winners(labels=["lcfs"])
    with pytest.raises(UsageError, match="classes have no column 'class'"):
        results.winners(metric="class")
    with pytest.raises(UsageError, match="no cell has a killed that can be divided by its baseline's"):
        figures.box(results, "killed")
    alone = small(classes=True, baseline=None).run(tmp_path / "alone", workers=1)
    with pytest.raises(UsageError, match="no cell of this campaign has a baseline"):
        alone.winners()


def test_a_worker_process_that_dies_fails_its_cell_only(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    flag.touch()
    (tmp_path / "m.py").write_text(FLAKY.format(flag=str(flag), deed="os.kill(os.getpid(), 9)"))
    campaign = small(measures=[f"{tmp_path / 'm.py'}:flaky"], replications=1)
    results = campaign.run(tmp_path / "out", workers=2, processes=True)
    assert results.failed["label"].to_list() == ["easy(order=sjf)"]
    assert "was ended by SIGKILL" in results.failed["error"][0]
    assert results.frame.height == 2


def test_what_was_finished_before_an_interrupt_is_kept(tmp_path: Path) -> None:
    def interrupt(progress: running.Progress) -> None:
        if progress.done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small(replications=20).run(tmp_path, workers=1, progress=interrupt)
    kept = Results.open(tmp_path)
    assert 3 <= len(kept) < 60
    rest = small(replications=20).run(tmp_path, workers=1)
    assert rest.progress is not None and rest.progress.skipped == len(kept)
    assert len(rest) == 60


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked here, which this system cannot")
def test_kills_at_random_moments_lose_and_damage_nothing() -> None:
    script = Path(__file__).with_name("campaign_kills.py")
    run = subprocess.run(
        [sys.executable, str(script), "--kills", "6", "--seeds", "10"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.startswith("6 kills") and "results equal" in run.stdout


def test_half_written_files_are_not_results_and_are_removed(tmp_path: Path) -> None:
    small().run(tmp_path, workers=1)
    torn = tmp_path / "cells" / ".x.parquet.1.part"
    torn.write_bytes(b"PAR1 half")
    again = small().run(tmp_path, workers=1)
    assert not torn.exists() and again.progress is not None and again.progress.done == 0


def test_a_damaged_result_file_is_named(tmp_path: Path) -> None:
    small().run(tmp_path, workers=1)
    [file] = (tmp_path / "cells").glob("*.parquet")
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(headway.InputError, match=r"is damaged: it does not have its digest; remove it"):
        small().run(tmp_path, workers=1)


def test_foreign_folders_and_second_writers_are_refused(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(headway.UsageError, match="not empty and holds no campaign"):
        small().run(tmp_path, workers=1)
    from headway.campaign.store import Store

    pytest.importorskip("fcntl", reason="this system has no such locks")
    held = Store(tmp_path / "out")
    with held.writing(), pytest.raises(headway.UsageError, match="another campaign is writing"):
        small().run(tmp_path / "out", workers=1)


def test_pandas_and_duckdb_open_the_results(tmp_path: Path) -> None:
    results = small().run(tmp_path, workers=1)
    expected = results.frame["mean_bsld"].to_list()
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    query = f"SELECT mean_bsld FROM '{tmp_path}/results.parquet'"
    assert [row[0] for row in duckdb.sql(query).fetchall()] == expected
    merged = f"SELECT count(*) FROM read_parquet('{tmp_path}/cells/*.parquet', union_by_name = true)"
    assert duckdb.sql(merged).fetchall() == [(6,)]
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pandas reads Parquet with pyarrow, which is not installed")
    assert pandas.read_parquet(tmp_path / "results.parquet")["mean_bsld"].tolist() == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"workloads": []}, "at least one workload"),
        ({"policies": []}, "at least one policy"),
        ({"policies": "esay"}, "no policy 'esay'"),
        ({"policies": {"policy": "easy", "theta": [1]}}, "no key 'theta'.*grid"),
        ({"policies": {"policy": "easy", "grid": {"theta": [1]}}}, "no parameter 'theta'"),
        ({"workloads": [MODEL, MODEL]}, "two workloads are called"),
        ({"workloads": {"trace": "a", "model": "b"}}, "exactly one of trace"),
        ({"workloads": {"trace": "a", "colour": "b"}}, "no key 'colour'"),
        ({"metrics": ["mean_joy"]}, "no metric 'mean_joy'"),
        ({"metrics": [["mean_wait"]]}, r"no metric \['mean_wait'\]"),
        ({"replications": 0}, "at least 1"),
        ({"replications": 2.5}, "replications must be a whole number, not 2.5"),
        ({"replications": None, "seeds": 5}, "different whole numbers"),
        ({"policies": len}, "names its policies by text"),
        ({"replications": None, "seeds": [1, 1]}, "different whole numbers"),
        ({"measures": ["file.py"]}, "must be written"),
        ({"measures": [1]}, "measures must be a text or a list of texts, not"),
        ({"apply": [1]}, "apply must be a text or a list of texts, not"),
        (
            {"workloads": {"model": MODEL, "apply": 5}},
            "workload: apply must be a text or a list of texts, not 5",
        ),
        ({"workloads": {"model": 5}}, "workload: model must be a text, not 5"),
        ({"workloads": {"model": MODEL, "name": ""}}, "workload: name must be a text, not ''"),
        (
            {"workloads": {"model": MODEL, "procs": True}},
            "procs must be a whole number of at least 1, not True",
        ),
        ({"workloads": {"trace": "a", "rules": "x"}}, "workload: rules is a table of texts, .* not 'x'"),
        ({"workloads": {"trace": "a", "rules": {"overrun": 1}}}, "workload: rules is a table of texts"),
        (
            {"workloads": {"model": MODEL, "rules": {"overrun": "trust"}}},
            "rules and annotations are for a trace",
        ),
        ({"workloads": {"model": MODEL, "annotations": "a.csv"}}, "rules and annotations are for a trace"),
        (
            {"workloads": {"model": "lublin(jobs={seed}, x={y})", "name": "w"}},
            "workload w: .*expected a name",
        ),
        ({"workloads": {"model": MODEL, "name": "w", "apply": "wks"}}, "workload w: no transformation wks"),
        ({"policies": {"policy": "easy", "points": 5}}, "points a list of tables"),
        ({"policies": {"policy": "easy", "points": []}}, "policy: the list of points is empty"),
        ({"policies": {"policy": "easy", "grid": {"order": []}}}, "policy: the list of order is empty"),
        ({"policies": {"policy": "easy", "equal": "no"}}, "policy: equal must be true or false, not 'no'"),
        ({"policies": {"policy": "easy", "label": 5}}, "policy: label must be a text, not 5"),
    ],
)
def test_mistakes_are_one_sentence(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(headway.UsageError, match=message):
        small(**arguments).cells()


def test_a_mistake_in_a_workload_names_the_sweep_file(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text("policy = 'easy'\n[[workload]]\nmodel = 'lublin(jobs=9)'\napply = 'wks'\n")
    with pytest.raises(headway.InputError, match=r"sweep.toml: workload lublin.*: no transformation wks"):
        headway.Campaign.from_toml(file).cells()


# ---- what would mix or mean nothing ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("policies", "both"),
    [
        ([{"policy": "fcfs", "label": "x"}, {"policy": "sjf", "label": "x"}], "fcfs and sjf"),
        ([{"policy": "sjf", "label": "easy"}], "easy and sjf"),
        (["fcfs", {"policy": "sjf", "label": "fcfs"}], "fcfs and sjf"),
    ],
)
def test_two_policies_under_one_label_are_refused(policies: list[object], both: str) -> None:
    with pytest.raises(UsageError, match=f"{both} are both called '.*'; give one of them another label"):
        small(policies=policies)


def test_one_policy_written_twice_has_one_label_and_points_of_a_grid_are_told_apart() -> None:
    written = ["easy()", "easy( order = fcfs )", {"policy": "easy", "label": "easy"}, "easy"]
    assert column(small(policies=written, replications=1).cells(), "label") == ["easy"]
    grid = {"policy": "easy", "grid": {"order": ["sjf", "saf"]}, "label": "mine"}
    labels = ["easy", "mine(order=sjf)", "mine(order=saf)"]
    assert column(small(policies=[grid], replications=1).cells(), "label") == labels
    one = {"policy": "easy", "grid": {"order": ["sjf"]}, "label": "mine"}
    assert column(small(policies=[one], replications=1).cells(), "label") == ["easy", "mine"]


def test_replications_that_nobody_runs_are_refused() -> None:
    with pytest.raises(UsageError, match="replications must be at most 1,000,000, not 1000000000"):
        small(replications=1_000_000_000)


@pytest.mark.parametrize("procs", [0, -1, "16", 1.5])
def test_a_machine_that_is_none_is_refused(procs: object) -> None:
    with pytest.raises(UsageError, match="procs must be a whole number of at least 1"):
        small(workloads={"model": MODEL, "procs": procs})


@pytest.mark.parametrize("settings", [{"tau": -5}, {"tau": 2**63}, {"trim": 50}, {"trim": -1}])
def test_bounds_are_judged_before_any_cell_is_run(settings: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="must be a"):
        small(**settings)


def test_a_campaign_of_which_no_workload_is_left_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="leave no workload"):
        small(apply="weeks(at_least=2, utilization=submitted)").run(tmp_path / "out", workers=1)
    assert not (tmp_path / "out").exists()
