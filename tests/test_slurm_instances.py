"""On small random sites the compiled policy decides, pass by pass, what the plain reference decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference.slurm import loop
from reference.slurm.backfill import Cycle, backfill_cycle
from reference.slurm.instances import USERS, Instance, Wish, instance
from reference.slurm.loop import Clocks, Outcome, Simulation
from reference.slurm.machine import Job
from reference.slurm.main import main_pass
from reference.slurm.state import Start, State
from truth.accounts import UIDS, load_multifactor
from truth.compiled import Compiled
from truth.conf import load_machine
from truth.runs import Asked, Run


def job_of(wish: Wish, conf_memory: int, accounting: bool) -> Job:
    value = int(wish.memory.rpartition("=")[2]) if wish.memory else conf_memory
    return Job(
        wish.number,
        wish.submit,
        wish.nodes,
        wish.cpus,
        wish.limit,
        tuple(wish.partitions),
        user=UIDS[wish.user],
        account=USERS[wish.user] if accounting else "",
        qos=wish.qos if accounting else "",
        whole=wish.exclusive,
        memory=value,
        per_cpu=not wish.memory.startswith("--mem="),
    )


def run_of(made: Instance, folder: Path) -> Run:
    """The instance in the shape of a recorded run, so that the same readers serve."""
    made.write(folder / "site")
    machine, conf = load_machine(folder / "site" / "slurm.conf")
    memory = conf.number("DefMemPerCPU", 0)
    run = Run(f"seed-{made.seed}", folder, machine, conf, {}, [], [], {}, [])
    for wish in made.wishes:
        job = job_of(wish, memory, made.accounting)
        run.asked[wish.number] = Asked(wish.number, wish.submit, job, (float(wish.runtime),))
    return run


class Beside:
    """The reference's two passes, each with the compiled policy asked the same question first."""

    def __init__(self, run: Run) -> None:
        self.compiled = Compiled(run)
        self.asked = self.plans = 0

    def main_pass(self, state: State, *, full: bool) -> tuple[list[Start], bool]:
        theirs = places(self.compiled.main_pass(state, full=full)[0])
        starts, stamped = main_pass(state, full=full)
        assert theirs == places(starts), f"a pass of the main loop at {state.now}"
        self.asked += 1
        return starts, stamped

    def backfill_cycle(self, state: State) -> Cycle:
        theirs = self.compiled.backfill_cycle(state)
        mine = backfill_cycle(state)
        assert places(theirs.starts) == places(mine.starts), f"starts of the cycle at {state.now}"
        planned = [(plan.job.id, plan.start, plan.nodes) for plan in theirs.plans]
        assert planned == [(plan.job.id, plan.start, plan.nodes) for plan in mine.plans], (
            f"plans of the cycle at {state.now}"
        )
        self.asked += 1
        self.plans += len(planned)
        return mine


def places(starts: list[Start]) -> list[tuple[int, int]]:
    return [(start.job.id, start.held.nodes) for start in starts]


def run_beside(
    seed: int,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    jobs: int,
    network: float = 0.0,
    version: str = "",
) -> tuple[Outcome, Beside]:
    made = instance(seed, jobs, network)
    made.version = version
    run = run_of(made, folder)
    beside = Beside(run)
    monkeypatch.setattr(loop, "main_pass", beside.main_pass)
    monkeypatch.setattr(loop, "backfill_cycle", beside.backfill_cycle)
    factors = fairness = None
    if "multifactor" in run.conf.values["prioritytype"]:
        factors, fairness = load_multifactor(run)
    wishes = [(asked.job, int(asked.run[0])) for asked in run.asked.values()]
    clocks = Clocks.seeded(seed, epilog=seed % 3)
    return Simulation(run.machine, wishes, clocks, factors, fairness).run(), beside


@pytest.mark.parametrize("seed", range(4))
def test_random_site(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome, beside = run_beside(seed, tmp_path, monkeypatch, 14)
    assert len(outcome.start) == 14
    assert beside.asked > 14


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("version", ["24.11.5", "25.05.0", "26.05.5"])
def test_random_site_of_a_newer_version(
    seed: int, version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, beside = run_beside(seed, tmp_path, monkeypatch, 14, version=version)
    assert beside.compiled.site.config["SLURM_VERSION"] == version
    assert beside.asked > 14


@pytest.mark.parametrize("seed", range(4))
def test_random_tree_of_switches(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, beside = run_beside(seed, tmp_path, monkeypatch, 14, network=1.0)
    assert beside.compiled.site.switches
    assert beside.asked > 14


@pytest.mark.long
@pytest.mark.parametrize("seed", range(200, 212))
def test_more_random_trees_of_switches(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, beside = run_beside(seed, tmp_path, monkeypatch, 60, network=1.0)
    assert beside.asked > 50


@pytest.mark.long
@pytest.mark.parametrize("version", ["", "24.11.5", "26.05.5"])
@pytest.mark.parametrize("seed", range(100, 112))
def test_more_random_sites(seed: int, version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome, beside = run_beside(seed, tmp_path, monkeypatch, 60, version=version)
    assert len(outcome.start) == 60
    assert beside.asked > 50
