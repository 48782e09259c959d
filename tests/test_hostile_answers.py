"""What a live grid hears from Slurm, from servers and from its agent, and cannot believe: it is no answer."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from commands import Headway
from headway.errors import UsageError
from headway.live.accounts import Accounts
from headway.live.grid_file import Grid
from headway.live.journal import Journal, JournalError
from headway.live.local_queue import LocalQueue
from headway.live.local_server import LocalServer
from headway.live.proxy import Proxy
from headway.live.queue_now import queue_now
from headway.live.slurm.accounting import Accounting
from headway.live.slurm.commands import Slurm
from headway.live.slurm.nodes import Nodes
from headway.live.slurm.queue import look_at, parse_queue
from headway.live.slurm.steered import SlurmJobs
from headway.live.task import Task
from headway.live.wire import NoAnswer, Refused, Remote
from headway.policies.grid.notes import NO_ANSWER
from headway.units import SECOND
from live_grids import cluster, folder, written

FIELDS = "PENDING|2|N/A|N/A|10:00|Priority|9|1700000000|main|ada||||"


class Prints(Slurm):
    """A Slurm whose commands print what is given, squeue in the format it is asked for."""

    def __init__(self, **texts: str) -> None:
        super().__init__("little", "", 5)
        self.texts = texts
        self.jobs: dict[str, str] = {}
        """Names by number."""

    def run(self, *words: str, text: str = "") -> str:
        if words[0] == "squeue" and not self.texts:
            mark = words[-1].removeprefix("--format=").partition("|")[0]
            return "".join(f"{mark}|{number}|{FIELDS}{name}\n" for number, name in self.jobs.items())
        return self.texts[words[0]]


@pytest.mark.parametrize(
    "name",
    [
        "two\nlines", f"x\n99|{FIELDS}hw-forged", "a\x0bb\x0cc", "\u2028\x85", "\n",
        f"|1|{FIELDS}\n|2|{FIELDS}x",
    ],
)  # fmt: skip
def test_a_name_of_several_lines_is_one_name_and_no_other_job(name: str) -> None:
    """Anybody may call a job so; the line of another job in it would have us cancel and release that one."""
    slurm = Prints()
    slurm.jobs = {"7": name, "8": "next"}
    jobs = parse_queue(look_at(slurm))
    assert [(job.number, job.name) for job in jobs] == [("7", name.rstrip("\n")), ("8", "next")]


@pytest.mark.parametrize(
    "said",
    [
        "slurm_load_jobs: a warning\n", "7|RUNNING\n", "7|RUNNING|many" + FIELDS[9:] + "x",
        "²|" + FIELDS + "x", "7|RUNNING|2|99999999999999999|N/A|1:00|None|1|1|main|ada||||x",
        "7|PENDING|-1" + FIELDS[9:] + "x",
        "7|RUNNING|2|N/A|N/A|99999999999999-00:00:00|None|1|1|main|ada||||x",
    ],
)  # fmt: skip
def test_a_queue_that_cannot_be_read_is_unknown(
    said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("headway.live.outside.word", lambda _: "mark")
    grid = written(tmp_path, cluster("little", 4, kind="slurm"))
    for text in (said, f"mark|{said}"):
        monkeypatch.setattr(Slurm, "run", lambda *_, text=text: text)
        with pytest.raises(NoAnswer, match="squeue prints a line that is not a job's"):
            queue_now(grid, grid.sites[0])


def test_other_commands_of_slurm_that_cannot_be_read_are_no_answers() -> None:
    for line in ("n1|main*|up|idle\n", "n1|main*|up|idle|4\n", "n1|main*|up|idle|x/0/0/4\n"):
        with pytest.raises(NoAnswer, match="sinfo prints a line that is not a node's"):
            Nodes(Prints(sinfo=line)).look()
    assert Nodes(Prints(sinfo="\n")).look() == []
    slurm = Prints(scontrol="accounting_storage/slurmdbd", sacct="7|RUNNING|4\n")
    with pytest.raises(NoAnswer, match="sacct prints a line that is not a job's: '7"):
        Accounting(slurm).last("hw-x")
    with pytest.raises(NoAnswer, match="sbatch prints something else than a job's number"):
        SlurmJobs(Prints(sbatch="welcome to this cluster\n")).hand_over([], "")


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal(tmp_path / "journal.db")) as made:
        yield made


class Says:
    """A server that always says the same."""

    def __init__(self, answer: object) -> None:
        self.answer: Any = json.loads(json.dumps(answer))

    def ask(self, request: str, **data: Any) -> Any:
        return self.answer


HUGE = 10**30
FAR = 1 << 62
RUNS = {"state": "running", "started": 5}


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("estimate", {"completion": HUGE, "procs": 1}),
        ("estimate", {"completion": 5, "procs": -HUGE}),
        ("estimate", {"completion": 5, "procs": 1, "start": "soon"}),
        ("submit", {"completion": FAR, "procs": 1}),
        ("submit", {"completion": 5, "procs": 1, "latest_end": HUGE}),
        ("submit", {"completion": 5, "procs": 1, "walltime": 1.5}),
        ("poll", {"jobs": {"mine": {"state": "done", "ended": HUGE}}, "others": []}),
        ("poll", {"jobs": {"mine": {"state": "done", "code": FAR}}, "others": []}),
        ("poll", {"jobs": {"mine": {"state": "sleeping"}}, "others": []}),
        ("poll", {"jobs": {"mine": RUNS | {"spans": [[0, "suspended", 1, HUGE]]}}, "others": []}),
        ("poll", {"jobs": {"mine": RUNS | {"spans": [[-1, "suspended", 1, 2]]}}, "others": []}),
        ("poll", {"jobs": {"mine": RUNS}, "others": ["\ud800"]}),
    ],
)
def test_what_the_journal_could_not_hold_is_no_answer(journal: Journal, asked: str, answer: object) -> None:
    """Some of it ended the agent, some was written, and the journal could not be read any more."""
    with pytest.raises(NoAnswer, match=f"cluster odd does not answer {asked} soundly"):
        Proxy("odd", Says(answer), journal).ask(asked, names=["mine"])  # type: ignore[arg-type]


def test_a_job_of_which_times_and_size_are_unknown_is_taken_note_of(journal: Journal) -> None:
    """One that Slurm had forgotten when the agent came back stopped all settling for ever."""
    row = journal.add_task(Task(("true",), 1, 5 * SECOND), 0)
    attempt = journal.add_attempt(row, "odd", 0)
    job = {"state": "done", "procs": None, "started": 5, "ended": 9, "code": 0}
    proxy = Proxy("odd", Says({"jobs": {attempt.name: job}, "others": []}), journal)  # type: ignore[arg-type]
    accounts = Accounts(journal, [proxy], print)
    accounts.settle(0)
    accounts.poll(0)
    assert journal.task(1).state == "done" and journal.attempt(1).state == "over"
    other = journal.add_attempt(row, "odd", 0)
    proxy.accepted(other, {"completion": NO_ANSWER, "start": NO_ANSWER, "procs": 4})
    found = journal.attempt(2)
    assert (found.procs, found.completion, found.start) == (4, None, None)


TASK = {"task": 3, "name": "x", "state": "done", "submitted": 5, "started": 5, "ended": 6, "moves": 0}
MOVED = {"time": 5, "kind": "moved", "source": "a", "target": "b", "before": 7, "after": 6}


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (
            (
                "live",
                "queue",
            ),
            {},
        ),
        (
            (
                "live",
                "queue",
            ),
            {"tasks": [{}], "counts": {}},
        ),
        (
            (
                "live",
                "queue",
            ),
            {"tasks": [TASK | {"submitted": "now"}], "counts": {}},
        ),
        (
            (
                "live",
                "queue",
            ),
            {"tasks": [TASK | {"task": True}], "counts": {}},
        ),
        (
            (
                "live",
                "queue",
            ),
            {"tasks": [TASK], "counts": {"done": []}},
        ),
        (
            (
                "live",
                "status",
            ),
            {"counts": []},
        ),
        (("live", "status", "3"), TASK),
        (("live", "status", "3"), TASK | {"decisions": [MOVED | {"after": "sooner"}]}),
        (("live", "status", "3"), TASK | {"decisions": [{"time": 5, "kind": "mapped"}]}),
        (("live", "status", "3"), TASK | {"decisions": [{"time": 5, "kind": "lost", "answers": {"a": 7}}]}),
        (("live", "cancel", "3"), TASK | {"state": None}),
        (("live", "submit", "--walltime", "5", "true"), {"task": 3}),
        (("live", "submit", "--walltime", "5", "--dry-run", "true"), {"cluster": "a"}),
    ],
)
def test_an_agent_that_says_something_else_has_not_answered(
    run: Headway, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], answer: object
) -> None:
    grid = written(run.folder, cluster("a", 1))
    monkeypatch.setenv("HEADWAY_GRID", str(grid.file))
    monkeypatch.setattr(Remote, "_exchange", lambda *_: (200, json.dumps(answer).encode()))
    done = run(*words)
    assert done.status == 2 and "with something else than was asked for" in done.err
    assert done.err.startswith("headway: the agent does not answer: ") and done.err.count("\n") == 1


def test_what_an_agent_says_in_order_is_shown(run: Headway, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = written(run.folder, cluster("a", 1))
    monkeypatch.setenv("HEADWAY_GRID", str(grid.file))
    said = TASK | {"decisions": [MOVED], "tasks": [TASK], "counts": {"done": 1}}
    monkeypatch.setattr(Remote, "_exchange", lambda *_: (200, json.dumps(said).encode()))
    assert "moved from a to b, completed 0.0 s earlier" in run("live", "status", "3").out
    assert "1 done" in run("live", "queue").out


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE {0} SET {1} = CAST(x'ff' AS TEXT)",
        "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = CAST(x'e9' AS TEXT) WHERE name = '{0}'",
        "UPDATE {0} SET state = 'asleep'",
    ],
)
def test_tables_of_journal_and_queue_that_cannot_be_read(tmp_path: Path, damage: str) -> None:
    task = Task(("true",), 1, 5 * SECOND)
    with closing(Journal(tmp_path / "journal.db")) as journal:
        journal.add_task(task, 0)
    queue = LocalQueue(tmp_path / "queue.db", 0)
    queue.add("hw-x", "hw-x", task.text(), 1, 0)
    queue.commit()
    queue.close()
    for file, table, column in (("journal.db", "tasks", "spec"), ("queue.db", "jobs", "task")):
        with closing(sqlite3.connect(tmp_path / file)) as database, database:
            database.executescript(damage.format(table, column))
    with pytest.raises(JournalError), closing(Journal(tmp_path / "journal.db")) as again:
        again.all_tasks()
    with pytest.raises(Refused, match="the queue"), closing(LocalQueue(tmp_path / "queue.db", 0)) as back:
        back.named("hw-x")


def test_an_index_of_the_queue_that_does_not_know_a_job(tmp_path: Path) -> None:
    with closing(LocalQueue(tmp_path / "queue.db", 0)) as queue:
        queue.rows("CREATE TRIGGER lost AFTER INSERT ON jobs BEGIN DELETE FROM jobs; END")
        with pytest.raises(Refused, match="is damaged: a job that was just written to it is not there"):
            queue.add("hw-x", "hw-x", Task(("true",), 1, 5 * SECOND).text(), 1, 0)


@pytest.fixture
def grid() -> Iterator[Grid]:
    with folder() as path:
        yield written(path, cluster("a", 1))


@pytest.mark.parametrize("wrong", [{"walltime": 10**400}, {"procs": 10**30}, {"forms": [[10**30, 5]]}])
def test_numbers_of_a_task_without_end_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=r"a task's .* must be from 1 to below"):
        Task.from_json({"command": ["true"], "walltime": 5} | wrong)


def test_a_task_that_takes_many_times_as_long_on_fewer_processors_is_taken(grid: Grid) -> None:
    """Sixty times as long: how long it will run is unknown, and that was multiplied too."""
    server = LocalServer(grid, grid.sites[0], control=True)
    task = Task(("true",), 64, 60 * SECOND, parallel_fraction=1.0)
    answer = server.submit("hw-g-1.0.1", "hw-g-1.0", task.as_json())
    assert (answer["procs"], answer["walltime"]) == (1, 64 * 60 * SECOND)
    endless = Task(("true",), 1 << 39, 90 * 365 * 86_400 * SECOND, parallel_fraction=1.0)
    with pytest.raises(Refused, match="cannot run a task"):
        server.submit("hw-g-2.0.1", "hw-g-2.0", endless.as_json())
    server.stop()


def test_a_held_task_whose_walltime_passes_is_not_killed_but_waits_on(grid: Grid) -> None:
    """Whoever had to release it came late; it has not begun, and has its whole walltime before it."""
    server = LocalServer(grid, grid.sites[0], control=True)
    server.submit("hw-g-1.0.1", "hw-g-1.0", Task(("true",), 1, SECOND // 10).as_json())
    for _ in range(3):
        time.sleep(0.15)
        server.tick()
        assert server.poll(["hw-g-1.0.1"])["jobs"]["hw-g-1.0.1"]["state"] == "held"
    server.stop()
    again = LocalServer(grid, grid.sites[0], control=True)
    time.sleep(0.15)
    assert again.release("hw-g-1.0.1") == {"released": True}
    end = time.monotonic() + 20
    while again.poll(["hw-g-1.0.1"])["jobs"]["hw-g-1.0.1"]["state"] in ("waiting", "running"):
        assert time.monotonic() < end
        again.tick()
        time.sleep(0.01)
    found = again.poll(["hw-g-1.0.1"])["jobs"]["hw-g-1.0.1"]
    assert found["state"] in ("done", "killed") and found["started"] is not None
    again.stop()
