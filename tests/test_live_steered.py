"""A Slurm whose starts are Headway's: what becomes of jobs that it does not begin at once, loses or ends.

Its commands are given here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from headway.live.accounts import Accounts
from headway.live.grid_file import Grid
from headway.live.journal import Journal
from headway.live.slurm.commands import Slurm
from headway.live.slurm.server import SlurmServer
from headway.live.slurm.steered import SlurmJobs, SteeredServer
from headway.live.wire import NoAnswer
from headway.policies.grid.notes import STARTED
from headway.policies.spec import make_spec
from headway.units import SECOND
from live_grids import cluster, folder, marked, short, written

NAME = "hw-g-1.0.1"


class Commands:
    """A controller's commands; jobs are (name, state) by their numbers."""

    def __init__(self) -> None:
        self.jobs: dict[int, tuple[str, str]] = {}
        self.given: list[int] = []
        self.cancelled: list[int] = []
        self.operated: list[tuple[str, ...]] = []
        self.silent = 0
        """How many commands are not answered yet."""

    def run(self, *words: str) -> str:
        if self.silent:
            self.silent -= 1
            raise NoAnswer("cluster little does not answer")
        if words[0] == "sbatch":
            name = next(word.partition("=")[2] for word in words if word.startswith("--job-name="))
            self.given.append(len(self.given) + 1)
            self.jobs[self.given[-1]] = name, "PENDING"
            return f"{self.given[-1]}\n"
        if words[0] == "scontrol":
            self.operated.append(words)
            return ""
        if words[0] == "scancel":
            self.cancelled.append(int(words[1]))
            return ""
        now = int(time.time())
        lines = (
            f"{number}|{state}|2|N/A|N/A|1:00|None|1|{now}|main|ada||||{name}"
            for number, (name, state) in self.jobs.items()
        )
        return marked(words, *lines)

    def turn(self, state: str) -> None:
        """The last job gets a state."""
        self.jobs[self.given[-1]] = self.jobs[self.given[-1]][0], state


@pytest.fixture
def slurm(monkeypatch: pytest.MonkeyPatch) -> Commands:
    made = Commands()
    monkeypatch.setattr(Slurm, "run", lambda _, *words, text="": made.run(*words))
    monkeypatch.setattr("headway.live.slurm.steered.FRESH", -1.0)
    monkeypatch.setattr("headway.live.slurm.steered.SETTLING", 0.0)
    return made


@pytest.fixture
def grid() -> Iterator[Grid]:
    with folder() as path:
        table = cluster("little", 2, kind="slurm", policy="fcfs", steer=True).replace("True", "true")
        yield written(path, table)


def served(grid: Grid) -> SteeredServer:
    return SteeredServer(grid, grid.sites[0], control=True)


def given(grid: Grid, walltime: float) -> SteeredServer:
    """A server that has handed a task to Slurm, which has not begun it."""
    server = served(grid)
    server.submit(NAME, "hw-g-1", short(1, walltime, 2).as_json())
    server.release(NAME)
    server.tick()
    return server


def begun(grid: Grid) -> Path:
    """The job's script begins."""
    fence = grid.fence / "hw-g-1"
    fence.mkdir(parents=True)
    (fence / "started").write_text("4711 little\n")
    return fence


def told(server: SteeredServer) -> dict[str, object]:
    found: dict[str, object] = server.poll([NAME])["jobs"][NAME]
    return found


def ticking(server: SteeredServer, until: Callable[[], object], seconds: float = 10) -> float:
    """Look after the cluster until something is true; how long that took."""
    begin = time.monotonic()
    while not until():
        assert time.monotonic() < begin + seconds
        server.tick()
        time.sleep(0.02)
    return time.monotonic() - begin


def test_a_job_for_which_slurm_has_no_room_waits_and_then_has_its_whole_walltime(
    grid: Grid, slurm: Commands
) -> None:
    server = given(grid, walltime=0.5)
    later = time.monotonic() + 1.2
    ticking(server, lambda: time.monotonic() > later)
    assert slurm.given == [1] and not slurm.cancelled
    assert told(server) == {"state": "waiting", "procs": 2, "code": None}
    slurm.turn("RUNNING")
    fence = begun(grid)
    server.tick()
    state = told(server)
    assert state["state"] == "running"
    assert state["started"] == (fence / "started").stat().st_mtime_ns // 1000
    assert ticking(server, lambda: slurm.cancelled) > 0.3
    assert told(server)["state"] == "killed"
    server.stop()


@pytest.mark.parametrize("steer", [True, False])
def test_what_jobs_of_slurm_print_is_the_owners_alone(grid: Grid, slurm: Commands, steer: bool) -> None:
    grid.folder.mkdir(mode=0o755)
    if steer:
        given(grid, walltime=60).stop()
    else:
        site = replace(grid.sites[0], policy=make_spec("conservative"))
        SlurmServer(grid, site, control=True)._sbatch(NAME, "hw-g-1", short(1), 1)
    assert slurm.given == [1]
    assert (grid.folder / "little/output").stat().st_mode & 0o077 == 0


def test_what_a_controller_did_not_answer_to_is_asked_again(slurm: Commands) -> None:
    """A job that nobody resumes stays suspended until it is killed for its walltime."""
    jobs = SlurmJobs(Slurm("little", "", 5))
    slurm.jobs[7] = NAME, "SUSPENDED"
    slurm.silent = 2
    with pytest.raises(NoAnswer):
        jobs.resume(7, NAME)
    with pytest.raises(NoAnswer):
        jobs.tend()
    jobs.tend()
    jobs.tend()
    assert slurm.operated == [("scontrol", "resume", "7")]


def test_a_job_that_the_controller_lost_before_it_began_is_handed_over_again(
    grid: Grid, slurm: Commands
) -> None:
    server = given(grid, walltime=60)
    slurm.jobs.clear()
    ticking(server, lambda: slurm.given == [1, 2])
    assert told(server)["state"] == "waiting"
    server.stop()


@pytest.mark.parametrize(
    ("slurms", "state"), [("CANCELLED", "cancelled"), ("TIMEOUT", "killed"), ("NODE_FAIL", "failed")]
)
def test_what_ended_a_job_without_a_word_is_as_slurm_says(
    grid: Grid, slurm: Commands, slurms: str, state: str
) -> None:
    server = given(grid, walltime=60)
    begun(grid)
    slurm.turn(slurms)
    server.tick()
    assert told(server)["state"] == state
    server.stop()


def test_a_server_that_was_killed_finds_its_job_by_name_and_its_end_by_the_fence(
    grid: Grid, slurm: Commands
) -> None:
    """It had handed the job over, and no time to write its number down."""
    server = given(grid, walltime=60)
    entry = server.entries[1]
    server.queue.set(entry.number, pid=None)
    server.stop()
    slurm.turn("RUNNING")
    fence = begun(grid)
    server = served(grid)
    ticking(server, lambda: server.entries[1].pid == 1)
    assert told(server)["state"] == "running" and slurm.given == [1]
    (fence / "exit").write_text("0\n")
    ended = int(time.time()) - 30
    os.utime(fence / "started", (ended - 9, ended - 9))
    os.utime(fence / "exit", (ended, ended))
    slurm.turn("COMPLETED")
    server.tick()
    state = told(server)
    assert (state["state"], state["started"], state["ended"]) == (
        "done", (ended - 9) * SECOND, ended * SECOND
    )  # fmt: skip
    server.stop()


def test_a_server_begins_when_slurm_answers(
    grid: Grid, slurm: Commands, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before that nobody knows what runs; what a killed server left half done is done then."""
    server = given(grid, walltime=60)
    server.queue.set(1, state="killed")
    server.queue.commit()
    server.stop()
    monkeypatch.setattr("headway.live.slurm.steered.RETRY", 0.01)
    slurm.silent = 3
    served(grid).stop()
    said = capsys.readouterr().err.splitlines()
    assert [line.partition(" cluster")[2] for line in said] == [
        " little does not answer; the server begins when it does"
    ]
    assert slurm.cancelled


def test_a_task_that_its_policy_stopped_waits_again_and_goes_nowhere_else(
    grid: Grid, slurm: Commands
) -> None:
    server = given(grid, walltime=60)
    asked = short(1, 60, 2)
    server._set(server.entries[1], state="waiting", runs=1, pid=None)
    assert server.estimate(NAME, asked.as_json()) == {"completion": STARTED, "procs": 0}
    server.stop()
    with closing(Journal(grid.folder / "journal.db")) as journal:
        row = journal.add_task(asked, 0)
        attempt = journal.add_attempt(row, "little", 0)
        journal.set_attempt(attempt.number, state="released")
        accounts = Accounts(journal, [], print)
        accounts._heard(attempt, {"state": "running", "started": 5 * SECOND}, 6 * SECOND)
        assert journal.task(1).state == "running"
        accounts._heard(attempt, {"state": "waiting"}, 7 * SECOND)
        assert (journal.task(1).state, journal.task(1).started) == ("waiting", None)


def test_what_an_operator_suspends_keeps_its_walltime_and_is_not_resumed(grid: Grid, slurm: Commands) -> None:
    """Its policy has not suspended it, so that a server that begins anew leaves it alone, too."""
    server = given(grid, walltime=0.5)
    slurm.turn("RUNNING")
    begun(grid)
    server.tick()
    slurm.turn("SUSPENDED")
    later = time.monotonic() + 1.2
    ticking(server, lambda: time.monotonic() > later)
    server.stop()
    server = served(grid)
    server.tick()
    assert told(server)["state"] == "running" and not slurm.cancelled and not slurm.operated
    slurm.turn("RUNNING")
    assert ticking(server, lambda: slurm.cancelled) > 0.1  # what was left of its walltime
    server.stop()
