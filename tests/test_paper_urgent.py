"""The reproduction of the slides on urgent computing: swap model, what is simulated, judged and written."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import Headway
from headway import Schedule, compare
from headway.errors import UsageError
from headway.papers import Request
from headway.papers.log import Log
from headway.papers.urgent import measure_swap, runs, work
from headway.papers.urgent.claims import kill
from headway.papers.urgent.figures import CASES, case
from headway.papers.urgent.logs import open_logs, share_with_memory, with_urgent
from headway.papers.urgent.runs import Run, Runs, apart, dedicated
from headway.papers.urgent.seeds import COMPARED
from headway.papers.urgent.tables import POLICIES, RATES, READINGS, SCALES, scaled, sizes
from headway.papers.verdicts import mean_of
from headway.schedule import WHY
from headway.simulate import simulate
from headway.units import SECOND
from headway.workload import Workload
from headway.workload.models import generate
from headway.workload.transform.swap_model import fits, suspects, swap_times
from headway.workload.transform.urgent import inject


def small(jobs: int = 120) -> Log:
    made = generate(f"lublin(jobs={jobs}, procs=1024, load=1.2, estimates=tsafrir, seed=3)")
    return Log("generated", "Generated", made, 1024)


def test_the_lines_through_table_3() -> None:
    found = {fit.name: fit for fit in fits()}
    every, sound = found["all points"], found["without the suspicious ones"]
    assert (every.points, round(every.bandwidth), round(every.r2, 3)) == (32, 5691, 0.949)
    assert (sound.points, round(sound.bandwidth), round(sound.r2, 3)) == (30, 6071, 0.997)
    assert sound.intercept == pytest.approx(0.0039, abs=5e-5)
    classes = [round(found[f"class {label}"].bandwidth) for label in "ABCD"]
    assert classes == [5445, 6286, 5391, 6078]
    assert min(found[f"class {label}"].r2 for label in "ABCD") > 0.999


def test_the_two_suspicious_points_are_found() -> None:
    assert [(point[:2], round(expected, 2)) for point, expected in suspects()] == [
        (("A", "LU"), 0.02),
        (("C", "FT"), 0.48),
    ]


def test_swap_times_are_rounded_up_to_a_microsecond() -> None:
    sizes = np.array([6000 * 1024, 1, 0, -1])
    assert swap_times(sizes).tolist() == [SECOND, 1, 0, -1]
    assert swap_times(sizes, 0.5).tolist() == [12_000 * SECOND, 1954, 0, -1]


def test_jobs_injected_under_another_seed_are_other_jobs() -> None:
    """They have other numbers, so that comparisons pair the jobs of the log and no others."""
    log = small().workload
    once, again, other = (inject(log, count=5, seed=seed) for seed in (1, 1, 2))
    assert once.job.tolist() == again.job.tolist()
    assert set(once.job.tolist()) & set(other.job.tolist()) == set(log.job.tolist())
    runs = [simulate(jobs, 600, "easy") for jobs in (once, other)]
    compared = compare(runs)
    assert not compared.same_jobs
    paired = sum(change.jobs for change in compared.differences[0].classes["size"])
    assert paired == np.isin(runs[0].workload.job, log.job).sum() > 100
    first = inject(log, count=5)
    assert first.job.tolist()[len(log) :] == [int(log.job.max()) + number for number in range(1, 6)]


def test_injected_jobs_have_their_deadline() -> None:
    log = inject(small().workload, count=5, deadline=600, seed=2)
    due = log.columns["deadline"]
    assert (due[log.urgent] == log.submit[log.urgent] + 600 * SECOND).all() and (due[~log.urgent] < 0).all()
    with pytest.raises(UsageError, match="deadline must be at least 0"):
        inject(small().workload, deadline=-1)
    assert "deadline" not in inject(small().workload, count=5)


def test_what_is_injected() -> None:
    log = small()
    some = with_urgent(log, 9, 1, "table")
    assert some.urgent.sum() == 9 and len(some) == 129
    assert sorted(set(some.procs[some.urgent].tolist())) == [128, 256, 512]
    assert (some.columns["memory_kb"][~some.urgent] >= 76 * 1024).all()
    hours = (int(log.workload.submit.max()) - int(log.workload.submit.min())) / 3600 / SECOND
    assert with_urgent(log, 0, 1, "table", per_hour=2).urgent.sum() == round(2 * hours)
    assert not with_urgent(log, 0, 1, "table").urgent.any()


def test_sizes_of_the_log() -> None:
    """Jobs have the memory that the log says; one of which it says nothing gets a size of Table 3."""
    log = small(4)
    known = np.array([2048, -1, 4096, 1024])
    log = Log("own", "Own", log.workload.with_columns(memory_kb=known), log.procs)
    assert share_with_memory(log.workload) == 0.75 and share_with_memory(small(4).workload) == 0
    some = with_urgent(log, 3, 1, "log")
    sizes = some.columns["memory_kb"][~some.urgent]
    assert sizes[[0, 2, 3]].tolist() == [2048, 4096, 1024] and sizes[1] >= 76 * 1024
    drawn = with_urgent(log, 3, 1, "table")
    assert (drawn.columns["memory_kb"][~drawn.urgent] >= 76 * 1024).all()


def test_the_table_of_sizes(tmp_path: Path) -> None:
    """Both sources where the log has one, whatever the rest of the page is made with."""
    log = small(60)
    log = Log("own", "Own", log.workload.with_columns(memory_kb=np.full(60, 60 * 1024)), log.procs)
    made = [Runs(tmp_path, lambda text: None, source) for source in ("table", "log")]
    rows = sizes(made[0], [log, small(60)])
    assert [row[:2] for row in rows[1:]] == [
        ["Own", "drawn from Table 3"],
        ["Own", "of the log (100 % of its jobs)"],
        ["Generated", "drawn from Table 3"],
        ["Generated", "the log has none"],
    ]
    assert rows[2][2] == "60.0" and rows[2][5] == "0.010"  # 60 MB at 6,000 MB/s
    assert sizes(made[1], [log, small(60)]) == rows
    assert made[1].get(log, Run())["max_preemption_delay"] == pytest.approx(0.01)


def test_dedicated_processors() -> None:
    log = small()
    assert dedicated(log) == 512 and dedicated(Log("x", "X", log.workload, 240)) == 128
    some = with_urgent(log, 9, 1, "table")
    rush, procs = apart(some, "urgent", 512, 1024)
    assert (len(rush), procs) == (9, 512)
    rest, procs = apart(some, "regular", 512, 1024)
    assert procs == 512 and rest.procs.max() <= 512 and not rest.urgent.any()


def test_the_three_cases_are_what_they_are_called() -> None:
    why = [WHY[case(rows).why[2]] for _, rows in CASES]
    assert why == ["urgent_backfill", "urgent", "urgent_preempt"]
    assert [(case(rows).start[1] // SECOND) for _, rows in CASES] == [10, 14, 18]


def test_killing_costs_more_only_where_the_seeds_leave_no_doubt() -> None:
    judged = [kill(small(), mean_of(values)) for values in ([1.0, 1.1], [1.0, -1.0], [-1.0, -1.1], [2.0])]
    assert [claim.verdict for claim in judged] == ["agrees", "undecided", "differs", "undecided"]
    assert judged[3].remark == "one seed has no interval; give --seeds"


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs /proc/PID/mem, which is Linux's")
def test_a_process_is_swapped_out_and_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert measure_swap.main(["1", "2", "--repeat", "1", "--to", str(tmp_path)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said[1:3]] == ["1", "2"]
    assert said[-1].startswith("for the policy: ujfb(bandwidth=")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs /proc/PID/mem, which is Linux's")
def test_a_measurement_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    script = (
        "import sys, time; from headway.papers.urgent import measure_swap as m;"
        "m._copy = lambda *rest: time.sleep(60); m.measure(1, m.Path(sys.argv[1]))"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)]) as measuring:
        children = Path(f"/proc/{measuring.pid}/task/{measuring.pid}/children")
        try:
            (holder,) = _soon(lambda: children.read_text().split())
            assert _soon(lambda: _state(holder) == "T"), "the process was not stopped"
        finally:
            measuring.kill()
    assert _soon(lambda: _state(holder) in ("", "Z")), "the stopped process is still there"


def _state(pid: str) -> str:
    """T for a stopped process, Z for one that has ended; nothing where there is none."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return ""


def _soon(what: Callable[[], Any]) -> Any:
    """What comes out as true within half a minute, else the last."""
    end = time.monotonic() + 30
    while not (found := what()) and time.monotonic() < end:
        time.sleep(0.01)
    return found


def test_lines_through_measured_swaps() -> None:
    swaps = [measure_swap.Swap(size, 0.1 + size / 500, 0.1 + size / 1000) for size in (10, 20, 50)]
    out, back = measure_swap.lines(swaps)
    assert (round(out.bandwidth), round(back.bandwidth), round(out.intercept, 6)) == (500, 1000, 0.1)
    assert measure_swap.report(swaps).endswith("ujfb(bandwidth=500, swap_in=0.50)")


def test_longer_swaps_are_smaller_bandwidths() -> None:
    assert [scaled(scale).policy for scale in SCALES] == [
        "ujfb",
        "ujfb(bandwidth=600)",
        "ujfb(bandwidth=60)",
        "ujfb(bandwidth=6)",
    ]


def test_a_machine_that_is_too_small(tmp_path: Path) -> None:
    path = tmp_path / "small.swf"
    path.write_text("; MaxProcs: 100\n1 0 0 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1\n")
    with pytest.raises(UsageError, match=r"takes 128 processors, .* the machine has 100"):
        open_logs({"small": str(path)}, False)


def test_what_was_measured_is_not_simulated_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, first = small(), Runs(tmp_path, lambda text: None)
    found = first.get(log, Run(count=6))
    assert found["urgent_jobs"] == 6 and len(found["urgent_points"]) == 6
    assert found["urgent_lateness"] == pytest.approx(
        max(point[2] for point in found["urgent_points"]), abs=1e-6
    )

    def forbidden(*_: object) -> None:
        raise AssertionError("simulated again")

    monkeypatch.setattr(runs, "simulate", forbidden)
    assert Runs(tmp_path, lambda text: None).get(log, Run(count=6)) == found
    with pytest.raises(AssertionError, match="simulated again"):
        Runs(tmp_path, lambda text: None).get(small(121), Run(count=6))  # another log


def test_sizes_are_for_this_paper(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cli = Headway(tmp_path, capsys, monkeypatch)
    for paper, source, reason in (
        ("deadline", "log", "--sizes is for the paper urgent, not for deadline"),
        ("urgent", "small", "--sizes must be table or log, not 'small'"),
    ):
        done = cli("reproduce", paper, "--sizes", source, "--quick")
        assert (done.status, done.err) == (2, f"headway: {reason}\n") and cli.files() == []


def test_an_interrupt_loses_nothing_that_was_finished(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third run is interrupted: the first two are kept, one line is said, and it goes on from there."""
    monkeypatch.setattr(work, "open_logs", lambda traces, quick: [small(40)])
    simulated: list[str] = []

    def interrupted(workload: Workload, procs: int, policy: str) -> Schedule:
        simulated.append(policy)
        if len(simulated) == 3:
            raise KeyboardInterrupt
        return simulate(workload, procs, policy)

    monkeypatch.setattr(runs, "simulate", interrupted)
    cli = Headway(tmp_path, capsys, monkeypatch)
    done = cli("reproduce", "urgent", "--quick", "--out", "kept", "--quiet")
    assert done.status == 130
    assert done.err.split("headway: ")[-1] == (
        "interrupted; finished parts are kept in kept, and the same command continues from there\n"
    )
    assert len(json.loads((tmp_path / "kept" / "runs.json").read_text())["runs"]) == 2
    again = Runs(tmp_path / "kept", lambda text: None)
    for policy in simulated[:2]:
        assert again.get(small(40), Run(policy))["jobs"] == 140
    assert len(simulated) == 3


def test_the_whole_reproduction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "open_logs", lambda traces, quick: [small()])
    said: list[str] = []
    result = work.reproduce(Request({}, True, tmp_path, said.append))
    verdicts = {claim.claim: claim for claim in result.claims}
    assert verdicts["maximum slowdown of a tsunami job"].verdict == "arithmetic"
    slides = verdicts["UJFB's U_L by swaps alone"]
    assert slides.verdict == "not claimed" and "1.0035" in slides.ours
    assert all(claim.source for claim in result.claims)
    assert verdicts["LANL-CM5: Figures 10, 11 and 13"].verdict == "not tested"
    order = verdicts["Generated: U_L by algorithm"]
    assert order.ours.split(", ")[-1].startswith("UJFB ")
    assert [row[0] for row in result.tables["Table 2"][1:6]] == [title for title, _ in POLICIES]
    assert 2 <= len(result.tables["Rates"]) <= 1 + len(RATES) and len(result.tables["Modes"]) == 6
    assert [row[1] for row in result.tables["Sizes"][1:]] == ["drawn from Table 3", "the log has none"]
    assert [row[1] for row in result.tables["Readings"][1:]] == [f"`{policy}`" for policy in READINGS]
    assert [row[1] for row in result.tables["Seeds"][1:5]] == [title for title, _, _ in COMPARED]
    page = (tmp_path / "urgent.md").read_text(encoding="utf-8")
    for name in ("flow", "cases", "table-3", "untreated", "regular", "swaps", "rates"):
        assert f"(urgent-{name}.svg)" in page
        assert (tmp_path / f"urgent-{name}.svg").read_text().startswith("<?xml")
    assert result.notes[0] in page and "## Table 3: swap times" in page
