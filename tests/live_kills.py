"""Random kill -9 of agent, servers and Slurm's controllers, while tasks leave marks: none lost, none doubled.

python tests/live_kills.py --tasks 200 --kills 50 [--slurm]
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from headway.errors import HeadwayError
from headway.live.grid_file import Grid
from headway.live.journal import OVER, Journal
from headway.live.launch import end, start
from headway.live.wire import Remote
from live_grids import cluster, folder, short, written
from slurm_clusters import SlurmCluster, slurm_clusters

SIZES = (("bordeaux", 4), ("lyon", 2), ("toulouse", 3))
POLICY = "reallocation(period=2, threshold=0.5)"


@dataclass
class Trial:
    """A grid whose processes are killed and started again."""

    grid: Grid
    slurms: list[SlurmCluster]
    draw: random.Random
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    kills: Counter[str] = field(default_factory=Counter)

    def start(self, name: str) -> None:
        words = ["live", "agent", str(self.grid.file)]
        if name != "agent":
            words = ["live", "server", str(self.grid.file), name]
        self.processes[name] = start([*words, "--control"], self.grid.folder / f"{name}.log")

    def start_all(self) -> None:
        for site in self.grid.sites:
            self.start(site.name)
        self.start("agent")

    def kill_one(self) -> None:
        """Kill something at random, and start it again a moment later."""
        victims = [*self.processes, *(f"slurmctld of {each.name}" for each in self.slurms)]
        victim = self.draw.choice(victims)
        self.kills[victim] += 1
        pause = self.draw.uniform(0, 1)
        if victim in self.processes:
            process = self.processes[victim]
            process.send_signal(signal.SIGKILL)
            process.wait()
            time.sleep(pause)
            self.start(victim)
        else:
            (slurm,) = [each for each in self.slurms if victim.endswith(each.name)]
            slurm.kill_controller()
            time.sleep(pause)
            slurm.start_controller()

    def stop(self) -> None:
        end(list(self.processes.values()))


@dataclass(frozen=True)
class Result:
    """What was submitted, and the marks that tasks left: how often each ran to its end."""

    tasks: int
    marks: Counter[str]
    expected: Counter[str]
    states: Counter[str]
    moves: int
    kills: Counter[str]
    lost: int
    fenced: int
    seconds: float

    @property
    def ok(self) -> bool:
        return self.marks == self.expected and self.states == Counter({"done": self.tasks})


def submit_once(remote: Remote, task: dict[str, object], until: float) -> None:
    """Submit a task through an agent that may be dead at the moment; a name makes sure of one task."""
    while True:
        try:
            known = remote.ask("queue", count=100_000)["tasks"]
            if not any(each["name"] == task["name"] for each in known):
                remote.ask("submit", task=task)
            return
        except HeadwayError:
            assert time.monotonic() < until, "the agent does not come back"
            remote.close()
            time.sleep(0.3)


def run_trial(
    grid: Grid, slurms: list[SlurmCluster], tasks: int, kills: int, seed: int, patience: float
) -> Result:
    """Submit, kill, wait, count."""
    trial = Trial(grid, slurms, random.Random(seed))
    mark = grid.file.parent / "marks"
    begun = time.monotonic()
    until = begun + patience
    remote = Remote(grid.listen, timeout=30)
    trial.start_all()
    try:
        left = kills
        for number in range(tasks):
            run = trial.draw.choice([0.05, 0.2, 0.5, 1.5])
            walltime = trial.draw.choice([60, 60, 120, 180])
            task = short(run, walltime, trial.draw.choice([1, 1, 2]), mark, name=f"t{number}")
            submit_once(remote, task.as_json(), until)
            if left and trial.draw.random() < kills / tasks:
                left -= 1
                trial.kill_one()
        while left:
            left -= 1
            trial.kill_one()
            time.sleep(0.5)
        wait_until_over(remote, tasks, until, slurms)
    finally:
        trial.stop()
        remote.close()
    journal = Journal(grid.folder / "journal.db")
    rows = journal.all_tasks()
    decisions = Counter(each["kind"] for each in journal.decisions(1 << 30))
    journal.close()
    marks = Counter(mark.read_text().split()) if mark.exists() else Counter[str]()
    return Result(
        tasks,
        marks,
        Counter(row.fence for row in rows),
        Counter(row.state for row in rows),
        sum(row.moves for row in rows),
        trial.kills,
        decisions["lost"],
        decisions["fenced"],
        time.monotonic() - begun,
    )


def wait_until_over(remote: Remote, tasks: int, until: float, slurms: list[SlurmCluster]) -> None:
    """Until all tasks have ended; nodes that Slurm drained because of its own crash are brought back."""
    while True:
        for slurm in slurms:
            slurm.resume()
        try:
            counts = remote.ask("queue", count=1)["counts"]
            if sum(number for state, number in counts.items() if state in OVER) >= tasks:
                return
        except HeadwayError:
            remote.close()
        assert time.monotonic() < until, "tasks have not ended"
        time.sleep(1)


def local_trial(tasks: int, kills: int, seed: int, patience: float) -> Result:
    """On three local clusters."""
    with folder() as path:
        grid = written(path, "".join(cluster(name, procs) for name, procs in SIZES), POLICY)
        return run_trial(grid, [], tasks, kills, seed, patience)


def slurm_trial(tasks: int, kills: int, seed: int, patience: float) -> Result:
    """On three Slurm clusters, whose controllers are killed as well."""
    with slurm_clusters(SIZES) as slurms, folder() as path:
        path.chmod(0o755)
        # How starts are foreseen does not matter here; counting processors is the quickest to start again.
        given = [{"kind": "slurm", "conf": str(each.conf), "policy": "conservative"} for each in slurms]
        tables = [cluster(each.name, each.cpus, **more) for each, more in zip(slurms, given, strict=True)]
        grid = written(path, "".join(tables), POLICY, more="timeout = 12")
        return run_trial(grid, slurms, tasks, kills, seed, patience)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slurm", action="store_true")
    words = parser.parse_args()
    trial = slurm_trial if words.slurm else local_trial
    result = trial(words.tasks, words.kills, words.seed, 3600)
    doubled = {key: number for key, number in result.marks.items() if number > 1}
    missing = [key for key in result.expected if key not in result.marks]
    sys.stdout.write(
        f"{result.tasks} tasks, {sum(result.kills.values())} kills {dict(result.kills)}, {result.moves} "
        f"moves, "
        f"{result.lost} found lost and submitted again, {result.fenced} stopped at the fence, "
        f"{result.seconds:.0f} s: states {dict(result.states)}, lost {len(missing)}, doubled {len(doubled)}\n"
    )
    sys.exit(0 if result.ok else 1)


if __name__ == "__main__":
    main()
