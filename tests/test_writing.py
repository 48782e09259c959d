"""What is written appears whole or not at all, replaces nothing but regular files, and is never a mixture."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import headway
from commands import SWF, Headway
from headway import Schedule
from headway.errors import InputError, UsageError
from headway.workload import Workload
from headway.writing import draft_of, replacing, write_text
from small_schedules import schedule

JOBS = [(0.0, 2, 10.0, 12.0), (1.0, 3, 5.0, 6.0)]
COMMANDS = {
    "convert": ("convert", "log.swf", "{}.swf", "--force"),
    "convert, packed": ("convert", "log.swf", "{}.swf.gz", "--force"),
    "convert to Batsim": ("convert", "log.swf", "{}.json", "--force"),
    "anonymise": ("anonymise", "log.swf", "{}.swf", "--force"),
    "generate": ("generate", "lublin", "jobs=5", "procs=4", "-o", "{}.swf", "--force"),
    "plot": ("plot", "run", "--kind", "gantt", "-o", "{}.svg", "--force"),
    "report": ("report", "run", "-o", "{}.html", "--force"),
    "replay": ("replay", "waits.swf", "--no-causes", "--out", "{}.json", "--force"),
    "replay, a report": ("replay", "waits.swf", "--no-causes", "--report", "{}.html", "--force"),
    "anonymise, a site": ("anonymise", "site", "{}.tar.gz", "--force"),
}
"""Commands that write one file, by its name without ending."""


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Headway:
    schedule(JOBS, [0, 10], procs=3).save(tmp_path / "run")
    headway = Headway(tmp_path, capsys, monkeypatch)
    headway.write("log.swf", SWF)
    headway.write("waits.swf", SWF.replace(" -1 ", " 3 ", 4))
    (tmp_path / "site").mkdir()
    headway.write("site/slurm.conf", "ClusterName=c\nNodeName=n1 CPUs=4\nPartitionName=p Nodes=n1\n")
    return headway


def words(command: str, name: str) -> tuple[list[str], Path]:
    found = [word.format(name) for word in COMMANDS[command]]
    return found, Path(next(word for word in found if word.startswith(f"{name}.")))


@pytest.mark.parametrize("command", COMMANDS)
def test_only_regular_files_are_replaced(run: Headway, command: str) -> None:
    given, path = words(command, "target")
    precious = run.folder / "precious"
    precious.write_text("precious")
    target = run.folder / path
    for kind in ("link", "FIFO", "folder"):
        if kind == "link":
            target.symlink_to(precious)
        elif kind == "FIFO":
            os.mkfifo(target)
        else:
            target.mkdir()
        told = run(*given)
        assert told.status == 2 and "only regular files are replaced" in told.err, told.err
        target.rmdir() if target.is_dir() and not target.is_symlink() else target.unlink()
    assert precious.read_text() == "precious"
    assert not [name for name in run.files() if "target" in name]
    assert run(*given).status == 0 and target.is_file()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_leaves_what_was_there(run: Headway, command: str) -> None:
    given, path = words(command, "target")
    assert run(*given).status == 0  # and whatever libraries keep for themselves is written now
    before, there = run.files(), (run.folder / path).read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40, hard))
    try:
        told = run(*given)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert told.status == 2, told.err
    [sentence] = told.err.splitlines()
    assert sentence.startswith("headway: ") and "cannot be written" in sentence
    assert run.files() == before
    assert (run.folder / path).read_bytes() == there


SWEEP = 'metrics = ["jobs"]\n[[workload]]\ntrace = "log.swf"\n[[policy]]\npolicy = "fcfs"\n'


@pytest.mark.parametrize("limit", [40, 400, 1500, 3000])
@pytest.mark.parametrize(
    "command", ["simulate log.swf --policy fcfs --out new", "sweep s.toml --workers 1 --out new"]
)
def test_a_full_disk_is_told_in_one_sentence(run: Headway, command: str, limit: int) -> None:
    """Wherever in the writing of several files it is noticed, by Python or by Polars."""
    run.write("s.toml", SWEEP)
    assert run(*command.replace("new", "first").split()).status == 0
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        told = run(*command.split(), "--quiet")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert told.status == 2, told.err
    [sentence] = told.err.splitlines()
    assert sentence.startswith("headway: ") and "too large" in sentence


@pytest.mark.parametrize("limit", [40, 3000])
def test_a_folder_on_a_full_disk_is_named(tmp_path: Path, limit: int) -> None:
    """From Python, too: Polars tells it in words of its own, which name no place."""
    ones = [1] * 100
    workload = Workload.from_arrays(unit="s", submit=ones, procs=ones, runtime=ones, walltime=ones)
    made = headway.simulate(workload, 4, "fcfs")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        with pytest.raises(UsageError, match=r"run cannot be written: File too large; choose another folder"):
            made.save(tmp_path / "run")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())


def test_a_disk_that_is_full_anywhere_in_a_table_is_told_in_one_sentence(tmp_path: Path) -> None:
    """Polars calls a table whose last bytes find no room out of specification."""
    workload = Workload.from_arrays(unit="s", submit=[0], procs=[1], runtime=[1])
    table = headway.simulate(workload, 4, "fcfs").frame()
    table.write_parquet(tmp_path / "whole")
    size = (tmp_path / "whole").stat().st_size
    told = r"new cannot be written: .*(too large|takes no more); choose"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for limit in range(1, size, size // 40):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            with pytest.raises(UsageError, match=told), replacing(tmp_path / "new") as draft:
                table.write_parquet(draft)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert [entry.name for entry in tmp_path.iterdir()] == ["whole"]


def test_tables_are_not_written_under_a_name_that_is_not_utf8(run: Headway) -> None:
    odd = os.fsdecode(b"new\xff")
    run.write("s.toml", SWEEP)
    for command in ("simulate log.swf --policy fcfs --out", "sweep s.toml --workers 1 --out"):
        told = run(*command.split(), odd)
        assert told.status == 2 and "is not a name in UTF-8" in told.err, told.err


def test_what_is_written_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with pytest.raises(KeyboardInterrupt), replacing(path) as draft:
        draft.write_text("half")
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())
    write_text(path, "whole")
    assert path.read_text() == "whole" and len(list(tmp_path.iterdir())) == 1


def test_drafts_of_killed_processes_are_cleaned_up_and_others_are_not(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    mine = draft_of(tmp_path / "file")
    dead = Path(re.sub(rf"-{os.getpid()}\.", f"-{ended.pid}.", str(mine)))
    alive = Path(re.sub(rf"-{os.getpid()}\.", "-1.", str(mine)))
    other = tmp_path / ".other.part"
    for path in (dead, alive, other):
        path.write_text("draft")
    old = dead.with_suffix(".old")
    old.mkdir()
    write_text(tmp_path / "file", "whole")
    assert sorted(tmp_path.iterdir()) == sorted([alive, other, tmp_path / "file"])


def test_a_mixture_of_two_runs_is_refused(tmp_path: Path) -> None:
    schedule(JOBS, [0, 10], procs=3).save(tmp_path / "a")
    schedule(JOBS, [10, 0], procs=3).save(tmp_path / "b")
    Schedule.load(tmp_path / "a")
    for name in ("schedule.csv", "schedule.parquet", "summary.json"):
        shutil.copy(tmp_path / "a" / name, tmp_path / "kept")
        shutil.copy(tmp_path / "b" / name, tmp_path / "a" / name)
        with pytest.raises(InputError, match=rf"a/{re.escape(name)}.*: is not of the same run as run\.json"):
            Schedule.load(tmp_path / "a")
        (tmp_path / "a" / name).unlink()
        if name != "schedule.csv":
            with pytest.raises(InputError, match=r"is missing next to run\.json"):
                Schedule.load(tmp_path / "a")
        shutil.copy(tmp_path / "kept", tmp_path / "a" / name)
    (tmp_path / "a" / "runs.csv").write_text("job,start,end\n")
    with pytest.raises(InputError, match=r"runs\.csv: is not of the same run"):
        Schedule.load(tmp_path / "a")


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (lambda rows: [*rows[:2], rows[2].replace("2,1,10,", "2,1,11,")],
         r"schedule\.csv:3: start: .* since: job 2 has 11, and 10 in schedule\.parquet;"),
        (lambda rows: [rows[0], rows[1].replace("1,0,", "1,-1,", 1), rows[2].replace("2,1,", "2,,", 1)],
         r"schedule\.csv:2: submit: .* job 1 has -1, and 0 in schedule\.parquet \(2 rows differ\);"),
        (lambda rows: [rows[0], rows[2]],
         r"schedule\.csv:2: .* has 1 row, and schedule\.parquet 2, which has job 1 here;"),
        (lambda rows: [*rows, rows[2]],
         r"schedule\.csv:4: .* has 3 rows, and schedule\.parquet 2, which has nothing more;"),
        (lambda rows: rows[1:],
         r"schedule\.csv: is not of the same run as run\.json, or was changed since; "),
    ],
)  # fmt: skip
def test_what_was_changed_in_a_table_is_told(
    tmp_path: Path, edit: Callable[[list[str]], list[str]], told: str
) -> None:
    schedule(JOBS, [0, 10], procs=3).save(tmp_path / "a")
    table = tmp_path / "a" / "schedule.csv"
    table.write_text("\n".join(edit(table.read_text().splitlines())) + "\n")
    with pytest.raises(InputError, match=told):
        Schedule.load(tmp_path / "a")


def test_one_who_is_killed_between_two_renames_leaves_no_mixture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stop before each rename in turn: the folder holds the second run, or none that can be read."""

    class Killed(BaseException):
        pass

    first, second = schedule(JOBS, [0, 10], procs=3), schedule(JOBS, [10, 0], procs=3)
    starts = [each.start.tolist() for each in (first, second)]
    seen = set()
    for renames in range(6):
        left = [renames]

        def replace(old: object, new: object, left: list[int] = left) -> None:
            if not left[0]:
                raise Killed
            left[0] -= 1
            os.rename(str(old), str(new))

        out = tmp_path / f"out{renames}"
        first.save(out)
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", replace)
            try:
                second.save(out, force=True)
            except Killed:
                seen.add("killed")
        try:
            seen.add(str(starts.index(Schedule.load(out).start.tolist())))
        except (UsageError, InputError):
            seen.add("none")
    assert seen == {"killed", "1", "none"}


def headway_process(
    *given: str, interpreted: bool = True, **options: object
) -> subprocess.CompletedProcess[str]:
    code = "from headway.cli import main; main()"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    environment["NUMBA_DISABLE_JIT"] = "1" if interpreted else "0"
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [sys.executable, "-c", code, *given], capture_output=True, text=True, env=environment, **options
    )


def test_closed_standard_streams_are_quiet(run: Headway) -> None:
    commands = ["inspect log.swf 0>&-", "policies easy 1>&-", "policies easy 2>&-", "policies >/dev/full"]
    for command in commands:
        done = subprocess.run(
            ["bash", "-c", f'"$0" -m headway {command}', sys.executable],
            cwd=run.folder, capture_output=True, text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        full = "/dev/full" in command
        assert done.returncode == (2 if full else 0) and done.stderr.count("\n") == full, done.stderr


def test_sigterm_ends_a_command_as_ctrl_c_does(run: Headway) -> None:
    script = "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\ndef key(job): return 0\n"
    run.write("mine.py", script)
    done = headway_process("simulate", "log.swf", "--policy", "strict(order=./mine.py:key)", cwd=run.folder)
    assert done.returncode == 130 and done.stderr.endswith("headway: interrupted\n")
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
