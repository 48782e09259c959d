"""The demonstration from end to end, with its page in a real browser; the commands of clients; kills."""

from __future__ import annotations

import threading

import pytest

from browser import browser
from commands import Headway
from headway import Schedule
from headway.audit import audit
from headway.live.launch import end, start, start_servers, wait_for
from headway.live.page import pages_of
from headway.live.task import Task
from headway.live.wire import close, listen
from headway.units import SECOND
from live_grids import cluster, folder, running, written
from live_kills import local_trial, slurm_trial
from slurm_clusters import free_port


@pytest.mark.long
def test_the_demonstration_ends_with_a_page_and_an_audit(run: Headway) -> None:
    with folder() as path:
        shown = run("live", "demo", "--out", path / "d")
        assert shown.status == 0, shown.err
        assert "40 tasks on three clusters" in shown.out and "all hold" in shown.out
        schedule = Schedule.load(path / "d" / "schedule")
        assert len(schedule) == 40 and audit(schedule).ok
        assert len((path / "d" / "marks.txt").read_text().splitlines()) == 40
        assert run("audit", path / "d" / "schedule").status == 0
        assert "not empty" in run("live", "demo", "--out", path / "d").err
        with browser() as page:
            page.open(path / "d" / "live.html")
            assert page.evaluate("document.querySelectorAll('.cluster').length") == 3
            assert page.evaluate("document.querySelectorAll('#tasks tr').length") == 41
            ran = "new Set([...document.querySelectorAll('.bar')].map(b => b.dataset.task)).size"
            assert page.evaluate(ran) == 40
            assert page.console == []


def test_the_page_follows_the_agent() -> None:
    with folder() as path:
        grid = written(path, cluster("a", 1) + cluster("b", 2))
        with running(grid) as live, browser() as page:
            address = f"http://127.0.0.1:{free_port()}"
            listener = listen(address, live.agent.handle, pages=pages_of(live.agent.on_state))
            try:
                released = path / "released"
                held = Task(("sh", "-c", f"until [ -e {released} ]; do sleep 0.1; done"), 1, 120 * SECOND)
                for _ in range(4):
                    live.agent.on_submit(held.as_json())
                page.open_address(address)
                page.wait_for("document.querySelectorAll('#tasks tr').length === 5")
                said = "document.getElementById('decisions').innerText"
                assert "which completes it first" in page.evaluate(said)
                page.wait_for("document.querySelectorAll('rect.bar').length >= 4")
                released.touch()
                ended = threading.Thread(target=live.until, args=(live.all_over, 60))
                ended.start()
                page.wait_for("document.getElementById('counts').innerText.includes('4 done')")
                ended.join()
                page.wait_for("document.querySelectorAll('#estimates tr').length === 3")
                label = "getComputedStyle(document.querySelector('svg .label.done')).fill"
                assert page.evaluate(label) == "rgb(16, 22, 29)", "white on green is too faint to read"
                screen = {"height": 700, "deviceScaleFactor": 1, "mobile": False}
                page.command("Emulation.setDeviceMetricsOverride", width=360, **screen)
                assert page.evaluate("document.documentElement.scrollWidth") == 360
                parents = "[...document.querySelectorAll('table, svg')].map(each => each.parentElement)"
                assert page.evaluate(f"{parents}.every(each => each.tabIndex === 0)"), "keys scroll it, too"
                assert page.console == []
            finally:
                close(listener)


@pytest.mark.interpreted
def test_clients_speak_with_the_agent(run: Headway, monkeypatch: pytest.MonkeyPatch) -> None:
    with folder() as path:
        grid = written(path, cluster("a", 1))
        monkeypatch.setenv("HEADWAY_GRID", str(grid.file))
        assert "the agent does not answer" in run("live", "queue").err
        processes = start_servers(grid, control=True)
        try:
            wait_for(grid.sites[0].listen, processes[0], grid.folder / "a.log", "describe", grid).close()
            processes.append(start(["live", "agent", str(grid.file), "--control"], grid.folder / "agent.log"))
            wait_for(grid.listen, processes[1], grid.folder / "agent.log", "queue", grid).close()
            told = run("live", "submit", "--walltime", "1m", "--name", "first", "sleep", "30")
            assert told.out.startswith("task 1: to a on 1 processor, start "), told.err
            dry = run("live", "submit", "--walltime", "1m", "--dry-run", "true")
            assert dry.out.startswith("it would go to a")
            assert run("live", "submit", "--walltime", "10", "--form", "1:10", "true").status == 0
            late = run("live", "status", 1, 2, "--wait", "--timeout", "0.3")
            assert (late.status, "waited 0.3 s: task 1 is " in late.err) == (2, True), late.err
            assert "2 tasks have not ended" in run("live", "status", "--wait", "--timeout", "0").err
            wide = run("live", "submit", "--walltime", "1m", "--procs", "7", "true")
            assert (wide.status, "no cluster can run it: it needs 7 processors" in wide.err) == (2, True)
            assert "given to a, which completes it first" in run("live", "status", 2).out
            listed = run("live", "queue").out
            assert "first" in listed and "1 refused" in listed
            assert "task 2: cancelled" in run("live", "cancel", 2).out
            assert "task 1: cancelled" in run("live", "cancel", 1).out
            assert run("live", "cancel", 1).out == "task 1: cancelled\n"
            assert run("live", "cancel", 3).out == "task 3: refused already; there is nothing to take back\n"
            waited = run("live", "status", 1, 2, "--wait", "--timeout", "20")
            assert (waited.status, waited.out.count(": cancelled")) == (1, 2)
            every = run("live", "status", "--wait")
            assert (every.status, every.out) == (1, "2 cancelled, 1 refused\n")
            assert run("live", "ready", grid.file).out.startswith("ready: the agent and the servers of a ")
            assert "there is no task 9" in run("live", "status", 9).err
            assert "runs already; end it first" in run("live", "server", grid.file, "a").err
            assert "stopped" in run("live", "stop", grid.file).out
            assert "the grid is stopped" in run("live", "submit", "--walltime", "1m", "true").err
            assert "act again" in run("live", "start", grid.file).out
            end([processes.pop(0)])
            silent = run("live", "ready", grid.file, "--timeout", "0.3")
            assert (silent.status, "cluster a: unix:" in silent.err) == (2, True)
        finally:
            end(processes)
        gone = run("live", "ready", grid.file, "--timeout", "0.3").err
        assert "waited 0.3 s: the agent does not answer" in gone


@pytest.mark.long
def test_a_rehearsal_is_the_simulation(run: Headway) -> None:
    from headway.workload import write_swf
    from headway.workload.models import generate

    write_swf(generate("lublin(jobs=25, procs=6, load=1.2, seed=2)"), run.folder / "log.swf")
    with folder() as path:
        tables = cluster("a", 6, kind="simulated") + cluster("b", 8, kind="simulated")
        policy = "reallocation(period=600)"
        grid = written(path, tables, policy)
        (path / "platform.toml").write_text(cluster("a", 6) + cluster("b", 8))
        assert run("live", "rehearse", grid.file, "log.swf", "--out", "live").status == 0
        words = ("--platform", path / "platform.toml", "--policy", policy, "--out", "simulated", "--quiet")
        assert run("simulate", "log.swf", *words).status == 0
        live, simulated = Schedule.load(run.folder / "live"), Schedule.load(run.folder / "simulated")
        assert (live.start == simulated.start).all() and (live.end == simulated.end).all()


@pytest.mark.long
def test_kills_lose_nothing_and_double_nothing() -> None:
    result = local_trial(tasks=30, kills=8, seed=3, patience=240)
    assert result.ok, result


@pytest.mark.long
def test_kills_of_slurm_too() -> None:
    result = slurm_trial(tasks=24, kills=8, seed=5, patience=300)
    assert result.ok, result
