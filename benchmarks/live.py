"""The middleware before a queue of 5,000 jobs: a policy's pass over it, and what one poll a second costs.

CPU time of this process: agent and server are both in it, over a real socket. What squeue itself costs is
Slurm's.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.rates import Row
from benchmarks.slurm_site import site as synthetic_site
from headway.live.agent import LiveAgent
from headway.live.batch import planned_from
from headway.live.engine import Job
from headway.live.grid_file import load_grid
from headway.live.slurm.commands import Slurm
from headway.live.slurm.queue import in_order, parse_queue
from headway.live.slurm.rules import RulesPlan
from headway.live.slurm.server import SlurmServer
from headway.live.task import Task
from headway.live.wire import close, listen
from headway.policies.grid.composed.cluster import Shape
from headway.policies.spec import parse_spec
from headway.units import SECOND

JOBS, OURS, PROCS, POLLS = 5_000, 500, 32_000, 20
GRID = """\
[grid]
policy = "reallocation(period=600)"
folder = "state"
[control]
allow = ["submit", "cancel"]
acts_per_minute = 100000
[[cluster]]
name = "big"
kind = "slurm"
procs = 32000
policy = "conservative"
"""


class Printed(Slurm):
    """Commands that answer at once: the queue is what was written down."""

    def __init__(self) -> None:
        super().__init__("big", "", 5)
        self.queue: list[str] = []

    def run(self, *words: str, text: str = "") -> str:
        if words[0] != "squeue":
            return ""
        mark = words[-1].removeprefix("--format=").partition("|")[0]  # each line begins with it
        return "".join(f"{mark}|{line}\n" for line in self.queue)


def queue_of(jobs: int, names: list[str], now: int) -> list[str]:
    """What squeue says of each job: a tenth runs, the others wait; some are the agent's."""
    lines = []
    for number in range(jobs):
        running = number < jobs // 10
        state, start = ("RUNNING", str(now - number)) if running else ("PENDING", "N/A")
        name = names[number - jobs // 10] if 0 <= number - jobs // 10 < len(names) else f"job-{number}"
        cpus, limit = 32 * (1 + number % 2), f"{1 + number % 20}:00:00"
        fields = (number, state, cpus, start, "N/A", limit, "Priority", 100_000 - number, now - 4 * number)
        lines.append("|".join(map(str, (*fields, "batch", f"u{number % 200}", "", "", "", name))))
    return lines


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """CPU seconds of one call, after one that warms up."""
    work()
    begun = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - begun) / times


def on_a_long_queue(quick: bool) -> Iterator[Row]:
    """Passes, then polls."""
    jobs = JOBS // 10 if quick else JOBS
    now = int(time.time())
    for policy in ("conservative", "easy", "dbf"):
        yield {"work": f"a pass of {policy}", "jobs": jobs, "CPU s": round(passed(policy, jobs, now), 4)}
    yield {"work": "all starts foreseen under slurm", "jobs": jobs, "CPU s": round(by_rules(jobs, now), 4)}
    yield {"work": "one poll and decision", "jobs": jobs, "CPU s": round(polled(jobs, now), 4)}


def passed(policy: str, jobs: int, now: int) -> float:
    """A policy finds the queue, and has its turn."""
    from headway.live.batch import Picture
    from headway.platform import Cluster

    found = parse_queue(queue_of(jobs, [], now))
    running = [
        (number, job.start or 0, Job(job.limit, Shape(job.procs, 1, 1)))
        for number, job in enumerate(found)
        if job.start is not None
    ]
    waiting = [
        (number, Job(job.limit, Shape(job.procs, 1, 1)))
        for number, job in enumerate(in_order(found), len(running))
    ]

    def work() -> None:
        plan = planned_from(
            Cluster("big", 1, PROCS), parse_spec(policy), Picture(running, waiting), now * SECOND
        )
        plan.close()

    return seconds(work, 3)


def by_rules(jobs: int, now: int) -> float:
    """Slurm's rules run ahead until every job has started."""
    found = parse_queue(queue_of(jobs, [], now))
    running = [job for job in found if job.start is not None]

    def work() -> None:
        plan = RulesPlan(parse_spec("slurm"), synthetic_site(), running, in_order(found), now * SECOND)
        plan.planned(len(found) - 1)

    return seconds(work)


def polled(jobs: int, now: int) -> float:
    """The agent asks its server what became of its tasks, and looks whether something is to be done."""
    with tempfile.TemporaryDirectory(prefix="hw") as folder:
        file = Path(folder) / "grid.toml"
        file.write_text(GRID, "utf-8")
        grid = load_grid(file)
        server, printed = SlurmServer(grid, grid.sites[0], control=True), Printed()
        server.slurm = server.accounting.slurm = printed
        listener = listen(grid.sites[0].listen, server.handle)
        agent = LiveAgent(grid, True, lambda sentence: None)
        try:
            names = []
            for _ in range(min(OURS, jobs // 2)):
                row = agent.journal.add_task(Task(("true",), 32, 3600 * SECOND), agent.now)
                attempt = agent.journal.add_attempt(row, "big", agent.now)
                agent.journal.set_attempt(attempt.number, state="released", procs=32)
                names.append(attempt.name)
            printed.queue = queue_of(jobs, names, now)
            return seconds(agent.tick, POLLS)
        finally:
            agent.stop()
            close(listener)
