"""The report without a browser: what is in the file, and that it says the truth."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import SWF, Headway
from headway import Schedule
from headway.campaign import Results
from headway.errors import UsageError
from headway.metrics import compare
from headway.report import campaign_page, schedules_page
from headway.report.jobs import packed, packed_times, unpacked
from headway.schedule import WHY
from headway.workload import Header, Workload
from small_schedules import pieces, schedule

# On 4 processors: the second job waits 10 s for the first, the third 18 s for the second.
JOBS = [(0.0, 2, 10.0, 12.0), (1.0, 4, 10.0, 10.0), (2.0, 2, 5.0, 8.0), (3.0, 1, 20.0, 20.0)]
IN_ORDER, BACKFILLED = [0.0, 10.0, 20.0, 20.0], [0.0, 23.0, 2.0, 3.0]


def two() -> list[Schedule]:
    columns = {"user": [1, 2, 1, 3], "queue": [1, 1, 1, 1]}
    first = schedule(JOBS, IN_ORDER, 4, "fcfs", columns)
    second = schedule(JOBS, BACKFILLED, 4, "sjf", columns)
    second.why[:] = [WHY.index(name) for name in ("immediate", "head", "backfill", "backfill")]
    return [first, second]


def data_of(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found
    return dict(json.loads(found[1]))


def test_jobs_that_are_not_the_same_in_both_runs_are_told() -> None:
    first, second = two()
    assert compare([first, second]).unlike == {}
    assert "The runs differ in" not in schedules_page([first, second])
    longer = [(0.0, 2, 11.0, 12.0), (1.0, 4, 10.0, 10.0), (2.0, 2, 5.5, 9.0), (3.0, 1, 20.0, 20.0)]
    other = schedule(longer, BACKFILLED, 4, "sjf", {"user": [1, 2, 1, 3], "queue": [1, 1, 1, 1]})
    assert compare([first, second, other]).unlike == {"walltimes": 1, "run times": 2}
    told = "The runs differ in the walltimes of 1 job and run times of 2 jobs, and other differences may come"
    assert told in schedules_page([first, second, other])


@given(st.lists(st.integers(-(2**50), 2**50)), st.integers(1, 3600))
def test_columns_come_back(values: list[int], step: int) -> None:
    column = [value // step * step for value in values]
    assert unpacked(packed(column)).tolist() == column


def test_times_come_back_in_seconds() -> None:
    assert unpacked(packed_times([0, 3_600_000_000])).tolist() == [0, 3600]
    assert unpacked(packed_times([500_000, 3_000_001])) == pytest.approx([0.5, 3.000001], abs=1e-12)


def test_numbers_a_browser_cannot_hold_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot show exactly"):
        packed([2**61, 1])


def test_the_page_holds_the_schedule() -> None:
    data = data_of(schedules_page(two()))
    assert unpacked(data["jobs"]["submit"]).tolist() == [0, 1, 2, 3]
    waits = [unpacked(each["columns"]["wait"]).tolist() for each in data["schedules"]]
    assert waits == [[0, 9, 18, 17], [0, 22, 0, 0]]
    why = unpacked(data["schedules"][1]["columns"]["why"])
    assert [data["why"][int(code)] for code in why] == ["immediate", "head", "backfill", "backfill"]
    assert data["schedules"][0]["bands"] == [{"name": "machine", "size": 4, "offset": 0}]


def test_the_page_knows_the_date_where_all_logs_say_the_same() -> None:
    def dated(each: Schedule, start: int) -> Schedule:
        header = Header([f"; UnixStartTime: {start}"])
        return replace(each, workload=Workload(dict(each.workload.columns), header=header))

    first, second = two()
    assert data_of(schedules_page([first, second]))["origin"] is None
    assert data_of(schedules_page([dated(first, 893466664), dated(second, 893466664)]))["origin"] == 893466664
    assert data_of(schedules_page([dated(first, 893466664), dated(second, 5)]))["origin"] is None


def test_a_job_that_only_the_second_has_stands_once() -> None:
    first = schedule(JOBS[:3], IN_ORDER[:3], 4, "fcfs", {"job": [7, 8, 9]})
    second = schedule(JOBS[1:], IN_ORDER[1:], 4, "sjf", {"job": [8, 9, 10]})
    data = data_of(schedules_page([first, second]))
    assert unpacked(data["jobs"]["job"]).tolist() == [7, 8, 9, 10]
    assert [unpacked(each["columns"]["rows"]).tolist() for each in data["schedules"]] == [
        [0, 1, 2],
        [1, 2, 3],
    ]


def test_pieces_and_queue_of_a_suspended_job() -> None:
    rows = [(0, 0, "running", 0, 5, 2, "suspended"), (0, 0, "suspended", 5, 8, 2, "resumed"),
            (0, 0, "running", 8, 13, 2, "done"), (1, 0, "running", 5, 8, 4, "done")]  # fmt: skip
    made = schedule([(0.0, 2, 10.0, 10.0), (4.0, 4, 3.0, 3.0)], [0.0, 5.0], 4, "fcfs", pieces=pieces(rows))
    made.end[0] = 13_000_000
    columns = data_of(schedules_page([made]))["schedules"][0]["columns"]
    assert unpacked(columns["piece_start"]).tolist() == [0, 8, 5]
    assert unpacked(columns["piece_row"]).tolist() == [0, 0, 1]
    assert unpacked(columns["length"]).tolist() == [13, 3]
    assert (unpacked(columns["wait_from"]).tolist(), unpacked(columns["wait_to"]).tolist()) == (
        [0, 4],
        [0, 5],
    )


def test_the_verdict_says_what_the_numbers_say() -> None:
    text = schedules_page(two()).replace("\u00a0", " ")
    # Mean waits: (0 + 9 + 18 + 17) / 4 = 11 s and (0 + 22 + 0 + 0) / 4 = 5.5 s, half of it.
    assert "the mean wait falls from 11 s to <b>5.5 s</b>" in text
    assert '<span class="better">(−50.0 %)</span>' in text
    assert "50 % of the jobs start earlier, 25 % later" in text
    alone = schedules_page(two()[1:]).replace("\u00a0", " ")
    assert "50 % were backfilled" in alone and "The longest wait, 22 s, is job 2" in alone


def test_a_unit_stays_in_the_line_of_its_number() -> None:
    text = schedules_page(two())
    assert "the mean wait falls from 11\u00a0s to" in text and "50\u00a0% of the jobs" in text


def test_two_schedules_that_are_alike() -> None:
    first, _ = two()
    other = schedule(JOBS, IN_ORDER, 4, "easy", {"user": [1, 2, 1, 3], "queue": [1, 1, 1, 1]})
    assert "Every job starts when it did." in schedules_page([first, other])


def test_the_verdict_tells_of_deadlines_and_urgent_jobs() -> None:
    """Ends are 10, 20, 25, 40 and 10, 33, 7, 23; the urgent jobs 2 and 4 wait 9 and 17, and 22 and 0 s."""
    due = {"deadline": [10, 21, 24, -1], "urgent": [0, 1, 0, 1]}
    runs = [
        schedule(JOBS, starts, 4, name, due) for starts, name in ((IN_ORDER, "fcfs"), (BACKFILLED, "sjf"))
    ]
    text = schedules_page(runs).replace("\u00a0", " ")
    assert "Deadlines met: fcfs <b>2 of 3</b> and sjf <b>2 of 3</b>." in text
    assert "Mean wait of urgent jobs: fcfs <b>13 s</b> and sjf <b>11 s</b>." in text
    assert "Deadlines met: <b>2 of 3</b>." in schedules_page(runs[:1])
    # The urgent job with a deadline ends 1 s before it, and 12 s after it: no share of anything.
    row = {row.metric: row for row in compare(runs).rows()}["urgent_margin_mean"]
    assert row.values == (1.0, -12.0) and row.change == (None, None)
    assert "<span>−12</span>" in text
    assert "mean time from the end of an urgent job to its deadline" in text


def test_jobs_that_change_their_size_are_counted_by_the_first_run() -> None:
    """The second run has job 1 on one processor; it stays among those of two, as in the first."""
    first, _ = two()
    columns = {"user": [1, 2, 1, 3], "queue": [1, 1, 1, 1]}
    second = schedule([(0.0, 1, 10.0, 12.0), *JOBS[1:]], BACKFILLED, 4, "moldable", columns)
    tables = [run["classes"]["size"] for run in data_of(schedules_page([first, second]))["schedules"]]
    assert [[(row["name"], row["jobs"]) for row in table] for table in tables] == [
        [("1", 1), ("2", 2), ("3-4", 1)]
    ] * 2
    change = {one.name: one.after for one in compare([first, second]).differences[0].classes["size"]}
    assert {row["name"]: row["mean_wait"] for row in tables[1]} == change


def test_runs_of_different_jobs_have_no_winner() -> None:
    """One run is of the log's beginning: what both have is the same, its means are of fewer jobs."""
    beginning = schedule(JOBS[:3], IN_ORDER[:3], 4, "easy", {"user": [1, 2, 1], "queue": [1, 1, 1]})
    text = schedules_page([two()[0], beginning])
    assert "the same jobs: <b>fcfs</b> has 4 jobs and <b>easy</b> has 3 jobs" in text
    assert "has the lower" not in text


def test_nothing_is_fetched_and_names_cannot_break_out() -> None:
    evil = "</script><img src=x>"
    made = schedule(JOBS, IN_ORDER, 4, evil)
    made.provenance["command"] = f"headway simulate '{evil}'"
    text = schedules_page([made], command=evil)
    assert evil not in text
    assert text.count("</script>") == 2
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", text)
    assert "https://" not in text and "http://" not in text


def test_a_year_of_a_large_machine_stays_small() -> None:
    # 20 bytes a job would be 10 MB for 500,000 jobs; columns here are as random as columns get.
    rng = np.random.default_rng(0)
    count = 20_000
    jobs = list(zip(np.cumsum(rng.integers(1, 120, count)).tolist(), rng.integers(1, 400, count).tolist(),
                    rng.integers(1, 90_000, count).tolist(), (rng.integers(1, 1440, count) * 60).tolist(),
                    strict=True))  # fmt: skip
    starts = [job[0] + wait for job, wait in zip(jobs, rng.integers(0, 90_000, count).tolist(), strict=True)]
    columns = {"user": rng.integers(0, 500, count), "queue": rng.integers(0, 8, count)}
    made = schedule(jobs, starts, 100_000, "fcfs", columns)
    data = data_of(schedules_page([made]))
    columns = data["jobs"] | data["schedules"][0]["columns"]
    assert sum(len(column["data"]) for column in columns.values()) / count < 15


def campaign() -> pl.DataFrame:
    """Two policies on six weeks; easy is better in each of them, by a half, a third, a quarter, ..."""
    rows = []
    for week in range(6):
        base = {"cell": f"f{week}", "label": "fcfs", "baseline": f"f{week}", "mean_bsld": 100.0}
        rows += [base, {"cell": f"e{week}", "label": "easy", "baseline": f"f{week}",
                        "mean_bsld": 100.0 * (1 - 1 / (week + 2))}]  # fmt: skip
        for row in rows[-2:]:
            row |= {"block": f"week {week}", "part": week, "workload": "KTH", "machine": "100 processors",
                    "policy": row["label"], "seed": 0, "status": "done", "error": None}  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"error": pl.String})


def test_a_campaign_with_its_failures(tmp_path: Path) -> None:
    failed = {"cell": "x", "label": "mine", "baseline": "f0", "mean_bsld": None, "block": "week 0",
              "part": 0, "workload": "KTH", "machine": "100 processors", "policy": "mine", "seed": 0,
              "status": "failed", "error": "it <broke>"}  # fmt: skip
    table = pl.concat([campaign(), pl.DataFrame([failed], schema=campaign().schema)])
    text = campaign_page(Results(tmp_path, table)).replace("\u00a0", " ")
    assert "<b>easy</b> has the lowest mean bounded slowdown" in text
    # The mean of 1/2, 1/3, 1/4, 1/5, 1/6 and 1/7 is 26.5 %.
    assert re.search(
        r"<b>easy</b> against its baseline: .* changes by .*−26.5 %.* over 6 blocks: better", text
    )
    assert "it &lt;broke&gt;" in text
    assert len(data_of(text)["cells"]) == 12


def test_the_best_policy_of_a_campaign_may_be_no_better_than_its_baseline(tmp_path: Path) -> None:
    """Four blocks are too few; of one that is worse in every other block nobody is named the best."""
    few = campaign_page(Results(tmp_path, campaign().filter(pl.col("part") < 4)))
    assert "Too few blocks to tell which policy has the lowest mean bounded slowdown on average." in few
    up_and_down = (
        pl.when((pl.col("label") == "easy") & (pl.col("part") % 2 == 0))
        .then(139)
        .otherwise(pl.when(pl.col("label") == "easy").then(50).otherwise(100))
    )
    text = campaign_page(Results(tmp_path, campaign().with_columns(mean_bsld=up_and_down.cast(float))))
    assert "No policy has the lowest mean bounded slowdown for sure: <b>" in text
    assert "has the lowest mean bounded slowdown on average" not in text


def test_each_of_two_loads_has_a_verdict_of_its_own(tmp_path: Path) -> None:
    """Better under the one and worse under the other: pooled, nothing could be told apart."""
    one = campaign()
    swapped = pl.when(pl.col("label") == "easy").then(300.0).otherwise(pl.col("mean_bsld"))
    other = one.with_columns(
        workload=pl.lit("heavy"), cell="heavy" + pl.col("cell"), baseline="heavy" + pl.col("baseline"),
        mean_bsld=swapped,
    )  # fmt: skip
    results = Results(tmp_path, pl.concat([one, other]))
    verdicts = dict(results.verdicts("mean_bsld").select("workload", "verdict").iter_rows())
    first = one["workload"][0]
    assert verdicts == {first: "better", "heavy": "worse"}
    leads = results.leads("mean_bsld")
    assert [lead.labels for lead in leads.values() if lead] == [["easy"], ["fcfs"]]
    text = campaign_page(results)
    assert f"<b>{first}</b>: <b>easy</b> has the lowest mean bounded slowdown on average: " in text
    assert "<b>heavy</b>: <b>fcfs</b> has the lowest mean bounded slowdown on average: " in text


def test_a_policy_that_ran_fewer_jobs_is_not_the_best_of_a_campaign(tmp_path: Path) -> None:
    """Fewer jobs wait less; so do those of the weeks whose cells did not fail."""
    same = campaign().with_columns(jobs=pl.lit(100))
    fewer = same.filter(pl.col("label") == "easy").with_columns(
        label=pl.lit("few"), cell="few" + pl.col("cell"), jobs=pl.lit(90), mean_bsld=pl.col("mean_bsld") / 2
    )
    missing = fewer.filter(pl.col("part") > 0).with_columns(jobs=pl.lit(100))
    for other in (fewer, missing):
        text = campaign_page(Results(tmp_path, pl.concat([same, other])))
        assert "<b>easy</b> has the lowest mean bounded slowdown" in text
        assert ", of the 2 policies that ran the same jobs." in text
    alone = campaign_page(Results(tmp_path, pl.concat([same.filter(pl.col("label") == "easy"), fewer])))
    assert "None has the lowest mean bounded slowdown, as no two of them ran the same jobs." in alone


@pytest.fixture
def headway(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Headway:
    for place, made in enumerate(two()):
        made.save(tmp_path / f"run{place}")
    (tmp_path / "campaign").mkdir()
    campaign().write_parquet(tmp_path / "campaign" / "results.parquet")
    (tmp_path / "log.html").write_text(SWF)
    return Headway(tmp_path, capsys, monkeypatch)


def test_the_command_writes_what_python_makes(headway: Headway) -> None:
    result = headway("report", "run0", "run1", "-o", "both.html")
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith("report of run0, run1 written to both.html")
    text = (headway.folder / "both.html").read_text("utf-8")
    assert "<pre>headway report run0 run1 -o both.html</pre>" in text
    assert [each["name"] for each in data_of(text)["schedules"]] == ["run0 (fcfs)", "run1 (sjf)"]
    assert "written to run1.html" in headway("report", "run1").out
    quiet = headway("report", "campaign", "-o", "c.html", "--quiet")
    assert (quiet.status, quiet.out, quiet.err) == (0, "", "")
    assert data_of((headway.folder / "c.html").read_text("utf-8"))["kind"] == "campaign"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("run0", "-o", "a.pdf"), "a report's name must end in .html"),
        (("run0", "-o", "log.html"), "log.html exists"),
        (("nothing", "-o", "a.html"), "nothing: there is no such folder"),
        (("run0", "campaign", "-o", "a.html"), "a campaign, which is reported alone"),
        (("run0", "-o", "no/folder/a.html"), "cannot be written"),
    ],
)
def test_errors_are_one_sentence(headway: Headway, words: tuple[str, ...], sentence: str) -> None:
    result = headway("report", *words)
    assert result.status == 2
    assert sentence in result.err and result.err.count("\n") == 1
    assert not list(headway.folder.glob("a.*"))


def test_runs_of_different_logs_are_not_paired(headway: Headway) -> None:
    """Job 2 of one log is not job 2 of another: there is no winner, only a description of each."""
    jobs = [(5.0, 1, 60.0, 60.0), (6.0, 1, 60.0, 60.0)]
    schedule(jobs, [5, 70], 1, policy="fcfs").save(headway.folder / "other")
    refused = headway("report", "run0", "other", "-o", "both.html")
    assert refused.status == 2 and not (headway.folder / "both.html").exists()
    assert "different logs" in refused.err and "--side-by-side" in refused.err
    done = headway(
        "report", "run0", "other", "--side-by-side", "--name", "A", "--name", "B", "-o", "both.html"
    )
    assert (done.status, done.err) == (0, "")
    text = (headway.folder / "both.html").read_text("utf-8")
    assert "nothing here is paired" in text and "<b>A</b>" in text and "<b>B</b>" in text
    words = re.sub("<style>.*</style>", "", text.split("<script")[0], flags=re.DOTALL)
    assert not re.search("lowest|instead of|earlier|better|worse", words)


def test_a_log_that_was_changed_and_written_again_is_the_same_log() -> None:
    jobs = [(0.0, 1, 60.0, 600.0), (0.0, 1, 60.0, 600.0)]
    capped = [(0.0, 1, 60.0, 300.0), (0.0, 1, 60.0, 300.0)]
    before, after = schedule(jobs, [0, 60], 1, policy="easy"), schedule(capped, [0, 60], 1, policy="easy")
    assert compare([before, after], names=["before", "after"]).kind == "runs"
    with pytest.raises(UsageError, match="1 name for"):
        compare([before, after], names=["before"])
    moved = schedule([(1.0, 1, 60.0, 600.0), (0.0, 1, 60.0, 600.0)], [60, 0], 1)
    with pytest.raises(UsageError, match="different logs"):
        compare([before, moved])


def test_machines_are_called_machines_and_runs_get_their_own_names() -> None:
    jobs = [(0.0, 1, 60.0, 600.0), (0.0, 1, 60.0, 600.0)]
    small, large = schedule(jobs, [0, 60], 1, policy="easy"), schedule(jobs, [0, 0], 2, policy="easy")
    text = schedules_page([small, large])
    assert "On 2 generated jobs, " in text and "easy on 2</b> instead of easy on 1" in text
    assert compare([small, small]).names == ("easy on 1, run 1", "easy on 1, run 2")
    titled = schedules_page([small, large], names=["today", "next year"], title="Should we buy?")
    assert "<h1>Should we buy?</h1>" in titled and "<b>next year</b> instead of today" in titled
