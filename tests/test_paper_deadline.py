"""The reproduction of the paper on deadlines: what it reads, judges and writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from headway.papers import Request
from headway.papers.deadline import figures, runs, work
from headway.papers.deadline.logs import REPORTED, THIRDS, Log, labelled, of_paper, prepared
from headway.papers.deadline.runs import Run, Runs, change_estimate, mean_estimate
from headway.papers.deadline.tables import READINGS, implied_changes, saturation
from headway.units import SECOND
from headway.workload import Workload
from headway.workload.header import Header
from headway.workload.models import generate

HOUR = 3600 * SECOND


def small(jobs: int = 60) -> Log:
    made = generate(f"lublin(jobs={jobs}, procs=16, load=1.1, estimates=tsafrir, seed=3)")
    return Log("generated", "Generated", made, 16)


def test_what_the_tables_imply_for_flexible_tasks() -> None:
    # From 3.28 h for both, 2.60 and 3.06 h in case a: 3 x 3.06 - 2 x 2.60 = 3.98 h, a fifth more.
    log = Log("hpc2n", "HPC2N", small().workload, 16, REPORTED["hpc2n"])
    a, b = implied_changes(log, "wait")
    assert a == pytest.approx(100 * (3.98 / 3.28 - 1), abs=0.5)
    assert b == pytest.approx(100 * (4.42 / 3.28 - 1), abs=0.5)
    assert implied_changes(small(), "wait") == (None, None)


def test_figure_1() -> None:
    """T1 gives way to T2 and not to T4, T3 to both; CBF keeps to the order of submission."""
    for policy, starts in (("dbf", [0, 4, 2, 9, 7]), ("conservative", [0, 2, 5, 7, 9])):
        assert (figures.example(policy).start / HOUR).tolist() == starts


def test_calendar_deadlines_are_drawn_up() -> None:
    header = Header(["; MaxProcs: 16", "; UnixStartTime: 1027839845", "; TimeZoneString: Europe/Stockholm"])
    log = Workload.from_arrays(
        unit="s", header=header, submit=[0, 1, 2], procs=[1] * 3, walltime=[60] * 3, runtime=[60] * 3
    )
    # The log begins on Sunday 28 July 2002 at 9:04:05 in Stockholm: 22:55:55 until Monday at 8:00.
    due = labelled(log, "third of three", 24, "monday").columns["deadline"]
    assert due.tolist() == [-1, -1, (22 * 3600 + 55 * 60 + 55) * SECOND]


def test_the_three_thirds_are_all_jobs() -> None:
    # Submitted out of order: the places count in order of submission.
    log = Workload.from_arrays(
        unit="s", submit=[50, 0, 10, 20, 30, 40], procs=[1] * 6, walltime=[10] * 6, runtime=[5] * 6
    )
    chosen = {name: labelled(log, name, 24).columns["deadline"] >= 0 for name in THIRDS[:3]}
    assert np.flatnonzero(chosen["first of three"]).tolist() == [1, 4]
    assert np.flatnonzero(chosen["third of three"]).tolist() == [0, 3]
    assert (np.sum(list(chosen.values()), axis=0) == 1).all()
    assert labelled(log, "third of three", 24).columns["deadline"][0] == 50 * SECOND + 24 * HOUR


def test_times_and_jobs_of_no_length() -> None:
    wl = Workload.from_arrays(unit="s", submit=[0, 1], procs=[1, 1], walltime=[10, 5], runtime=[0, 8])
    log = Log("x", "X", wl, 4)
    assert prepared(log, "exact", "kept").walltime.tolist() == [0, 8 * SECOND]
    assert prepared(log, "exact, at most the request", "one second").walltime.tolist() == [SECOND, 5 * SECOND]
    assert len(prepared(log, "requested", "dropped")) == 1
    assert prepared(log, "requested", "kept").walltime.tolist() == [10 * SECOND, 5 * SECOND]


def test_the_shortest_deadline_with_most_of_the_gain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine tenths of the largest gain; on a log where no deadline gains there is none."""
    for waits, shortest in (((10.0, 8.0, 1.5, 1.0), 12.0), ((10.0, 11.0, 12.0, 13.0), None)):
        found = dict(zip((0.0, 3.0, 12.0, 24.0), waits, strict=True))

        def get(self: Runs, log: Log, run: Run, found: dict[float, float] = found) -> dict[str, float]:
            wait = found[0.0 if run.policy == "conservative" else run.hours]
            return {"priority_mean_wait": wait, "flexible_mean_wait": 1.0}

        monkeypatch.setattr(Runs, "get", get)
        assert saturation(Runs(tmp_path, print), small(), (3.0, 12.0, 24.0)) == shortest


def test_whole_hours_are_the_same_run() -> None:
    assert Run(hours=24).key == Run(hours=24.0).key != Run(hours=24.5).key


def test_what_was_measured_is_not_simulated_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, first = small(), Runs(tmp_path, lambda text: None)
    found = first.get(log, Run())
    assert found["flexible_jobs"] == 20 and found["accepted_deadlines"] + found["late_on_arrival"] == 20

    def forbidden(*_: object) -> None:
        raise AssertionError("simulated again")

    monkeypatch.setattr(runs, "simulate", forbidden)
    assert Runs(tmp_path, lambda text: None).get(log, Run()) == found
    with pytest.raises(AssertionError, match="simulated again"):
        Runs(tmp_path, lambda text: None).get(small(61), Run())  # another log


def test_means_and_changes_by_week_are_those_of_the_jobs(tmp_path: Path) -> None:
    """The sums over the weeks give the means that the metrics give, and each week counts by its jobs."""
    jobs = generate("lublin(jobs=400, procs=16, load=1.1, estimates=tsafrir, seed=3)")
    spread = jobs.with_columns(submit=jobs.submit + np.arange(400) * HOUR)
    log, kept = Log("generated", "Generated", spread, 16), Runs(tmp_path, lambda text: None)
    plain, dbf = kept.get(log, Run("conservative")), kept.get(log, Run())
    assert len(plain["weeks"]["priority"]["jobs"]) > 1 and sum(plain["weeks"]["flexible"]["jobs"]) == 133
    for who, wait, slowdown in (
        ("priority", "priority_mean_wait", "priority_mean_walltime_slowdown"),
        ("flexible", "flexible_mean_wait", "flexible_mean_walltime_slowdown"),
        ("all", "wait", "slowdown"),
    ):
        for name, column in (("wait", wait), ("slowdown", slowdown)):
            assert mean_estimate(plain, who, name).value == pytest.approx(plain[column])
            change = change_estimate(dbf, plain, who, name)
            assert change.value == pytest.approx(100 * (dbf[column] / plain[column] - 1))


def test_two_classes_are_tasks_with_a_deadline_and_without(tmp_path: Path) -> None:
    """With urgent=first tasks without a deadline gain, and more than those with one; no task is left out."""
    log, kept = small(300), Runs(tmp_path, lambda text: None)
    plain, classes = (kept.get(log, Run(policy)) for policy in ("easy", "easy(urgent=first)"))
    changes = [change_estimate(classes, plain, who, "wait").value for who in ("priority", "flexible")]
    assert changes[0] < min(0, changes[1])
    assert classes["flexible_jobs"] == 100 and classes["jobs"] == 300


def test_the_whole_reproduction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "open_logs", lambda traces, quick: [small(90)])
    said: list[str] = []
    result = work.reproduce(Request({}, True, tmp_path, said.append))
    assert len(said) == len(set(said)) >= 2 * len(READINGS)
    verdicts = {claim.claim: claim for claim in result.claims}
    assert verdicts["HPC2N: Tables 1 and 2"].verdict == "not tested"
    assert all(claim.source and claim.tested for claim in result.claims)
    strict = verdicts["deadlines are strictly respected (strict, our loop)"]
    assert strict.verdict == "could not fail" and strict.ours.startswith("0 of ")
    assert len(result.tables["Readings"]) == 1 + len(READINGS)
    assert [row[1] for row in result.tables["Who pays"][1:]] == [f"{hours:g}" for hours in work.HOURS]
    page = (tmp_path / "deadline.md").read_text(encoding="utf-8")
    for name in ("deadline-figure-1.svg", "deadline-share.svg", "deadline-length.svg"):
        assert f"({name})" in page and (tmp_path / name).read_text().startswith("<?xml")
    assert "## Table 1: priority tasks" in page and result.notes[0] in page


def test_readings_are_of_the_papers_logs() -> None:
    mine, theirs = small(), Log("hpc2n", "HPC2N", small().workload, 16, REPORTED["hpc2n"])
    assert of_paper([mine, theirs]) == [theirs] and of_paper([mine]) == [mine]
