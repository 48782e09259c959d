"""What the commands do when all is well, on a log small enough to schedule by hand."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import headway as package
from commands import SWF, Headway, every_command
from headway import Schedule
from headway.cli import main
from headway.cli.application import MODULES, MOVED, PANELS
from headway.cli.simulate import machines, widest
from headway.platform import Platform
from headway.policies.catalogue import POLICIES
from headway.policies.spec import parse_spec


@pytest.fixture
def headway(headway: Headway) -> Headway:
    headway.write("log.swf", SWF)
    return headway


# Job 1 (2 processors) runs 0-10 of 12 requested. Job 2 needs all four and waits; its shadow is 12. Job 3
# (2 processors, 8 s) fits in before it at 2; job 4 (20 s) would not, and starts after job 2.
EASY_STARTS = {"1": "0", "2": "10", "3": "2", "4": "20"}
FCFS_STARTS = {"1": "0", "2": "10", "3": "20", "4": "20"}


def starts(schedule: Path) -> dict[str, str]:
    with schedule.open(newline="") as file:
        return {row["job"]: row["start"] for row in csv.DictReader(file)}


def test_simulate_writes_the_schedule_worked_by_hand(headway: Headway) -> None:
    result = headway("simulate", "log.swf", "--policy", "easy", "--out", "result")
    assert result.status == 0
    folder = headway.folder / "result"
    assert starts(folder / "schedule.csv") == EASY_STARTS
    assert sorted(path.name for path in folder.iterdir()) == [
        "run.json",
        "schedule.csv",
        "schedule.parquet",
        "summary.json",
    ]
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["jobs"], summary["mean_wait"], summary["max_wait"]) == (4, 6.5, 17)
    run = json.loads((folder / "run.json").read_text())
    assert run["command"] == "headway simulate log.swf --policy easy --out result"
    assert run["policy"] == str(parse_spec("easy"))
    assert run["version"] == package.__version__
    assert run["platform"]["total_procs"] == 4
    assert "mean_wait" in result.out and "written to result" in result.out


def test_the_summary_has_units(headway: Headway) -> None:
    lines = headway("simulate", "log.swf", "--policy", "easy").out.splitlines()
    [wait] = [line.split() for line in lines if line.startswith("mean_wait")]
    assert wait == ["mean_wait", "6.5", "s"]
    assert lines[0] == "4 jobs in the log, nothing unusual"
    assert "easy(order=fcfs, backfill=fcfs," in lines[2] and lines[2].endswith("on 4 processors")


def test_the_ledger_is_shown_and_adds_up(headway: Headway) -> None:
    headway.write("odd.swf", SWF + "5 4 -1 10 9 -1 -1 9 10 -1 1 1 1 -1 1 -1 -1 -1\n")
    out = headway("simulate", "odd.swf", "--policy", "fcfs").out
    assert "too_large" in out
    assert "5 jobs in the log = 4 scheduled + 1 dropped" in out


def test_json_is_one_document(headway: Headway) -> None:
    result = headway("simulate", "log.swf", "--policy", "fcfs", "--json", "--out", "result")
    document = json.loads(result.out)
    assert document["mean_wait"] == (0 + 9 + 18 + 17) / 4
    assert document["ledger"] == []
    saved = json.loads((headway.folder / "result/summary.json").read_text())
    assert {key: document[key] for key in saved} == saved


def test_quiet_prints_nothing(headway: Headway) -> None:
    result = headway("simulate", "log.swf", "--policy", "easy", "--quiet", "--out", "result")
    assert (result.status, result.out, result.err) == (0, "", "")
    assert starts(headway.folder / "result/schedule.csv") == EASY_STARTS


def test_gzip_and_standard_input_give_the_same(headway: Headway, monkeypatch: pytest.MonkeyPatch) -> None:
    headway.write("log.swf.gz", gzip.compress(SWF.encode()))
    headway("simulate", "log.swf.gz", "--policy", "easy", "--out", "packed")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SWF.encode())))
    headway("simulate", "-", "--policy", "easy", "--out", "piped")
    assert starts(headway.folder / "packed/schedule.csv") == EASY_STARTS
    assert starts(headway.folder / "piped/schedule.csv") == EASY_STARTS


def test_two_runs_write_the_same_bytes(headway: Headway) -> None:
    for name in ("first", "second"):
        headway("simulate", "log.swf", "--policy", "conservative", "--seed", "5", "--out", name)
    for file in ("schedule.csv", "schedule.parquet", "summary.json"):
        first, second = (headway.folder / name / file for name in ("first", "second"))
        assert first.read_bytes() == second.read_bytes()


def test_procs_and_platform_overrule_the_header(headway: Headway) -> None:
    headway.write("machine.toml", "[[cluster]]\nname = 'big'\nprocs = 9\n")
    for option in (("--procs", "9"), ("--platform", "machine.toml")):
        out = headway("simulate", "log.swf", "--policy", "fcfs", *option, "--json").out
        assert json.loads(out)["max_wait"] == 0  # 2 + 4 + 2 + 1 processors: nobody waits


def test_rules_reach_the_reader(headway: Headway) -> None:
    headway.write("over.swf", SWF.replace("3 2 -1 5 2 -1 -1 2 8", "3 2 -1 9 2 -1 -1 2 8"))
    killed = json.loads(headway("simulate", "over.swf", "--policy", "easy", "--json").out)
    trusted = json.loads(
        headway("simulate", "over.swf", "--policy", "easy", "--rule", "overrun=trust", "--json").out
    )
    assert (killed["killed"], trusted["killed"]) == (1, 0)


def test_force_replaces_the_files_and_nothing_else(headway: Headway) -> None:
    headway("simulate", "log.swf", "--policy", "fcfs", "--out", "result")
    headway.write("result/mine.txt", "keep me")
    result = headway("simulate", "log.swf", "--policy", "easy", "--out", "result", "--force")
    assert result.status == 0
    assert starts(headway.folder / "result/schedule.csv") == EASY_STARTS
    assert (headway.folder / "result/mine.txt").read_text() == "keep me"


def test_compare_side_by_side(headway: Headway) -> None:
    result = headway("compare", "log.swf", "--policy", "fcfs", "--policy", "easy", "--out", "both")
    assert result.status == 0
    [line] = [line for line in result.out.splitlines() if line.startswith("mean_wait")]
    assert line.split() == ["mean_wait", "11", "s", "6.5", "s,", "41", "%", "shorter"]
    folder = headway.folder / "both"
    assert starts(folder / "fcfs/schedule.csv") == FCFS_STARTS
    assert starts(folder / "easy/schedule.csv") == EASY_STARTS
    with (folder / "comparison.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["mean_wait"]) for row in rows] == [11, 6.5]
    document = json.loads((folder / "comparison.json").read_text())
    assert [entry["name"] for entry in document["schedules"]] == ["fcfs", "easy"]


def test_compare_gives_folders_names_for_any_shell(headway: Headway) -> None:
    policies = ("easy", "easy(backfill=sjf)", "easy(backfill=saf, depth=2)")
    words = [word for policy in policies for word in ("--policy", policy)]
    assert headway("compare", "log.swf", *words, "--quiet", "--out", "all").status == 0
    names = sorted(path.name for path in (headway.folder / "all").iterdir() if path.is_dir())
    assert names == ["easy", "easy-backfill=saf-depth=2", "easy-backfill=sjf"]


def test_interrupted_comparison_keeps_what_is_finished(
    headway: Headway, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate = package.simulate
    seen: list[str] = []

    def interrupted(*inputs: Any, **others: Any) -> Schedule:
        seen.append(str(inputs[2]))
        if len(seen) == 2:
            raise KeyboardInterrupt
        return simulate(*inputs, **others)

    monkeypatch.setattr(package, "simulate", interrupted)
    words = ("--policy", "fcfs", "--policy", "easy", "--policy", "sjf")
    result = headway("compare", "log.swf", *words, "--out", "some")
    assert result.status == 130
    assert result.err.endswith("headway: interrupted\n")
    assert len(seen) == 2
    assert starts(headway.folder / "some/fcfs/schedule.csv") == FCFS_STARTS
    assert not (headway.folder / "some/easy").exists()


def test_interrupted_simulation_leaves_nothing(headway: Headway, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(package, "simulate", interrupted)
    before = headway.files()
    result = headway("simulate", "log.swf", "--policy", "easy", "--out", "result")
    assert (result.status, result.out, result.err) == (130, "", "headway: interrupted\n")
    assert headway.files() == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_real_interrupt_ends_with_130(tmp_path: Path) -> None:
    pipe = tmp_path / "log.swf"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "headway", "simulate", str(pipe), "--policy", "easy", "--procs", "4"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        held = pipe.open("wb")  # returns once the command has opened the log for reading
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        held.close()
    assert (process.returncode, out, err) == (130, "", "headway: interrupted\n")


def test_a_closed_pipe_is_no_error() -> None:
    command = [sys.executable, "-m", "headway", "policies"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


SNOWMAN = "\N{SNOWMAN}"


def test_names_that_the_terminal_cannot_show_are_escaped(
    headway: Headway, monkeypatch: pytest.MonkeyPatch
) -> None:
    headway.write(
        "jobs.txt",
        "JobID|User|State|Submit|Start|End|Elapsed|Timelimit|ReqCPUS\n"
        f"1|{SNOWMAN}|COMPLETED|1718000000|1718000000|1718000060|00:01:00|00:10:00|1\n",
    )
    for words in (("simulate", "jobs.txt", "--procs", "4", "--policy", "easy", "--out", "o"),
                  ("compare", "jobs.txt", "--procs", "4", "--policy", "easy", "--policy", "fcfs"),
                  ("explain", "o", "1"), ("inspect", "jobs.txt")):  # fmt: skip
        out, err = io.BytesIO(), io.BytesIO()
        monkeypatch.setattr(sys, "argv", ["headway", *words])
        with monkeypatch.context() as terminal, pytest.raises(SystemExit) as end:
            terminal.setattr(sys, "stdout", stdout := io.TextIOWrapper(out, "ascii", "strict"))
            terminal.setattr(sys, "stderr", stderr := io.TextIOWrapper(err, "ascii", "backslashreplace"))
            main()
        stdout.flush()
        stderr.flush()
        assert not end.value.code, err.getvalue()
        assert words[0] != "explain" or b"\\u2603" in out.getvalue()
        assert words[0] != "inspect" or b" ######" in out.getvalue()


def test_a_process_whose_terminal_has_few_characters_escapes_the_others(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "headway", "simulate", SNOWMAN, "--policy", "easy"],
        cwd=tmp_path, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert done.returncode == 2 and b"Traceback" not in done.stderr
    assert b"\\u2603: there is no such file" in done.stderr


def test_audit_of_our_own_run(headway: Headway) -> None:
    headway("simulate", "log.swf", "--policy", "conservative", "--out", "result")
    for words in ((), ("--trace", "log.swf")):
        result = headway("audit", "result", *words)
        assert (result.status, result.err) == (0, "")
        assert result.out.rstrip().endswith("all hold")


def test_audit_of_a_comparison_judges_every_run(headway: Headway) -> None:
    headway("compare", "log.swf", "--policy", "fcfs", "--policy", "easy", "--out", "both")
    document = json.loads(headway("audit", "both", "--json").out)
    assert document["ok"] is True
    assert [run["name"] for run in document["runs"]] == ["easy", "fcfs"]


def test_audit_of_another_tools_schedule(headway: Headway) -> None:
    good = "job,start,end\n1,0,10\n2,10,20\n3,2,7\n4,20,40\n"
    headway.write("good.csv", good)
    headway.write("bad.csv", good.replace("2,10,20", "2,5,15"))  # while jobs 1 and 3 still run
    assert headway("audit", "good.csv", "--trace", "log.swf").status == 0
    result = headway("audit", "bad.csv", "--trace", "log.swf", "--json")
    assert result.status == 1
    document = json.loads(result.out)
    assert document["ok"] is False
    assert any(2 in fault["jobs"] for fault in document["faults"])
    shown = headway("audit", "bad.csv", "--trace", "log.swf")
    assert shown.status == 1
    assert document["faults"][0]["message"] in shown.out and "--runs" not in shown.out


def test_audit_says_what_jobs_in_parts_need(headway: Headway) -> None:
    headway.write("longer.csv", "job,start,end\n1,0,10\n2,10,20\n3,2,7\n4,20,45\n")
    shown = headway("audit", "longer.csv", "--trace", "log.swf")
    assert shown.status == 1 and "run length" in shown.out
    assert "give the parts of such jobs with --runs FILE" in " ".join(shown.out.split())


NODES = """\
[[cluster]]
name = "one"
[[cluster.nodes]]
count = 2
cores = 2
memory_gb = 8
bandwidth_gb_s = 1
"""
GRID = '[[cluster]]\nname = "a"\nprocs = 4\n[[cluster]]\nname = "b"\nspeed = 2\nprocs = 4\n'


@pytest.mark.parametrize(
    ("policy", "annotations", "platform", "jobs"),
    [
        ("dbf(late=refuse)", "job,deadline\n2,2\n", "", [1, 3, 4]),
        ("fcfs", "job,file,file_gb\n1,a,2\n3,a,2\n", NODES, [1, 3, 4]),
        ("redirection(theta=0, group=2)", "job,urgent\n", "", [1, 2, 3, 4]),
        ("reallocation", "job,parallel_fraction\n1,0.5\n2,0.5\n", GRID, [1, 2, 3, 4]),
    ],
)
def test_audit_against_the_log_of_whom_the_run_could_take(
    headway: Headway, policy: str, annotations: str, platform: str, jobs: list[int]
) -> None:
    """Who was refused is in the ledger; what a job may have on nodes, in two groups or on a grid is known."""
    headway.write("more.csv", annotations)
    headway.write("machine.toml", platform)
    where = ("--platform", "machine.toml") if platform else ()
    assert (
        headway(
            "simulate", "log.swf", "--policy", policy, "--annotations", "more.csv", *where, "--out", "result"
        ).status
        == 0
    )
    told = Schedule.load(headway.folder / "result")
    assert told.workload.job.tolist() == jobs
    judged = headway("audit", "result", "--trace", "log.swf", "--annotations", "more.csv")
    assert judged.status == 0, judged.out
    if policy.startswith("dbf"):
        return  # a table alone does not say who was refused
    runs = ("--runs", "result/runs.csv") if (headway.folder / "result" / "runs.csv").exists() else ()
    words = ("--trace", "log.swf", "--annotations", "more.csv", "--policy", policy, *where, *runs)
    alone = headway("audit", "result/schedule.csv", *words)
    assert alone.status == 0, alone.out


def test_audit_finds_a_job_that_the_ledger_does_not_have(headway: Headway) -> None:
    headway("simulate", "log.swf", "--policy", "easy", "--out", "result")
    headway.write("longer.swf", SWF + "5 4 -1 20 1 -1 -1 1 20 -1 1 3 1 -1 1 -1 -1 -1\n")
    judged = headway("audit", "result", "--trace", "longer.swf")
    assert judged.status == 1 and "job 5 of the log is not in the schedule" in judged.out


def test_audit_says_nothing_when_quiet_but_the_status(headway: Headway) -> None:
    headway.write("bad.csv", "job,start,end\n1,0,10\n")
    result = headway("audit", "bad.csv", "--trace", "log.swf", "--quiet")
    assert (result.status, result.out, result.err) == (1, "", "")


def test_inspect_shows_header_load_and_ledger(headway: Headway) -> None:
    out = headway("inspect", "log.swf").out
    assert "Computer: Test machine" in out
    assert "Offered load" in out
    assert "nothing unusual" in out
    document = json.loads(headway("inspect", "log.swf", "--json").out)
    # 20 + 40 + 10 + 20 processor-seconds in 3 seconds of submissions on 4 processors.
    assert document["facts"]["offered load"][0] == pytest.approx(90 / 12)


def test_convert_writes_a_log_that_reads_the_same(headway: Headway) -> None:
    assert headway("convert", "log.swf", "new.swf.gz").status == 0
    assert gzip.decompress((headway.folder / "new.swf.gz").read_bytes()).decode() == SWF
    assert headway("convert", "log.swf", "exact.swf", "--apply", "exact", "--quiet").status == 0
    workload = package.read(headway.folder / "exact.swf")
    assert (workload.walltime == workload.runtime).all()


def test_policies_lists_all_of_them(headway: Headway) -> None:
    out = headway("policies").out
    for info in POLICIES.values():
        assert info.summary in out


@pytest.mark.parametrize("name", POLICIES)
def test_policies_shows_parameters_and_references(headway: Headway, name: str) -> None:
    out = " ".join(headway("policies", name).out.split())
    info = POLICIES[name]
    for reference in info.citation:
        assert reference in out
    for parameter in info.parameters:
        assert parameter.name in out
    assert info.example_command in out


def test_every_command_has_an_example_in_its_help(headway: Headway) -> None:
    names = list(every_command())
    assert len(names) > 40
    for name in names:
        result = headway(*name.split(), "--help")
        assert result.status == 0
        assert f"Example: headway {name}" in result.out
        # Arguments are shown as they are written, without Python's types and brackets around brackets.
        assert not re.search(r"<(str|int|path|list\[)", result.out), name
        assert not re.search(r"\{|\[\[", result.out.split("\n\n")[0]), name


def test_version_and_module_entry() -> None:
    command = [sys.executable, "-m", "headway", "--version"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout == f"headway {package.__version__}\n"


def test_without_a_command_help_is_shown(headway: Headway) -> None:
    whole = headway("--help").out
    assert [line for line in whole.splitlines() if line.endswith(":")][: len(PANELS)] == [
        f"{title}:" for title in PANELS
    ]
    bare = headway()
    assert (bare.status, bare.err, bare.out.rstrip()) == (0, "", whole.rstrip())
    for name in ("live", "site", "forecast", "batsim"):
        assert headway(name).out.rstrip() == headway(name, "--help").out.rstrip()


def test_options_of_later_days_come_last(headway: Headway) -> None:
    first, more = headway("simulate", "--help").out.split("More options:")
    assert "--policy SPEC" in first and "headway policies lists them" in " ".join(first.split())
    assert "--feedback" in more and "--failures" in more and "--feedback" not in first


def test_old_names_still_work_and_say_the_new_one(headway: Headway) -> None:
    moved = headway("queue", "--grid", "none.toml")
    assert moved.status == 2 and moved.err.startswith(
        "headway: 'headway queue' is now 'headway live queue'\n"
    )
    assert headway("live", "queue", "--grid", "none.toml").err == moved.err.split("\n", 1)[1]
    assert headway("batsim", "log.swf").err.startswith(
        "headway: 'headway batsim' is now 'headway batsim run'\n"
    )
    assert set(MOVED.values()) <= set(MODULES)


def test_the_word_that_may_be_left_out(headway: Headway) -> None:
    headway("site", "example", "fjord", "--quiet")
    assert headway("site", "fjord", "--json").out == headway("site", "show", "fjord", "--json").out != ""
    assert headway("datasets").out == headway("datasets", "show").out
    assert headway("datasets", "kth-sp2").out == headway("datasets", "show", "kth-sp2").out
    wrong = headway("cache", "wram")
    assert wrong.status == 2 and "did you mean 'warm'" in wrong.err


def test_the_shell_completes_policies_and_leaves_file_names_to_itself() -> None:
    def completed(*words: str) -> list[str]:
        line = ["headway", *words]
        asked = {
            "_HEADWAY_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(line),
            "COMP_CWORD": str(len(words)),
        }
        command = [sys.executable, "-m", "headway"]
        run = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | asked)
        return run.stdout.split()

    assert completed("simulate", "log.swf", "--policy", "cons") == ["conservative"]
    assert completed("repl") == ["replay"]
    # No answer: bash then completes file names (complete -o default).
    assert completed("inspect", "lo") == []


def test_other_policies_get_as_many_processors_as_redirection() -> None:
    specs = [parse_spec("easy"), parse_spec("redirection"), parse_spec("redirection(size=split)")]
    said: list[str] = []
    platforms = machines(specs, Platform.procs(100), equal=True, say=said.append)
    assert [platform.total_procs for platform in platforms] == [115, 100, 115]
    assert "redirection adds 15 processors to its 100; these get 115 too" in said[0]
    said.clear()
    platforms = machines(specs, Platform.procs(100), equal=False, say=said.append)
    assert [platform.total_procs for platform in platforms] == [100, 100, 100]
    assert "--unequal" in said[0]
    assert widest(specs, Platform.procs(100)) == 85


def test_without_redirection_nothing_is_said_of_machines() -> None:
    said: list[str] = []
    specs = [parse_spec("easy"), parse_spec("fcfs")]
    assert machines(specs, Platform.procs(9), equal=True, say=said.append) == [Platform.procs(9)] * 2
    assert said == []


NAMED = """
import sys
from headway.cli import main
sys.argv = ["headway", *sys.argv[1:]]
try:
    main()
finally:
    print(sorted(name for name in ("simulate", "sweep", "live") if f"headway.cli.{name}" in sys.modules))
"""


@pytest.mark.parametrize(
    ("asked", "made"),
    [
        (["simulate", "--help"], ["simulate"]),
        (["what-if", "--help"], []),
        (["queue", "--help"], ["live"]),  # a name from before
        (["options"], ["live", "simulate", "sweep"]),  # a module without a command
        (["--help"], ["live", "simulate", "sweep"]),
    ],
)
def test_only_the_command_that_is_named_is_made(asked: list[str], made: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", NAMED, *asked], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == str(made)
    assert ("No such command" in done.stderr) is (asked == ["options"])


def test_what_a_policy_of_ones_own_prints_is_not_in_the_json(headway: Headway) -> None:
    headway.write("noisy.py", "print('loaded')\ndef key(job):\n    print('asked')\n    return job.walltime\n")
    told = headway("simulate", "log.swf", "--policy", "easy(order=./noisy.py:key)", "--json")
    assert json.loads(told.out)["jobs"] == 4
    assert "loaded" in told.err and "asked" in told.err


@pytest.mark.parametrize("name", [name for name in POLICIES if name != "agent"])
def test_a_policys_example_runs_with_what_it_names(headway: Headway, name: str) -> None:
    """A log, a site and columns as the examples call them are all that is there."""
    for log in ("log.swf.gz", "last-month.swf"):
        headway("generate", "lublin", "jobs=30", "procs=16", "-o", log, "--quiet")
    headway("site", "example", "cluster")
    files = "job,file,file_gb,needs_node_gb\n" + "".join(f"{job},f,1,128\n" for job in range(1, 31))
    for sheet in ("files.csv", "last-month.annotations.csv"):
        (headway.folder / sheet).write_text(files)
    (headway.folder / "urgent.csv").write_text("job,urgent\n2,1\n")
    (headway.folder / "deadlines.csv").write_text("job,deadline\n2,1000000\n")
    (headway.folder / "mine.py").write_text("def key(job):\n    return job.walltime\n")
    result = headway(*shlex.split(POLICIES[name].example_command)[1:], "--json")
    assert result.status == 0, result.err
    assert json.loads(result.out)["jobs"] >= 30
