"""The table of the benchmarks: figures are held against the right bars. Nothing is measured here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import pytest

from surroundings import ROOT

sys.path.insert(0, str(ROOT))
from benchmarks import bars, page

RATE = {"policy": "easy", "jobs": 10, "mean queue per pass": 5.0, "CPU s": 1.0}


def verdicts(section: str, *rows: Mapping[str, object]) -> list[tuple[str, str]]:
    return [(line.bar, line.verdict) for line in bars.lines({section: [dict(row) for row in rows]})]


def test_every_benchmark_finds_what_it_imports() -> None:
    for file in (ROOT / "benchmarks").glob("[!_]*.py"):
        import_module(f"benchmarks.{file.stem}")


@pytest.mark.long
def test_every_section_runs_with_small_sizes() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0 and "Against the bars" in run.stdout, run.stderr


def test_easy_is_judged_by_the_depth_of_the_queue() -> None:
    shallow = RATE | {"workload": "KTH", "jobs/CPU s": 2_000_000}
    deep = RATE | {"workload": "Other", "mean queue per pass": 100.0, "jobs/CPU s": 1_019_999}
    ricc = RATE | {"workload": "RICC-2010-2", "mean queue per pass": 1600.0, "jobs/CPU s": 1_000_000}
    assert verdicts("logs", shallow, deep, ricc) == [
        ("at least 2,000,000", "met"), ("at least 1,020,000", "missed"), ("at least 1,000,000", "met"),
    ]  # fmt: skip


def test_conservative_has_bars_on_three_logs() -> None:
    rows = [
        RATE | {"policy": "conservative", "workload": name, "jobs/CPU s": 300_000, "CPU s": 61}
        for name in ("SDSC-SP2-1998", "HPC2N-2002", "RICC-2010-2", "KTH")
    ]
    assert verdicts("logs", *rows) == [
        ("at least 500,000", "missed"), ("at least 200,000", "met"), ("at most 10", "missed"), ("", ""),
    ]  # fmt: skip


def test_a_deep_queue_is_judged_by_growth_and_by_the_order_of_arrival() -> None:
    row = {"policy": "sjf", "n": 10, "growth": 2.1, "plain": "fcfs", "over plain": 3.5}
    plain = row | {"policy": "fcfs", "growth": 3.1, "over plain": 1.0}
    alone = row | {"policy": "conservative", "growth": 7, "over plain": ""}
    assert verdicts("depth", row, plain, alone) == [
        ("at most 3", "met"), ("at most 3", "missed"), ("at most 3", "missed"), ("at most 3", "missed"),
    ]  # fmt: skip


def test_the_bars_of_the_papers() -> None:
    dbf = {"workload": "HPC2N", "ratio": 0.49, "jobs/CPU s": 50_000}
    assert verdicts("deadline", dbf) == [("", ""), ("at least 50,000", "met")]
    assert verdicts("redirection", {"workload": "Curie", "theta": 5, "ratio": 1.5}) == [
        ("at most 1.5", "met")
    ]
    urgent = [{"workload": name, "CPU s": 121, "jobs/CPU s": 200_000} for name in ("LANL", "RICC")]
    assert verdicts("urgent", *urgent) == [("at least 200,000", "met"), ("at most 120", "missed")]
    grid = [{"heuristic": h, "mode": "regular", "jobs": 5, "CPU s": 31} for h in ("mct", "minmin")]
    assert verdicts("reallocation", *grid) == [("at most 30", "missed"), ("at most 120", "met")]
    nodes = [{"week": f"{kind}: lea", "jobs/CPU s": 4999, "CPU s": 1200} for kind in ("light", "saturated")]
    assert verdicts("nodes", *nodes) == [("at least 5,000", "missed"), ("at most 1,200", "met")]
    site = {"site": "nodes", "jobs": 600_000, "mean queue": 500, "CPU s": 300, "jobs/CPU s": 1999}
    assert verdicts("slurm-months", site) == [("at most 300", "met")]
    others = site | {"mean queue": 160}, site | {"site": "unlike nodes, shared"}
    assert verdicts("slurm", site, *others) == [("at least 2,000", "missed"), ("", ""), ("", "")]


def test_the_bars_of_a_week_live() -> None:
    days = [
        {"work": f"day {n}", "tasks so far": n, "memory MB": 100 + n, "files kB": 90} for n in range(1, 8)
    ]
    assert verdicts("live-week", *days) == [("at most 1.03", "missed"), ("at most 1.1", "met")]


def test_a_policy_is_compiled_in_a_quarter_of_a_minute() -> None:
    rows = [{"command": "easy", "wall s": 30, "CPU s": seconds} for seconds in (15, 15.1)]
    assert verdicts("compiling", *rows) == [("at most 15", "met"), ("at most 15", "missed")]


def test_a_quick_run_is_not_judged() -> None:
    row = RATE | {"workload": "KTH", "jobs/CPU s": 1}
    [line] = bars.lines({"logs": [row]}, judged=False)
    assert line.verdict == "" and line.bar == "at least 2,000,000"


def test_the_page_keeps_its_words_and_lists_what_is_missed(tmp_path: Path) -> None:
    file = tmp_path / "speed.md"
    file.write_text(f"# Speed\n\nHow.\n\n{page.BEGIN}\nold\n{page.END}\nAfter.\n")
    machine = dict.fromkeys(("system", "cores", "memory_gb", "python", "numba", "headway"), "x")
    table = bars.lines({"logs": [RATE | {"workload": "KTH", "jobs/CPU s": 1_500_000}]})
    for _ in range(2):  # a second time nothing is doubled
        page.write(file, table, machine, {"logs": "today"}, quick=False)
    text = file.read_text()
    assert text.startswith("# Speed\n\nHow.\n") and text.endswith("\nAfter.\n") and "old" not in text
    assert (
        text.count("| EASY | KTH, 5 waiting | 1,500,000 | jobs/CPU s | at least 2,000,000 | **missed** |")
        == 1
    )
    assert "- EASY, KTH, 5 waiting: at least 2,000,000 jobs/CPU s" in text
    assert "Not measured in this run: synthetic, depth, reading" in text
    with pytest.raises(SystemExit, match="needs the lines"):
        page.write(ROOT / "README.md", table, machine, {}, quick=False)


def test_the_page_of_the_documentation_can_be_written() -> None:
    text = (ROOT / "docs/reference/speed.md").read_text("utf-8")
    assert text.index(page.BEGIN) < text.index(page.END)
