"""``headway sweep``: files, exit statuses, resuming, interrupts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from commands import SWF, Headway
from headway.campaign import Results
from headway.cli.sweep import overview

SWEEP = """\
baseline = "easy"
tau = 60
metrics = ["jobs", "mean_wait", "mean_bsld"]

[[workload]]
trace = "logs/four.swf"

[[workload]]
name = "drawn"
model = "lublin(jobs=30, procs=8, seed=1)"

[[policy]]
policy = "easy"
grid = { order = ["fcfs", "sjf"] }

[[policy]]
policy = "fcfs"
label = "strict"
"""


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Headway:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "four.swf").write_text(SWF)
    return Headway(tmp_path, capsys, monkeypatch)


def test_a_sweep_writes_results_and_goes_on_where_it_stopped(run: Headway) -> None:
    run.write("sweep.toml", SWEEP)
    first = run("sweep", "sweep.toml", "--workers", 1)
    assert first.status == 0
    assert "6 cells run, 0 were there, 0 failed" in first.out
    assert "written to sweep-results" in first.out and "strict" in first.out
    table = pl.read_parquet(run.folder / "sweep-results" / "results.parquet")
    assert table["workload"].to_list() == ["four"] * 3 + ["drawn"] * 3
    assert table["label"].to_list() == ["easy", "easy(order=sjf)", "strict"] * 2
    second = run("sweep", "sweep.toml", "--workers", 1)
    assert "0 cells run, 6 were there" in second.out
    elsewhere = run("sweep", "sweep.toml", "--workers", 1, "--out", "other", "--quiet")
    assert (elsewhere.status, elsewhere.out, elsewhere.err) == (0, "", "")
    assert (run.folder / "other" / "results.parquet").read_bytes() == (
        run.folder / "sweep-results" / "results.parquet"
    ).read_bytes()


def test_paths_start_from_the_file_not_from_where_one_stands(run: Headway) -> None:
    (run.folder / "logs" / "sweep.toml").write_text(SWEEP.replace("logs/four", "four"))
    assert run("sweep", "logs/sweep.toml", "--workers", 1, "--quiet").status == 0


def test_failed_cells_are_listed_and_make_the_status_1(run: Headway) -> None:
    run.write("mine.py", "def bad(schedule):\n    return {'x': 1 / (len(schedule) - 4)}\n")
    run.write("sweep.toml", 'measures = ["mine.py:bad"]\n' + SWEEP)
    failed = run("sweep", "sweep.toml", "--workers", 1)
    assert failed.status == 1
    assert "3 cells failed; --retry-failed runs them again:" in failed.err
    assert "four part 0 seed 0 strict: ZeroDivisionError: division by zero (" in failed.err
    again = run("sweep", "sweep.toml", "--workers", 1)
    assert again.status == 1 and "0 cells run, 6 were there, 3 failed" in again.out
    retried = run("sweep", "sweep.toml", "--workers", 1, "--retry-failed")
    assert retried.status == 1 and "3 cells run, 3 were there, 3 failed" in retried.out


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("tau = ", "sweep.toml: is not valid TOML"),
        ("colour = 1\n" + SWEEP, "sweep.toml: colour: there is no such key; there are name, workload"),
        ("seeds = 3\n" + SWEEP, "sweep.toml: seeds: must be a list, not 3"),
        ("classes = 1\n" + SWEEP, "sweep.toml: classes: must be true or false, not 1"),
        (SWEEP.replace("[[policy]]", "[[policies]]"), "policies: there is no such key"),
        ("tau = 60\n", "sweep.toml: workload: give at least one [[workload]]"),
        (SWEEP.replace('"fcfs"', '"esay"'), "sweep.toml: "),
        (SWEEP.replace('"fcfs"', '"./none.py:Mine"'), "sweep.toml: ./none.py:Mine: there is no file none.py"),
        (SWEEP + '[[platform]]\nname = "nowhere"\n', "sweep.toml: nowhere: there is no such platform"),
        (SWEEP + '[[platform]]\nprocs = "4"\n', "sweep.toml: procs must be a whole number, not '4'"),
        (SWEEP.replace("logs/four", "five"), "sweep.toml: five.swf: there is no such file"),
        ('measures = ["./none.py:f"]\n' + SWEEP, "sweep.toml: ./none.py:f: there is no file none.py"),
        ('measures = ["mine.py"]\n' + SWEEP, "sweep.toml: measure 'mine.py' must be written"),
        (SWEEP.replace("logs/four.swf", "gone.swf"), "gone.swf"),
        (SWEEP + "\n[[platform]]\nprocs = 0\n", "procs must be from 1"),
    ],
)
def test_bad_files_are_refused_in_one_sentence(run: Headway, text: str, sentence: str) -> None:
    run.write("sweep.toml", text)
    result = run("sweep", "sweep.toml", "--workers", 1)
    assert result.status == 2
    assert sentence in result.err and result.err.count("\n") == 1, result.err


def test_a_table_of_what_was_found_is_written_for_a_paper(run: Headway) -> None:
    run.write("sweep.toml", SWEEP)
    first = run("sweep", "sweep.toml", "--workers", 1, "--table", "t.csv")
    assert first.status == 0 and "table of mean_bsld written to t.csv" in first.err
    table = pl.read_csv(run.folder / "t.csv")
    assert table["workload"].to_list() == ["four"] * 2 + ["drawn"] * 2
    assert table["policy"].to_list() == ["easy(order=sjf)", "strict"] * 2
    assert set(table["verdict"]) == {"too few blocks to tell"}
    judged = Results.open(run.folder / "sweep-results").against_baseline("mean_bsld")
    assert table["value"].to_list() == pytest.approx(judged["value"].to_list())
    again = ("sweep", "sweep.toml", "--workers", 1, "--metric", "mean_wait", "--table")
    assert "mean_wait (s) against the baseline" in run(*again, "t.txt").out
    assert (run.folder / "t.txt").read_text().startswith("workload  policy")
    assert run(*again, "t.tex", "--quiet").err == ""
    assert r"\caption{mean\_wait (s) against the baseline" in (run.folder / "t.tex").read_text()
    assert "t.tex exists" in run(*again, "t.tex").err
    assert run(*again, "t.tex", "--force").status == 0
    assert "written as .tex, .csv or .txt" in run(*again, "t.pdf").err
    unknown = run("sweep", "sweep.toml", "--metric", "max_wait")
    assert "does not measure 'max_wait'; it has jobs, mean_wait, mean_bsld" in unknown.err
    run.write("alone.toml", SWEEP.replace('baseline = "easy"\n', ""))
    assert "--table compares with a baseline" in run("sweep", "alone.toml", "--table", "a.tex").err
    assert "there is no folder nowhere" in run("sweep", "alone.toml", "--table", "nowhere/a.tex").err
    assert not (run.folder / "alone-results").exists()  # said before anything is run


def test_contradictory_options_are_refused(run: Headway) -> None:
    run.write("sweep.toml", SWEEP)
    both = run("sweep", "sweep.toml", "--workers", 1, "--dask", "tcp://127.0.0.1:1")
    assert both.status == 2 and "one of --workers, --dask and --device cuda" in both.err
    assert run("sweep", "gone.toml").err == "headway: gone.toml: there is no such file; check the path\n"


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent as a signal here")
def test_an_interrupted_sweep_keeps_what_is_finished(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import time\ndef slow(schedule):\n    time.sleep(0.05)\n    return {'slept': 1}\n"
    )
    (tmp_path / "sweep.toml").write_text(
        'measures = ["slow.py:slow"]\nreplications = 500\nmetrics = ["jobs"]\n'
        '[[workload]]\nmodel = "lublin(jobs=5, procs=4, seed={seed})"\n[[policy]]\npolicy = "fcfs"\n'
    )
    code = "import sys; from headway.cli import main; sys.argv[0] = 'headway'; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "sweep", "sweep.toml", "--workers", "2"],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    cells = tmp_path / "sweep-results" / "cells"
    for _ in range(1200):
        if cells.is_dir() and list(cells.glob("*.parquet")):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    kept = "finished cells are kept in sweep-results, and the same command continues from there"
    assert (process.returncode, err) == (130, f"headway: interrupted; {kept}\n")
    table = pl.read_parquet(tmp_path / "sweep-results" / "results.parquet")
    assert 0 < table.height < 500 and table["slept"].to_list() == [1] * table.height


def test_what_cells_are_written_with_is_there_before_the_first_one(tmp_path: Path) -> None:
    """Ctrl-C in the middle of its import left half a module, by which no cell could be kept."""
    (tmp_path / "seen.py").write_text(
        "import sys\ndef seen(schedule):\n    return {'ready': int('polars' in sys.modules)}\n"
    )
    code = (
        "import headway, sys\n"
        "campaign = headway.Campaign('lublin(jobs=5, procs=4)', 'fcfs', measures=['./seen.py:seen'])\n"
        "assert 'polars' not in sys.modules\n"
        "assert campaign.run('out', workers=1, processes=False).frame['ready'].to_list() == [1]\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def test_the_first_table_does_not_pool_machines_of_different_sizes() -> None:
    """Baselines of redirection run on as many processors as it has: 110 with alpha = 0.1, 125 with 0.25."""
    frame = pl.DataFrame(
        {
            "label": ["easy", "easy", "easy", "easy", "redirection"],
            "procs": [110, 125, 110, 125, 100],
            "capacity": [110, 125, 110, 125, 125],  # the redirection group included
            "mean_wait": [100.0, 10.0, 300.0, 30.0, 5.0],
            "block": ["1", "1", "2", "2", "1"],
        }
    )
    names, rows = overview(SimpleNamespace(frame=frame, tau=60.0))  # type: ignore[arg-type]
    assert names == ["policy", "processors", "cells", "mean of mean_wait (s)"]
    assert rows == [
        ["easy", "110", "2", "200"],
        ["easy", "125", "2", "20"],
        ["redirection", "125", "1", "5"],
    ]
    one = frame.filter(pl.col("capacity") == 110)
    assert overview(SimpleNamespace(frame=one, tau=60.0)) == (  # type: ignore[arg-type]
        ["policy", "cells", "mean of mean_wait (s)"],
        [["easy", "2", "200"]],
    )
