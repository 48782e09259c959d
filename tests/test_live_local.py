"""The middleware over local clusters: real processes, moves, crashes, what is refused."""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from headway import __version__
from headway.audit import audit
from headway.cli.live import said
from headway.explain import explain
from headway.live.agent import LiveAgent
from headway.live.grid_file import load_grid
from headway.live.local_server import LocalServer
from headway.live.processes import Processes
from headway.live.record import recorded
from headway.live.safety import Guard
from headway.live.server import ClusterServer
from headway.live.task import Task
from headway.live.wire import Refused
from headway.policies.grid.notes import NO_ANSWER
from headway.schedule import WHY
from headway.units import SECOND
from live_grids import cluster, folder, running, short, written


def marks(path: Path) -> Counter[str]:
    return Counter(path.read_text().split()) if path.exists() else Counter()


def test_tasks_run_once_where_they_are_completed_first() -> None:
    with folder() as path:
        grid = written(path, cluster("a", 2) + cluster("b", 1, speed=1.5))
        with running(grid) as live:
            told = [live.agent.on_submit(short(1.5, 5, mark=path / "m").as_json()) for _ in range(5)]
            # b is the faster one; then a has two free slots; the next two wait where it is best.
            assert [each["cluster"] for each in told[:3]] == ["b", "a", "a"]
            assert told[0]["completion"] - told[0]["start"] == -(-5 * SECOND * 2 // 3)
            live.until(live.all_over)
            assert {row.state for row in live.agent.journal.all_tasks()} == {"done"}
            assert marks(path / "m") == Counter(row.fence for row in live.agent.journal.all_tasks())
            verdict = audit(recorded(grid, live.agent.journal))
            assert verdict.ok, verdict.faults


def test_a_waiting_task_moves_when_another_cluster_comes_free() -> None:
    with folder() as path:
        grid = written(path, cluster("a", 1) + cluster("b", 1))
        with running(grid) as live:
            # Both clusters are planned to be busy for 30 and 20 s; a is free after half a second.
            for walltime, run in ((30, 0.5), (20, 3.0), (5, 0.1)):
                live.agent.on_submit(short(run, walltime).as_json())
            assert live.agent.on_status(3)["cluster"] == "b"
            live.until(lambda: live.agent.on_status(3)["moves"] == 1)
            assert live.agent.on_status(3)["cluster"] == "a"
            states = [each.state for each in live.agent.journal.attempts_of(3)]
            assert states[0] == "gone" and len(states) == 2
            live.until(live.all_over)
            (move,) = [each for each in live.agent.journal.decisions() if each["kind"] == "moved"]
            assert (move["source"], move["target"]) == ("b", "a")
            assert move["before"] - move["after"] >= SECOND // 2
            assert audit(recorded(grid, live.agent.journal)).ok


def test_a_server_that_was_killed_goes_on_where_it_was() -> None:
    with folder() as path:
        grid = written(path, cluster("a", 1))
        server = LocalServer(grid, grid.sites[0], True)
        for number in range(3):
            name = f"hw-x-{number}.0.{number}"
            server.handle(
                "submit", {"name": name, "fence": name[:-2], "task": short(0.4, 9, mark=path / "m").as_json()}
            )
            server.handle("release", {"name": name})
        names = [f"hw-x-{number}.0.{number}" for number in range(3)]
        before = server.handle("picture", {})
        server.queue.close()
        server.processes.leave()  # as by kill -9: nothing is told to anybody, the process of the job runs on
        again = LocalServer(grid, grid.sites[0], True)
        after = again.handle("picture", {})
        for old, new in zip(before["jobs"], after["jobs"], strict=True):
            assert (old["name"], old["state"], old["procs"]) == (new["name"], new["state"], new["procs"])
        end = monotonic() + 20
        while {job["state"] for job in again.handle("poll", {"names": names})["jobs"].values()} != {"done"}:
            assert monotonic() < end
            again.tick()
            sleep(0.05)
        assert sorted(marks(path / "m").values()) == [1, 1, 1]
        again.stop()


def test_another_policy_or_size_stops_no_task_that_runs() -> None:
    with folder() as path:
        grid = written(path, cluster("a", 4))
        server = LocalServer(grid, grid.sites[0], True)
        names = [f"hw-x-{number}.0.{number}" for number in range(3)]
        # Under conservative backfilling the third starts at once; under fcfs it would wait for the second.
        for name, procs, walltime in zip(names, (3, 2, 1), (9, 9, 5), strict=True):
            task = short(1, walltime, procs, mark=path / "m").as_json()
            server.handle("submit", {"name": name, "fence": name[:-2], "task": task})
            server.handle("release", {"name": name})
        assert server.handle("poll", {"names": names[2:]})["jobs"][names[2]]["state"] == "running"
        server.stop()
        smaller = written(path, cluster("a", 3))
        with pytest.raises(Refused, match=r"cluster a: hw-x-2.0.2 has 1 processor there, and no place under"):
            LocalServer(smaller, smaller.sites[0], True)
        other = written(path, cluster("a", 4, policy="fcfs"))
        again = LocalServer(other, other.sites[0], True)
        end = monotonic() + 20
        while {job["state"] for job in again.handle("poll", {"names": names})["jobs"].values()} != {"done"}:
            assert monotonic() < end
            again.tick()
            sleep(0.05)
        assert sorted(marks(path / "m").values()) == [1, 1, 1]
        again.stop()


def test_a_cluster_that_has_left_the_grid_file_is_named_and_keeps_nobody_from_acting() -> None:
    with folder() as path:
        with running(written(path, cluster("a", 1) + cluster("b", 1))) as live:
            live.agent.on_submit(short(0, 30, cluster="b").as_json())
            live.agent.on_submit(short(0, 30, cluster="b").as_json())
        with running(written(path, cluster("a", 1))) as live:
            assert live.agent.on_cancel(2)["state"] == "waiting"
            live.agent.on_submit(short(0, 30).as_json())
            live.until(lambda: live.agent.on_status(3)["state"] == "done")
            (said,) = [sentence for sentence in live.said if "cluster b" in sentence]
            assert said.startswith("cluster b is not in the grid file any more, and has tasks; put it back")
        with running(written(path, cluster("a", 1) + cluster("b", 1))) as live:
            live.until(live.all_over)
            assert live.agent.on_status(1)["state"] == "done"


@pytest.mark.parametrize("version", [__version__, "0"])
def test_a_busy_cluster_forgets_what_is_over_and_goes_on_after_a_kill(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the plan on disk, or, where another version wrote it, from the queue."""
    monkeypatch.setattr("headway.live.batch.FORGET_AFTER", 4)
    with folder() as path:
        grid = replace(written(path, cluster("a", 1)), keep=2)
        server = LocalServer(grid, grid.sites[0], True)

        def submit(server: LocalServer, number: int, seconds: float) -> str:
            name, task = f"hw-x-{number}.0.{number}", short(seconds, 9, mark=path / "m")
            server.handle("submit", {"name": name, "fence": name[:-2], "task": task.as_json()})
            server.handle("release", {"name": name})
            return name

        def until_done(server: LocalServer, names: list[str]) -> None:
            end = monotonic() + 30
            asked = {"names": names, "prefix": "hw-x-"}
            while {job["state"] for job in server.handle("poll", asked)["jobs"].values()} != {"done"}:
                assert monotonic() < end
                server.tick()
                sleep(0.02)

        until_done(server, [submit(server, number, 0) for number in range(6)])
        waiting = [submit(server, number, 2 if number == 6 else 0) for number in range(6, 9)]
        server.tick()  # the first runs until the server is there again, however busy the machine is
        assert server.queue.plan()[1] and len(server.queue.events()) < 9
        assert len(server.batch.engine.of_column) < 8
        before = server.handle("picture", {})
        server.queue.close()
        server.processes.leave()
        monkeypatch.setattr("headway.live.local_server.__version__", version)
        again = LocalServer(grid, grid.sites[0], True)
        after = again.handle("picture", {})
        for old, new in zip(before["jobs"], after["jobs"], strict=True):
            assert (old["name"], old["state"], old["procs"]) == (new["name"], new["state"], new["procs"])
        until_done(again, waiting)
        assert sorted(marks(path / "m").values()) == [1] * 9
        until_done(again, [submit(again, number, 0) for number in range(9, 15)])
        assert len(again.queue.live()) == 0 and again.queue.named("hw-x-14.0.14") is not None
        known = [number for number in range(9) if again.queue.named(f"hw-x-{number}.0.{number}") is not None]
        assert 0 not in known and len(known) <= 4, known  # of those that nobody asks about any more
        outputs = [file.name for file in (path / "state/a/output").iterdir()]
        assert "hw-x-0.0.out" not in outputs and len(outputs) <= 10
        again.stop()


def test_walltime_kills_and_clients_cancel() -> None:
    with folder() as path:
        grid = written(path, cluster("a", 1))
        with running(grid) as live:
            live.agent.on_submit(short(30, 0.3).as_json())
            live.agent.on_submit(short(30, 30).as_json())
            live.agent.on_submit(short(0, 30).as_json())
            live.until(lambda: live.agent.on_status(1)["state"] == "killed")
            live.until(lambda: live.agent.on_status(2)["state"] == "running")
            assert live.agent.on_cancel(3)["state"] == "cancelled"
            live.agent.on_cancel(2)
            live.until(live.all_over)
            assert live.agent.on_status(2)["state"] == "cancelled"
            first = live.agent.on_status(1)
            # A cluster whose machine pauses is late, and its clock stands for as long.
            assert round(0.3 * SECOND) <= first["ended"] - first["started"] < 20 * SECOND
            ledger = recorded(grid, live.agent.journal).workload.ledger
            assert (ledger.total, ledger.kept) == (3, 1)
            assert [(entry.action, entry.jobs) for entry in ledger] == [("cancelled: left out", (2, 3))]


def test_a_task_that_is_done_is_not_cancelled_any_more() -> None:
    with folder() as path, running(written(path, cluster("a", 1))) as live:
        name = live.agent.on_submit(short(0, 30).as_json())["batch_name"]
        server = live.servers[0]
        while server.handle("poll", {"names": [name]})["jobs"][name]["state"] != "done":
            sleep(0.05)
        # Nor one that ended after the agent last asked, just before its cancellation came.
        assert server.handle("kill", {"name": name}) == {"gone": False}
        live.agent.journal.set_task(1, wanted="cancelled")
        live.agent.accounts.settle(live.agent.now)
        assert live.agent.on_cancel(1)["state"] == "done"


def test_a_task_that_may_not_be_killed_runs_on_and_keeps_no_other_from_acting() -> None:
    with folder() as path, running(written(path, cluster("a", 1), allow='"submit", "cancel"')) as live:
        live.agent.on_submit(short(3, 30).as_json())
        live.agent.on_submit(short(0, 30).as_json())
        live.until(lambda: live.agent.on_status(1)["state"] == "running")
        with pytest.raises(Refused, match=r"kill is refused: .* allows submit, cancel; add it"):
            live.agent.on_cancel(1)
        assert live.agent.on_cancel(2)["state"] == "cancelled"
        # One that started just before its cancellation came: its cluster says no each time.
        live.agent.journal.set_task(1, wanted="cancelled")
        acts = len(live.servers[0].guard.done)
        live.until(live.all_over)
        assert live.agent.on_status(1)["state"] == "done"
        assert len(live.servers[0].guard.done) == acts


def test_a_cluster_that_refuses_to_estimate_keeps_no_task_from_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(name: str, task: dict[str, object]) -> None:
        raise Refused("its disk is full")

    with folder() as path, running(written(path, cluster("a", 1) + cluster("b", 1))) as live:
        monkeypatch.setattr(live.servers[0], "estimate", refuse)
        assert live.agent.on_submit(short(0, 5).as_json())["cluster"] == "b"
        decision = live.agent.on_explain(1)["decisions"][0]
        assert decision["answers"]["a"] == {"silent": "cluster a: its disk is full"}
        live.until(live.all_over)
        monkeypatch.setattr(live.servers[1], "estimate", refuse)
        waits = live.agent.on_submit(short(0, 5).as_json())
        assert waits["waits_for"] == "cluster a: its disk is full"
        monkeypatch.undo()
        live.until(live.all_over)
        assert live.agent.on_status(2)["state"] == "done"


def test_a_task_that_a_cluster_refuses_goes_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, fence: str, task: dict[str, object]) -> None:
        raise Refused("its user has too many jobs")

    with folder() as path, running(written(path, cluster("a", 1, speed=2) + cluster("b", 1))) as live:
        monkeypatch.setattr(live.servers[0], "submit", refuse)
        assert live.agent.on_submit(short(0, 5).as_json())["cluster"] == "b"
        monkeypatch.setattr(live.servers[1], "submit", refuse)
        waits = live.agent.on_submit(short(0, 5).as_json())
        assert waits["waits_for"] == "its user has too many jobs"
        monkeypatch.undo()
        live.until(live.all_over)
        assert live.agent.on_status(2)["state"] == "done"


def test_moves_before_a_refusal_are_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    with folder() as path:
        clusters = cluster("a", 1) + cluster("b", 3)
        grid = written(path, clusters, policy="reallocation(period=99999, threshold=1)")
        with running(grid) as live:
            live.agent.on_submit(short(20, 100, procs=3, cluster="b").as_json())
            live.agent.on_submit(short(20, 30, cluster="a").as_json())
            for _ in range(2):
                live.agent.on_submit(short(0, 20).as_json())
            assert [live.agent.on_status(task)["cluster"] for task in (3, 4)] == ["a", "a"]
            live.until(lambda: live.agent.on_status(1)["state"] == "running")
            live.agent.on_cancel(1)
            server = live.servers[1]
            assert isinstance(server, LocalServer)
            sent, submit = list[str](), server.submit

            def once(name: str, fence: str, task: dict[str, object]) -> object:
                sent.append(name)
                if len(sent) > 1:
                    raise Refused("its user has too many jobs")
                return submit(name, fence, task)

            monkeypatch.setattr(server, "submit", once)
            moves = live.agent.reallocate(live.agent.now)
            assert [move.task.number for move in moves] == [3] and len(sent) > 1
            assert live.agent.on_status(3)["moves"] == 1


@pytest.mark.parametrize("mode", ["regular", "cancel"])
def test_a_task_that_somebody_holds_where_it_waits_is_not_moved(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with folder() as path:
        policy = f"reallocation(period=99999, threshold=1, mode={mode})"
        with running(written(path, cluster("a", 1) + cluster("b", 1), policy=policy)) as live:
            live.agent.on_submit(short(20, 100, cluster="b").as_json())
            live.agent.on_submit(short(20, 30, cluster="a").as_json())
            for _ in range(2):
                live.agent.on_submit(short(0, 20).as_json())
            held = live.agent.on_status(3)["batch_name"]
            live.until(lambda: live.agent.on_status(1)["state"] == "running")
            server = live.servers[0]
            assert isinstance(server, LocalServer)
            poll = server.poll

            def polled(names: list[str], prefix: str = "") -> dict[str, Any]:
                found = poll(names, prefix)
                if held in found["jobs"]:
                    found["jobs"][held]["stays"] = True
                return found

            monkeypatch.setattr(server, "poll", polled)
            live.agent.on_cancel(1)
            live.turn()
            moves = live.agent.reallocate(live.agent.now)
            assert [move.task.number for move in moves] == [4]
            assert live.agent.on_status(3)["batch_name"] == held
            monkeypatch.undo()
            live.turn()
            assert 3 not in live.agent.accounts.staying


def test_commands_and_outputs_are_the_owners_alone_also_in_a_folder_that_others_can_read() -> None:
    with folder() as path:
        (path / "state").mkdir(mode=0o755)
        (path / "state/a").mkdir(mode=0o755)
        with running(written(path, cluster("a", 1))) as live:
            live.agent.on_submit(Task(("echo", "secret"), 1, 5 * SECOND).as_json())
            live.until(live.all_over)
            others = subprocess.run(
                ["find", path / "state", "-not", "-perm", "-o=r", "-prune", "-o", "-type", "f", "-print"],
                capture_output=True, text=True, check=True,
            ).stdout.split()  # fmt: skip
            told = [name for name in others if b"secret" in Path(name).read_bytes()]
            assert told == []


def test_a_clock_that_is_set_back_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with folder() as path:
        grid = written(path, cluster("a", 1), policy="reallocation(period=1)")
        real, ahead = time.time, [3600.0]
        monkeypatch.setattr(time, "time", lambda: real() + ahead[0])
        with running(grid) as live:
            live.agent.on_submit(short(30, 0.5).as_json())
            live.until(lambda: live.agent.on_status(1)["state"] == "running")
            live.turn()
            later = live.agent.event
            assert later is not None
            ahead[0] = 0.0
            live.until(lambda: live.agent.on_status(1)["state"] == "killed")
            live.agent.on_submit(short(0, 5).as_json())
            live.until(live.all_over)
            told = live.agent.on_status(2)
            assert told["state"] == "done" and abs(told["ended"] - real() * SECOND) < 20 * SECOND
            event = live.agent.event
            live.until(lambda: live.agent.journal.fact("event") == str(live.agent.event) != str(event))
            assert live.agent.event is not None and live.agent.event < later - 3000


@pytest.mark.parametrize("step", [-3600, -5, 5, 3600])
def test_a_clock_that_is_set_changes_no_run(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    with folder() as path:
        grid = written(path, cluster("a", 1), policy="reallocation(period=1)")
        real, ahead = time.time, [0]
        monkeypatch.setattr(time, "time", lambda: real() + ahead[0])
        with running(grid) as live:
            for seconds in (1.5, 0.1):
                live.agent.on_submit(short(seconds, 4).as_json())
            live.until(lambda: live.agent.on_status(1)["state"] == "running")
            live.turn()
            ahead[0] = step
            live.until(live.all_over)
            assert [live.agent.on_status(number)["state"] for number in (1, 2)] == ["done", "done"]
            made = recorded(grid, live.agent.journal)
            first, second = ((made.end - made.start) / SECOND).tolist()
            assert 1.5 <= first < 3.9 and 0.1 <= second < 2.5 and audit(made).ok, audit(made).faults


def test_urgent_tasks_suspend_others() -> None:
    with folder() as path:
        grid = written(path, cluster("a", 1, policy="ujfb(swap=0)"))
        with running(grid) as live:
            live.agent.on_submit(short(2.5, 9, mark=path / "m").as_json())
            live.until(lambda: live.agent.on_status(1)["state"] == "running")
            live.agent.on_submit(short(0.2, 5, urgent=True, mark=path / "m").as_json())
            live.until(lambda: live.agent.on_status(1)["state"] == "suspended")
            # Its end is not the one that it was told when nobody was urgent.
            urgent_end = live.agent.on_status(2)["completion"]
            assert live.agent.on_status(1)["completion"] > urgent_end
            live.until(lambda: live.agent.on_status(1)["state"] == "running")
            now = live.agent.on_status(1)
            ((run, state, begin, end),) = now["spans"]
            assert (run, state) == (0, "suspended")
            assert now["completion"] == now["started"] + 9 * SECOND + end - begin
            live.until(live.all_over)
            order = (path / "m").read_text().split()
            keys = [row.fence for row in live.agent.journal.all_tasks()]
            assert order == [keys[1], keys[0]]
            # That job 1 gave its processor away for a while is on record.
            schedule = recorded(grid, live.agent.journal)
            urgent = schedule.runs().filter(job=2)
            away = schedule.runs().filter(job=1)
            assert away["state"].to_list() == ["running", "suspended", "running"]
            assert away["ended"].to_list() == ["suspended", "resumed", "done"]
            assert (away["start"][1], away["end"][1]) == (urgent["start"][0], urgent["end"][0])
            assert schedule.workload.urgent.tolist() == [False, True]
            assert "It was suspended for job 2" in str(explain(schedule, 1))
            assert audit(schedule).ok, audit(schedule).faults


def test_a_suspended_task_is_killed_when_it_runs_again_and_uses_up_no_acts_before() -> None:
    with folder() as path, running(written(path, cluster("a", 1, policy="ujfb(swap=0)"))) as live:
        live.agent.on_submit(short(20, 40).as_json())
        live.until(lambda: live.agent.on_status(1)["state"] == "running")
        live.agent.on_submit(short(2, 9, urgent=True).as_json())
        live.until(lambda: live.agent.on_status(1)["state"] == "suspended")
        acts = len(live.servers[0].guard.done)
        assert live.agent.on_cancel(1)["state"] == "suspended"
        live.turn()
        assert len(live.servers[0].guard.done) == acts
        live.until(live.all_over)
        assert [live.agent.on_status(task)["state"] for task in (1, 2)] == ["cancelled", "done"]


@pytest.mark.parametrize("act", ["suspend", "resume", "kill"])
def test_a_server_killed_between_writing_and_doing_does_it_when_it_is_back(
    act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task stays suspended for ever, or runs twice, where only the word of it is on disk."""

    class Killed(BaseException):
        pass

    def killed(*_: object) -> None:
        raise Killed

    policy = "ujfb(preempt=kill)" if act == "kill" else "ujfb(swap=0)"
    with folder() as path:
        grid = written(path, cluster("a", 1, policy=policy))
        with running(grid) as live:
            live.agent.on_submit(short(1.5, 6, mark=path / "m").as_json())
            live.until(lambda: live.agent.on_status(1)["state"] == "running")
            with monkeypatch.context() as patch:
                patch.setattr(Processes, act, killed)
                with pytest.raises(Killed):
                    task = short(0.3, 6, urgent=True, mark=path / "m")
                    live.agent.proxies[0].remote.close()
                    live.agent.proxies[0].remote = Direct(live.servers[0])  # type: ignore[assignment]
                    live.agent.on_submit(task.as_json())
                    live.until(live.all_over)
        with running(grid) as live:
            live.until(live.all_over)
            assert [row.state for row in live.agent.journal.all_tasks()] == ["done", "done"]
            assert len(marks(path / "m")) == 2 and set(marks(path / "m").values()) == {1}


class Direct:
    """A server that is asked without a socket, so that what ends it is seen."""

    def __init__(self, server: ClusterServer) -> None:
        self.server = server

    def ask(self, request: str, **data: object) -> object:
        return json.loads(json.dumps(self.server.handle(request, data)))

    def close(self) -> None:
        pass


def test_a_run_that_was_given_up_for_an_urgent_task_is_on_record() -> None:
    with folder() as path:
        grid = written(path, cluster("a", 1, policy="ujfb(preempt=kill)"))
        with running(grid) as live:
            live.agent.on_submit(short(0.4, 5).as_json())
            live.until(lambda: live.agent.on_status(1)["state"] == "running")
            live.agent.on_submit(short(0.2, 5, urgent=True).as_json())
            live.until(live.all_over)
            schedule = recorded(grid, live.agent.journal)
            assert schedule.runs().filter(job=1)["ended"].to_list() == ["preempted", "done"]
            assert audit(schedule).ok, audit(schedule).faults


@pytest.mark.parametrize(
    ("policy", "asked", "ignored"),
    [
        ("easy", {"urgent": True, "deadline": 1 << 60}, ["deadline", "urgent"]),
        ("easy(urgent=first)", {"urgent": True}, []),
        ("dbf", {"urgent": True, "deadline": 1 << 60}, ["urgent"]),
        ("ujfb(swap=0)", {"urgent": True, "deadline": 1 << 60}, ["deadline"]),
        ("redirection(group=1, principal=dbf)", {"deadline": 1 << 60}, []),
        ("easy", {}, []),
    ],
)
def test_what_a_cluster_does_not_look_at_is_said(
    policy: str, asked: dict[str, Any], ignored: list[str]
) -> None:
    with folder() as path, running(written(path, cluster("a", 2, policy=policy))) as live:
        task = replace(short(0.1), **asked).as_json()
        for answer in (live.agent.on_estimate(task), live.agent.on_submit(task)):
            assert answer.get("ignored", []) == ignored and "late" not in answer
            text = said(answer)
            for name in ("deadline", "urgent"):
                assert (f"--{name} makes no difference there: the policy of a" in text) == (name in ignored)
        live.until(live.all_over)


@pytest.mark.parametrize("policy", ["dbf", "fcfs"])
def test_a_deadline_that_cannot_be_kept_is_said_at_once(policy: str) -> None:
    with folder() as path, running(written(path, cluster("a", 1, policy=policy))) as live:
        due = int(time.time() * SECOND) + 2 * SECOND
        answer = live.agent.on_submit(replace(short(0.1, 5), deadline=due).as_json())
        assert answer["late"] == (answer["latest_end"] or answer["completion"]) - due > 0
        assert "its deadline cannot be kept if it uses its whole walltime: it ends " in said(answer)
        live.until(live.all_over)


def test_redirection_has_the_processors_of_its_cluster_and_no_others() -> None:
    with folder() as path:
        grid = written(path, cluster("a", 4, policy="redirection(theta=1, group=2, filter=none)"))
        with running(grid) as live:
            for run in (2.0, 0.5, 0.5):  # at the third the first is stopped, and restarts in the other group
                live.agent.on_submit(short(run, 20, procs=2).as_json())
            assert live.servers[0].handle("picture", {})["procs"] == 4
            with pytest.raises(Refused, match="it needs 3 processors, and there are a 2"):
                live.agent.on_submit(short(1, 20, procs=3).as_json())
            live.until(live.all_over)
            schedule = recorded(grid, live.agent.journal)
            assert schedule.pieces is not None and len(schedule.pieces.job) == 2
            verdict = audit(schedule)
            assert schedule.capacity == 4 and verdict.ok, verdict.faults
            # What became of it is told as it was.
            assert schedule.groups == {"principal": 2, "redirection": 2}
            assert WHY[schedule.why[0]] == "redirected"
            told = str(explain(schedule, 1)).replace("\n", " ")
            assert ", was stopped, started again" in " ".join(told.split())
            assert "its turn had come" not in told and "redirection group" in told
            ((run, state, begin, end),) = live.agent.on_status(1)["spans"]
            assert (run, state) == (0, "given up") and begin < end


@pytest.mark.parametrize(
    ("task", "sentence"),
    [
        (Task(("true",), 9, SECOND), "no cluster can run it: it needs 9 processors, and there are a 2"),
        (Task(("true",), 1, SECOND, cluster="z"), "there is no cluster z"),
    ],
)
def test_a_task_that_no_cluster_can_run(task: Task, sentence: str) -> None:
    with folder() as path, running(written(path, cluster("a", 2))) as live:
        with pytest.raises(Refused, match=sentence):
            live.agent.on_submit(task.as_json())
        assert live.agent.on_status(1)["state"] == "refused"


def test_a_server_that_only_watches_gets_no_task() -> None:
    """It would complete the task first, and refuses it: the other one takes it."""
    with folder() as path, running(written(path, cluster("a", 4, speed=2.0) + cluster("b", 2))) as live:
        live.servers[0].guard.control = False
        assert live.agent.on_submit(short(0, 5).as_json())["cluster"] == "b"
        live.until(live.all_over)
        wide = live.agent.on_submit(short(0, 5, 4).as_json())
        assert wide["waits_for"] == "cluster a: its server only watches; start it with --control"
        live.servers[0].guard.control = True
        live.until(live.all_over)
        assert [live.agent.on_status(task)["state"] for task in (1, 2)] == ["done", "done"]


def test_a_cluster_of_a_grid_that_is_stopped_starts_none_of_its_tasks() -> None:
    """One ends meanwhile, another would be killed at its walltime; the third waits until all goes on."""
    with folder() as path:
        grid = written(path, cluster("a", 2))
        with running(grid) as live:
            for run, walltime, procs in ((0.3, 9, 1), (2.0, 1.5, 1), (0, 9, 2)):
                live.agent.on_submit(short(run, walltime, procs, mark=path / "m").as_json())

            def states() -> list[str]:
                return [live.agent.on_status(task)["state"] for task in (1, 2, 3)]

            live.until(lambda: states() == ["running", "running", "waiting"])
            (grid.folder / "STOP").touch()
            end = monotonic() + 3
            live.until(lambda: monotonic() > end)
            assert len(marks(path / "m")) == 2 and states()[2] == "waiting"
            (grid.folder / "STOP").unlink()
            live.until(live.all_over)
            assert states() == ["done", "done", "done"]
            assert marks(path / "m").total() == 3
            verdict = audit(recorded(grid, live.agent.journal))
            assert verdict.ok, verdict.faults


def test_nothing_is_done_without_control_or_when_stopped() -> None:
    with folder() as path:
        grid = written(path, cluster("a", 2))
        with running(grid, control=False) as live:
            with pytest.raises(Refused, match="only watches; start it with --control"):
                live.agent.on_submit(short(0).as_json())
            told = live.agent.on_estimate(short(0, 5).as_json())
            assert told["cluster"] == "a" and live.agent.journal.all_tasks() == []
        with running(grid) as live:
            (grid.folder / "STOP").touch()
            with pytest.raises(Refused, match="the grid is stopped"):
                live.agent.on_submit(short(0).as_json())
        (grid.folder / "STOP").unlink()
        with running(grid) as live:
            for seconds in (2, 0):
                live.agent.on_submit(short(seconds, 9, procs=2, mark=path / "m").as_json())
        with pytest.raises(Refused, match="cluster a has tasks, which its server runs; start it with"):
            LocalServer(grid, grid.sites[0], control=False)
        sleep(2.5)
        assert len(marks(path / "m")) == 1
    with (
        folder() as path,
        running(written(path, cluster("a", 2), allow='"cancel"')) as live,
        pytest.raises(Refused, match="allows cancel; add it to"),
    ):
        live.agent.on_submit(short(0).as_json())


def test_a_silent_server_is_unknown_not_empty() -> None:
    with folder() as path:
        grid = written(path, cluster("a", 1) + cluster("b", 1))
        with running(grid) as live:
            for _ in range(3):
                live.agent.on_submit(short(0.2, 5).as_json())
            there = [task for task in (1, 2, 3) if live.agent.on_status(task)["cluster"] == "b"]
            real = live.agent.proxies[1].remote.address
            live.agent.proxies[1].remote.close()
            live.agent.proxies[1].remote.address = f"unix:{path}/nobody"
            live.turn()
            assert [live.agent.on_status(task)["state"] in ("waiting", "running") for task in there] == [
                True
            ] * len(there)
            assert any("nobody does not answer" in line for line in live.said)
            assert live.agent.on_submit(short(0).as_json())["cluster"] == "a"
            live.agent.proxies[1].remote.address = real
            live.until(live.all_over)
            assert {row.state for row in live.agent.journal.all_tasks()} == {"done"}


def test_a_release_that_was_lost_in_a_crash_is_made_again() -> None:
    """Slurm's controller, killed, comes back with what it saved last: the job is held once more."""
    with folder() as path, running(written(path, cluster("a", 1))) as live:
        for _ in range(2):
            live.agent.on_submit(short(0.3, 5).as_json())
        server = live.servers[0]
        assert isinstance(server, LocalServer)
        waits = next(entry for entry in server.entries.values() if entry.state == "waiting")
        server._set(waits, held=1)
        live.until(live.all_over)
        assert live.agent.journal.counts() == {"done": 2}


@pytest.mark.parametrize("deadlines", [True, False])
def test_the_latest_end_that_a_client_is_told_holds(deadlines: bool) -> None:
    """Under dbf: a promise is kept whatever comes after it, here tasks that are shorter or wanted earlier."""
    with folder() as path, running(written(path, cluster("a", 2, policy="dbf"))) as live:
        told = []
        for number in range(8):
            latest = live.agent.now + (60 - 5 * number) * SECOND if deadlines else None
            task = short(0.1 + 0.1 * (number % 3), 2 + number % 3, 1 + number % 2, deadline=latest)
            answer = live.agent.on_submit(task.as_json())
            told.append((answer["task"], answer["latest_end"], latest))
            live.turn()
        assert all(latest_end is not None for _, latest_end, _ in told)
        assert all(deadline is None or latest_end <= deadline for _, latest_end, deadline in told)
        live.until(live.all_over)
        for task, latest_end, _ in told:
            found = live.agent.on_status(task)
            assert found["state"] == "done" and found["ended"] <= latest_end, found


def test_a_dry_run_says_what_would_be_done_and_does_nothing() -> None:
    with folder() as path:
        grid = written(path, cluster("a", 2) + cluster("b", 4))
        with running(grid) as live:
            dry = LiveAgent(grid, control=False, say=live.said.append, dry_run=True)
            try:
                told = dry.on_submit(short(0, 5, 3).as_json())
                assert told["cluster"] == "b" and told["answers"]["a"]["completion"] == NO_ANSWER
                dry.tick()
                assert dry.journal.all_tasks() == []
                assert all(server.handle("picture", {})["jobs"] == [] for server in live.servers)
            finally:
                dry.stop()


def test_acts_are_limited_to_so_many_a_minute() -> None:
    with folder() as path:
        grid = written(path, cluster("a", 2))
        clock = [0.0]
        guard = Guard(replace(grid, acts_per_minute=3), True, lambda: clock[0])
        for _ in range(3):
            guard.permit("submit")
        with pytest.raises(Refused, match="3 acts in the last minute are the limit"):
            guard.permit("cancel")
        clock[0] = 60.0
        guard.permit("cancel")
        file = grid.file
        file.write_text(file.read_text().replace("acts_per_minute = 100000", "acts_per_minute = 2"))
        with running(load_grid(file)) as live:
            sent = [live.agent.on_submit(short(0, 5).as_json()) for _ in range(2)]
            with pytest.raises(Refused, match="submit is refused for now: 2 acts in the last minute"):
                live.agent.on_submit(short(0, 5).as_json())
            assert len(sent) == len(live.agent.journal.all_tasks()) == 2
