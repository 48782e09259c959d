"""The reproduction of the paper on shared input files: its weeks, what it judges and what it writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from headway.errors import InputError, UsageError
from headway.papers import Request
from headway.papers.locality import runs, tables, weeks, work
from headway.papers.locality.claims import _exact, _files
from headway.papers.locality.rackham import is_day, read_day
from headway.papers.locality.runs import Runs, at_bandwidth
from headway.papers.locality.weeks import (
    BUSY,
    LIGHT,
    NARROW,
    SATURATED,
    Group,
    Span,
    generated_week,
    sessions,
)
from headway.platform import Platform
from headway.units import DAY, SECOND

TINY = Span(0.02, 0.1, 0.02, (1, 2), light=0.5, busy=1.0, saturated=3.0, jobs_a_day=0.35)


def tiny(kind: str = BUSY, sizes: bool = False) -> Group:
    return weeks.generated(kind, TINY, sizes)


def test_sessions_share_files_by_the_authors_rule() -> None:
    week = generated_week(BUSY, Span(0.5, 1, 0.5))
    log = week.workload
    for name in ("user", "procs", "file_gb", "needs_node_gb"):
        for file in range(0, int(log.file.max()) + 1, 37):
            assert len(set(log.columns[name][log.file == file])) == 1
    gaps = [np.diff(np.sort(log.submit[log.file == file])) for file in range(int(log.file.max()) + 1)]
    assert max(gap.max(initial=0) for gap in gaps) <= 800 * SECOND
    assert np.allclose(log.file_gb, log.procs * 6.4)
    assert set(np.unique(log.procs)) <= set(weeks.WIDTHS)
    # By the authors' script a chain ends at the next job of anybody else.
    fresh = np.concatenate([[True], np.diff(log.user) != 0])
    assert len(set(log.file[fresh])) == fresh.sum()
    assert len(set(generated_week(BUSY, Span(0.5, 1, 0.5), sizes=True).workload.needs_node_gb)) == 3


def test_weeks_are_made_by_the_rule_on_the_page() -> None:
    made = [generated_week(kind, weeks.WEEK, seed) for seed in (1, 2) for kind in (LIGHT, BUSY, SATURATED)]
    assert [round(week.load, 1) for week in made] == [0.5, 0.8, 1.2] * 2
    jobs = [len(week.workload) for week in made]
    assert np.mean(jobs) == pytest.approx(65_000 / 7 * 4 * 2000 / 9720, rel=0.1)
    assert weeks.WEEK.seeds == (1, 2, 3, 4) and weeks.WEEK.window == (DAY // 2, 7 * DAY // 2)
    narrow = generated_week(NARROW, weeks.WEEK)
    assert narrow.load == pytest.approx(1.2, abs=0.05) and narrow.workload.procs.mean() < 4
    assert weeks.generated(SATURATED, weeks.QUICK).saturated
    assert not weeks.generated(LIGHT, weeks.QUICK).saturated


def test_the_load_is_what_was_asked_for() -> None:
    cores, days = 2000, 4
    log = sessions(days, cores, 0.5, seed=3, jobs_a_day=2000)
    offered = float((log.procs * log.runtime).sum()) / SECOND / (cores * days * 86_400)
    assert 0.3 < offered <= 0.51  # a few very long runs are cut


def test_days_that_are_judged() -> None:
    week = tiny().weeks[0]
    inside = week.workload.submit[week.rows]
    assert week.measured == (int(0.02 * DAY), int(0.12 * DAY))
    assert inside.min() >= week.measured[0] and inside.max() < week.measured[1]
    assert 0 < week.rows.sum() < len(week.workload)


def swf(path: Path, users: bool) -> str:
    lines = ["; MaxProcs: 100"]
    for k in range(300):
        user = 1 + k // 20 if users else -1
        # Two quiet days, then two busy ones.
        submit = 600 * k if k < 100 else 4 * 86_400 + 60 * k
        lines.append(
            f"{k + 1} {submit} -1 900 {1 + k % 4} -1 -1 {1 + k % 4} 1800 -1 1 {user} 1 -1 1 -1 -1 -1"
        )
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_weeks_of_a_log(tmp_path: Path) -> None:
    group = weeks.log_group("mine", swf(tmp_path / "log.swf", True), Span(0.1, 0.8, 0.1))
    (week,) = group.weeks
    assert group.title == "MINE"
    # Scaled from 100 to 2000 processors, then split into parts of 20 cores.
    assert week.workload.procs.max() == 20 and week.workload.submit.min() >= 0
    assert week.workload.submit.max() < DAY and (week.workload.file >= 0).all()
    with pytest.raises(UsageError, match="no job has a user"):
        weeks.log_group("mine", swf(tmp_path / "nobody.swf", False), Span(0.1, 0.8, 0.1))


DAY_OF_RACKHAM = (
    # Ran before: 600 of its 1,000 s are left when the day before the judged one begins, at 5,000.
    (1, 4000, 1000, 2000, 20, "b", 1, 128.0, -2, 4600),
    (2, 4500, 50, 100, 1, "a", 2, 6.4, -1, 5200),
    (3, 5000, 70, 100, 2, "a", 3, 25.6, 0, 5000),
    (4, 6000, 80, 100, 4, "c", 5, 51.2, 1, 6000),
    (5, 7000, 90, 100, 1, "c", 0, 0.0, 1, 7000),
    (6, 8000, 10, 100, 1, "c", 4, 51.2, 2, 8000),
)


def day_of_rackham(path: Path, end: str = "") -> str:
    lines = [
        f"{{ id: {job} subtime: {submit} delay: {run} walltime: {wall} cores: {cores} user: {user} "
        f"data: {data} data_size: {size:f} workload: {part} start_time_from_history: {start} "
        "start_node_from_history: 3 }"
        for job, submit, run, wall, cores, user, data, size, part, start in DAY_OF_RACKHAM
    ]
    path.write_text("\n".join(lines) + "\n" + end)
    return str(path)


def test_a_day_in_the_authors_format(tmp_path: Path) -> None:
    path = day_of_rackham(tmp_path / "day")
    assert is_day(path) and not is_day(swf(tmp_path / "log.swf", True))
    log, judged = read_day(path)
    assert log.job.tolist() == [1, 2, 3, 4, 5, 6] and judged == (1000 * SECOND, 2001 * SECOND)
    assert (log.submit // SECOND).tolist() == [0, 0, 0, 1000, 2000, 3000]
    assert (log.runtime // SECOND).tolist() == [600, 50, 70, 80, 90, 10]
    assert (log.walltime // SECOND).tolist() == [1600, 100, 100, 100, 100, 100]
    assert log.user.tolist() == [2, 1, 1, 3, 3, 3] and log.file.tolist() == [0, 1, 2, 4, -1, 3]
    assert log.file_gb[:4].tolist() == [128.0, 6.4, 25.6, 51.2] and np.isnan(log.file_gb[4])
    assert log.needs_node_gb[[0, 1, 2, 3, 5]].tolist() == [128, 128, 256, 256, 1024]
    (week,) = weeks.day_group("rackham", path).weeks
    assert week.rows.tolist() == [False] * 3 + [True, True, False] and week.machine.total_procs == 9720
    assert Runs(tmp_path).get(week, "lea")["jobs"] == 2


@pytest.mark.parametrize("end", ["{ id: 7 subtime: 3 }", "1 2 3"])
def test_a_damaged_day_is_refused(end: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="day:7: has no line of the authors' format"):
        read_day(day_of_rackham(tmp_path / "day", end))


def test_a_real_day_has_a_table_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "open_weeks", lambda traces, quick: ([tiny(LIGHT)], [tiny(BUSY, sizes=True)]))
    result = work.reproduce(
        Request({"sep": day_of_rackham(tmp_path / "day")}, True, tmp_path, lambda text: None)
    )
    rules = [row[0] for row in result.tables["Real day: SEP"][1:]]
    assert rules == [tables.short(rule) for rule in tables.TEN]
    page = (tmp_path / "locality.md").read_text("utf-8")
    assert "(9,720 cores): SEP: 6 jobs, 2 of them judged." in page and "### SEP" in page


def test_another_bandwidth_is_another_platform() -> None:
    fast = at_bandwidth(Platform.load("rackham-small"), 1.0)
    assert {group.bandwidth_gb_s for group in fast.clusters[0].nodes} == {1.0}
    assert fast.total_procs == 2000


def test_what_was_measured_is_not_simulated_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    week, first = tiny().weeks[0], Runs(tmp_path)
    found = first.get(week, "eft")
    assert found["jobs"] == int(week.rows.sum()) and 0 < found["reuses"] < found["files"]

    def forbidden(*_: object) -> None:
        raise AssertionError("simulated again")

    monkeypatch.setattr(runs, "simulate", forbidden)
    assert Runs(tmp_path).get(week, "eft") == found
    with pytest.raises(AssertionError, match="simulated again"):
        Runs(tmp_path).get(week, "eft", 1.0)


def test_fcfs_is_no_improvement_on_itself(tmp_path: Path) -> None:
    found = Runs(tmp_path).get(tiny().weeks[0], "fcfs")
    assert (found["better"], found["not_worse"], found["median_improvement"]) == (0, 1, 1)


def test_what_was_measured_is_kept_although_a_later_run_fails(tmp_path: Path) -> None:
    week, runs_here = tiny().weeks[0], Runs(tmp_path)
    said = []
    with pytest.raises(UsageError, match="nonsense"):
        runs_here.fetch(
            [(week, "eft", 0.1), (week, "nonsense", 0.1)], lambda p: said.append((p.done, p.total))
        )
    runs_here.fetch([(week, "eft", 0.1), (week, "lea", 0.1)], lambda p: said.append((p.done, p.total)))
    assert said[-1][1] == 2
    again = Runs(tmp_path)
    assert len(again.kept.results) == 2 and again.get(week, "eft") == runs_here.get(week, "eft")


def test_the_whole_reproduction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        work, "open_weeks", lambda traces, quick: ([tiny(LIGHT), tiny(SATURATED)], [tiny(BUSY, sizes=True)])
    )
    monkeypatch.setattr(work, "other_weeks", lambda: tiny(NARROW))
    halves = tiny(SATURATED).weeks
    monkeypatch.setattr(work, "searched_weeks", lambda traces, known: (halves[:1], halves[1:]))
    monkeypatch.setattr(tables, "WEIGHTS", ((0, 0), (500, 1)))
    said: list[str] = []
    result = work.reproduce(Request({}, False, tmp_path, said.append))
    simulated = set(Runs(tmp_path).kept.results)
    verdicts = {claim.claim: claim for claim in result.claims}
    assert verdicts["areas 15, 30, 2 on 5, 3, 2 nodes"].verdict == "arithmetic"
    assert all(claim.source for claim in result.claims)
    assert verdicts["light: less time waiting for files than FCFS, LEA"].paper == "+17.10 %"
    assert verdicts["time to fill a node's memory"].ours == "1280, 2560, 10240 s"
    assert [row[0] for row in result.tables["Ten rules: light"][1:]] == [
        tables.short(rule) for rule in tables.TEN
    ]
    assert {row[0]: row[2:] for row in result.tables["Weights"][1:]}["0"] == ["1.000", "1.000"]
    assert [row[1] for row in result.tables["Beyond"][1:]] == ["FCFS", "EFT", "LEA", "LEM"] * 2
    assert verdicts["light: EFT is about FCFS"].tested == "order"
    asked = work.wanted(
        [tiny(LIGHT), tiny(SATURATED)], tiny(NARROW), [tiny(sizes=True)], (halves[:1], halves[1:])
    )
    assert {runs._key(*one) for one in asked} == simulated
    page = (tmp_path / "locality.md").read_text(encoding="utf-8")
    for name in ("locality-rules.svg", "locality-score.svg", "locality-sizes.svg"):
        assert f"({name})" in page and (tmp_path / name).read_text().startswith("<?xml")
    assert result.notes[0] in page and "## Beyond: a search over the weights" in page


def test_a_tie_is_no_order() -> None:
    """LEA saves most; whether LEM is next cannot be said where it saves as much as EFT and LEO."""

    def verdict(lem: float) -> str:
        left = {"fcfs": 100.0, "eft": 98.0, "leo": 98.0, "lem": lem, "lea": 20.0}
        weeks = [
            {
                rule: {"file_wait": x + seed, "core_time": x, "reuses": 1, "files": 2}
                for rule, x in left.items()
            }
            for seed in range(4)
        ]
        return next(claim.verdict for claim in _files("KTH", weeks) if claim.claim.endswith("then LEM"))

    assert (verdict(90.0), verdict(98.0), verdict(99.0)) == ("agrees", "undecided", "differs")


def test_a_small_percentage_is_not_near_another_for_being_small() -> None:
    """EFT saves 0.9 % of the waiting for files there and 4.4 % here: a number that differs in size."""
    left = {"fcfs": 100.0, "eft": 95.6, "leo": 98.0, "lem": 92.9, "lea": 82.9}
    weeks = [
        {
            rule: {"file_wait": x + seed / 9, "core_time": x, "reuses": 1, "files": 2}
            for rule, x in left.items()
        }
        for seed in range(4)
    ]
    found = {claim.claim.rpartition(", ")[2]: claim.verdict for claim in list(_files("KTH", weeks))[1:5]}
    assert found == {"EFT": "in part", "LEA": "agrees", "LEO": "in part", "LEM": "agrees"}


def test_claims_that_need_no_log() -> None:
    """Fill times, planned areas, the weeks that a shuffle gives, and 49,000 h / 9,720 = 5.04 h."""
    found = list(_exact())
    assert [claim.verdict for claim in found] == ["arithmetic"] * 4
    assert [claim.ours for claim in found][2:] == ["28, 13, 43, 41, 42, 8, 6, 36, 2, 50, 40, 1", "5.04"]
