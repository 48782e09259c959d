"""headway compare: who gains and who loses, on a log small enough to work out by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from rich.table import Table

from commands import SWF, Headway
from headway.cli.display import output
from headway.cli.tables import comparison_table, ledger_table, verdict
from headway.metrics import compare
from headway.metrics.comparison import brief, difference
from headway.workload.ledger import Ledger, LedgerEntry
from small_schedules import schedule


@pytest.fixture
def headway(headway: Headway) -> Headway:
    headway.write("log.swf", SWF)
    return headway


JOBS = [
    (0.0, 1, 10.0, 10.0),
    (0.0, 2, 10.0, 10.0),
    (0.0, 4, 10.0, 10.0),
    (5.0, 3, 10.0, 10.0),
    (5.0, 2, 1.0, 1.0),
]
USERS = {"user": np.array([7, 7, 8, 9, -1]), "queue": np.array([0, 0, 0, 0, 1])}


def test_differences_add_up() -> None:
    before = schedule(JOBS, [0, 0, 20, 40, 10], 4, columns=USERS)
    after = schedule(JOBS, [0, 5, 10, 45, 8], 4, columns=USERS)
    found = difference(before, after)
    assert (found.earlier, found.later, found.same) == (2, 2, 1)
    users = {change.name: change for change in found.classes["user"]}
    assert {name: (c.jobs, c.before, c.after, c.saved, c.verdict) for name, c in users.items()} == {
        "-": (1, 5, 3, 2, "better"),
        "7": (2, 0, 2.5, -5, "worse"),
        "8": (1, 20, 10, 10, "better"),
        "9": (1, 35, 40, -5, "worse"),
    }
    assert [c.name for c in found.winners("user", 5)] == ["8", "-"]
    assert [c.name for c in found.losers("user", 1)] == ["7"]
    assert [(c.name, c.jobs, c.saved) for c in found.classes["size"]] == [
        ("1", 1, 0),
        ("2", 2, -3),
        ("3-4", 2, 5),
    ]
    assert [(c.job, c.before, c.after) for c in found.jobs] == [
        (3, 20, 10),
        (5, 5, 3),
        (2, 0, 5),
        (4, 35, 40),
    ]
    for key in ("size", "user", "queue"):
        assert sum(change.saved for change in found.classes[key]) == 2


def test_long_names_are_shown_whole(capsys: pytest.CaptureFixture[str]) -> None:
    """A name that is wider than its column goes on in the next line."""
    names = [f"./policies/fair_share_{letter}.py:FairShare(half_life=604800)" for letter in "ab"]
    runs = [schedule(JOBS, [0, 0, 20, 40, 10], 4, columns=USERS) for _ in names]
    comparison_table(output(), compare(runs, names=names))
    shown = capsys.readouterr().out
    assert "…" not in shown and shown.count("fair_share_") == shown.count("FairShare(") == 2


def test_policies_inside_nodes_are_called_as_they_were_given() -> None:
    assert brief("fcfs(backfill=none, presence=contiguous, match=fits)") == "fcfs"
    assert brief("fcfs(backfill=none, presence=contiguous, match=exact)") == "fcfs(match=exact)"
    assert brief("easy(presence=contiguous, match=fits, order=fcfs, backfill=fcfs, depth=1)") == "easy"
    assert brief("fcfs(match=fits)") == "fcfs(match=fits)"  # where there may be counted processors


def test_only_jobs_that_both_have_are_compared() -> None:
    before = schedule(JOBS[:3], [0, 0, 20], 4, columns={"job": np.array([1, 2, 3])})
    after = schedule(JOBS[1:3], [5, 10], 4, columns={"job": np.array([3, 2])})
    found = difference(before, after)
    assert (found.earlier, found.later, found.same) == (1, 1, 0)
    assert [(change.job, change.after) for change in found.jobs] == [(3, 5), (2, 10)]
    assert not compare([before, after]).same_jobs


def test_the_table_says_who_gains_and_who_loses(headway: Headway) -> None:
    # FCFS starts the jobs at 0, 10, 20, 20; shortest first at 0, 10, 2, 20: only job 3 of user 1 gains.
    out = headway("compare", "log.swf", "--policy", "fcfs", "--policy", "sjf").out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "2 2 9 s 0 s, 100 % shorter" in lines  # the size class of the jobs of two processors
    assert "sjf instead of fcfs" in lines
    assert "1 job starts earlier, 0 later, 3 as before" in lines
    assert "user 1 2 9 s 0 s, 100 % shorter" in lines
    assert "job 3 2 8 s 18 s 0 s 18 s earlier" in lines
    assert not any(line.startswith(("user 2", "user 3", "queue")) for line in lines)


def test_five_metrics_are_shown_unless_others_are_asked_for(headway: Headway) -> None:
    def shown(*more: str) -> list[str]:
        told = headway("compare", "log.swf", "--policy", "fcfs", "--policy", "sjf", "--details", "0", *more)
        return [line.split()[0] for line in told.out.splitlines()[3:] if line.strip()]

    assert shown() == ["utilization", "mean_wait", "median_wait", "p95_wait", "mean_bsld", "sjf"]
    assert shown("--metric", "max_wait") == ["max_wait", "sjf"]
    assert {"makespan", "tau", "max_queue"} < set(shown("--metric", "all"))
    refused = headway("compare", "log.swf", "--policy", "fcfs", "--policy", "sjf", "--metric", "mean_wiat")
    assert refused.status == 2 and "did you mean 'mean_wait'?" in refused.err


def test_the_last_sentence_says_which_is_best_and_whether_that_may_be_chance() -> None:
    week, second = 604_800, 1

    def runs(waits: list[int], names: tuple[str, str] = ("one", "two")) -> str:
        jobs = [(week * place, 5 * second, 5 * second, 1) for place in range(len(waits))]
        submitted = [job[0] for job in jobs]
        late = [at + wait for at, wait in zip(submitted, waits, strict=True)]
        each = [schedule(jobs, start, 4) for start in ([at + 100 for at in submitted], late)]
        return verdict(compare(each, names=list(names)))

    few = runs([50, 60, 50])
    assert few == (
        "two has the shortest mean wait: 53.3 s, 47 % shorter than under one; "
        "3 weeks are too few to tell whether that is chance."
    )
    clear = runs([50, 60, 50, 60, 50, 60, 50, 60])
    assert "two has the shortest mean wait: 55 s, 45 % shorter than under one; more than chance" in clear
    assert "(95 % interval over 8 weeks: -49% to -41%)" in clear
    unsure = runs([10, 180, 20, 150, 30, 190, 10, 160])
    assert "which may be chance" in unsure
    assert runs([100] * 8) == "All have the same mean wait, 100 s."


def test_details_can_be_left_out(headway: Headway) -> None:
    out = headway("compare", "log.swf", "--policy", "fcfs", "--policy", "sjf", "--details", "0").out
    assert "mean_wait" in out and "instead of" not in out
    refused = headway("compare", "log.swf", "--policy", "fcfs", "--policy", "sjf", "--details", "-1")
    assert (refused.status, refused.err) == (2, "headway: --details must be at least 0, not -1\n")


def test_the_written_comparison_has_metrics_and_differences(headway: Headway) -> None:
    headway("compare", "log.swf", "--policy", "fcfs", "--policy", "sjf", "--quiet", "--out", "both")
    document = json.loads((headway.folder / "both/comparison.json").read_text())
    [mean] = [row for row in document["metrics"] if row["metric"] == "mean_wait"]
    assert (mean["values"], mean["verdict"]) == ([11, 6.5], ["", "better"])
    [each] = document["differences"]
    assert (each["from"], each["to"]) == ("fcfs", "sjf")
    assert (each["jobs_earlier"], each["jobs_later"], each["jobs_same"]) == (1, 0, 3)
    assert [row["name"] for row in each["by_user"]] == ["1", "2", "3"]
    assert (
        each["most_changed"]
        == [{"job": 3, "user": "1", "procs": 2, "walltime": 8, "before": 18, "after": 0, "why": "backfill"}]
        or each["most_changed"][0]["job"] == 3
    )
    printed = json.loads(headway("compare", "log.swf", "--policy", "fcfs", "--policy", "sjf", "--json").out)
    assert printed["differences"] == document["differences"]


def test_machines_are_compared_too(headway: Headway) -> None:
    out = headway("compare", "log.swf", "--policy", "fcfs", "--procs", "+100%", "--out", "sizes").out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "metric fcfs on 4 fcfs on 8" in lines and "fcfs on 8 instead of fcfs on 4" in lines
    assert sorted(path.name for path in (headway.folder / "sizes").iterdir() if path.is_dir()) == [
        "fcfs-on-4",
        "fcfs-on-8",
    ]
    both = ("--policy", "fcfs", "--policy", "sjf", "--procs", "4", "--procs", "+2", "--json")
    names = [each["name"] for each in json.loads(headway("compare", "log.swf", *both).out)["schedules"]]
    assert names == ["fcfs on 4", "sjf on 4", "fcfs on 6", "sjf on 6"]


@pytest.mark.parametrize(
    ("procs", "sentence"),
    [
        (("many",), "--procs must be a whole number, or a change such as +64 or +10%, not 'many'"),
        (("10%",), "--procs must be a whole number, or a change such as +64 or +10%, not '10%'"),
        (("-4",), "--procs must be at least 1, not -4"),
        (("4", "4"), "--procs gives the machine of 4 processors twice; each is compared once"),
        (("4",), "compare needs two policies or two machines; give --policy or --procs again"),
    ],
)
def test_machines_that_cannot_be(headway: Headway, procs: tuple[str, ...], sentence: str) -> None:
    options = [part for size in procs for part in (f"--procs={size}",)]
    refused = headway("compare", "log.swf", "--policy", "fcfs", *options)
    assert (refused.status, refused.err) == (2, f"headway: {sentence}\n")


def test_the_report_of_a_comparison_is_that_of_its_folder(headway: Headway) -> None:
    words = ("compare", "log.swf", "--policy", "fcfs", "--policy", "easy", "--out", "both")
    assert headway(*words, "--report", "page.txt").status == 2
    shown = headway(*words, "--report", "now.html")
    assert shown.out.endswith("written to both and now.html\n")
    assert headway("report", "both", "-o", "later.html", "--quiet").status == 0
    now, later = ((headway.folder / name).read_text("utf-8") for name in ("now.html", "later.html"))
    heads = [page.split("<title>")[1].split("</title>")[0] for page in (now, later)]
    assert heads[0] == heads[1] and "fcfs" in heads[0] and "easy" in heads[0]
    assert "compare log.swf --policy fcfs" in now  # how to make it again
    again = headway("compare", "log.swf", "--policy", "fcfs", "--policy", "easy", "--report", "now.html")
    assert again.status == 2 and "--force" in again.err


def test_an_earlier_comparison_in_the_folder_is_gone(headway: Headway) -> None:
    """Its runs are no part of the new one, and are not judged with it; what else is there stays."""
    headway("compare", "log.swf", "--policy", "fcfs", "--policy", "easy", "--out", "both")
    (headway.folder / "both" / "mine").mkdir()
    headway("compare", "log.swf", "--policy", "sjf", "--policy", "easy", "--out", "both", "--force")
    folders = {entry.name for entry in (headway.folder / "both").iterdir() if entry.is_dir()}
    assert folders == {"sjf", "easy", "mine"}
    headway("simulate", "log.swf", "--policy", "fcfs", "--out", "both/mine")
    judged = headway("audit", "both", "--json")
    assert judged.status == 0 and '"mine"' not in judged.out and '"sjf"' in judged.out


def test_a_report_on_a_log_of_which_no_job_is_left(headway: Headway) -> None:
    headway.write("none.swf", "; MaxProcs: 4\n1 5 -1 -1 2 -1 -1 2 0 -1 5 1 1 1 1 1 -1 -1\n")
    words = ("compare", "none.swf", "--policy", "easy", "--policy", "fcfs", "--report", "none.html")
    assert headway(*words).status == 0
    assert "had no job to schedule" in (headway.folder / "none.html").read_text()


def test_no_number_is_cut_or_broken_on_a_narrow_terminal(
    headway: Headway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table that does not fit is wider than the terminal; a column was left out, and numbers were cut."""
    monkeypatch.setattr("headway.cli.display.PIPED_WIDTH", 24)
    told = headway("compare", "log.swf", "--policy", "easy", "--policy", "fcfs").out.splitlines()
    rows = {line.split()[0]: line.split() for line in told if line.strip()}
    assert rows["metric"] == ["metric", "easy", "fcfs"]
    assert rows["mean_wait"][:5] == ["mean_wait", "6.5", "s", "11", "s,"]
    facts = headway("inspect", "log.swf").out.splitlines()
    assert ["mean", "run", "time", "11.25", "s"] in [line.split() for line in facts]


def test_jobs_of_the_ledger_are_numbered_in_full(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headway.cli.display.PIPED_WIDTH", 80)
    jobs = tuple(range(1_001_501, 1_001_507))
    action = "submitted before a job above it: scheduled in order of submit"
    ledger_table(output(), Ledger(9, (LedgerEntry("out_of_order", action, 6, jobs),)))
    shown = capsys.readouterr().out
    assert all(str(job) in shown for job in jobs[:5]) and "…" not in shown


def test_an_endless_word_makes_no_table_endless(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(box=None)
    table.add_column("nodes")
    table.add_column("count", justify="right", no_wrap=True)
    table.add_row("n" * 900, "123456")
    output().print(table)
    shown = capsys.readouterr().out
    assert "123456" in shown and max(map(len, shown.splitlines())) <= 120
