"""A week of the middleware in scaled time: does memory grow, or what is on disk?

The agent and three simulated clusters, in one process over real sockets. Tasks come all the time, slightly
fewer than the clusters can run, so that some wait nearly always; the last thousand that are over are
remembered.
"""

from __future__ import annotations

import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.rates import Row
from headway.live.agent import LiveAgent
from headway.live.grid_file import load_grid
from headway.live.rehearsal import Conductor
from headway.live.simulated_server import SimulatedServer
from headway.live.task import Task
from headway.live.wire import close, listen
from headway.units import SECOND

DAYS, A_DAY = 7, 1440
DAY = 86_400 * SECOND
GRID = """\
[grid]
policy = "reallocation(period=3600, threshold=60)"
folder = "state"
keep = 1000
[control]
allow = ["submit", "cancel"]
acts_per_minute = 1000000
"""
CLUSTER = """\
[[cluster]]
name = "{name}"
kind = "simulated"
procs = {procs}
speed = {speed}
policy = "conservative"
"""
CLUSTERS = (("a", 16, 1), ("b", 8, 1.2), ("c", 12, 1.4))
LOAD = 0.97


def arrivals(days: int, each_day: int) -> list[tuple[int, Task]]:
    """Tasks of a heavy load, at times that follow no pattern."""
    draw = random.Random(7)
    power = sum(procs * speed for _, procs, speed in CLUSTERS)
    mean = LOAD * power * DAY / each_day / 3.5  # sizes are 1 to 6, each as likely
    found = []
    for submit in sorted(draw.randrange(days * DAY) for _ in range(days * each_day)):
        runtime = min(round(draw.expovariate(1 / mean)), DAY // 2)
        walltime = round(runtime * draw.uniform(1, 4)) + SECOND
        found.append((submit, Task(("true",), draw.randrange(1, 7), walltime, runtime=runtime)))
    return found


def memory() -> float:
    """What this process holds now, in MB; where Linux does not tell, the most it has held."""
    status = Path("/proc/self/status")
    lines = status.read_text("utf-8").splitlines() if status.exists() else []
    now = [int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmRSS")]
    return (now or [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3])[0]


def in_a_week(quick: bool) -> Iterator[Row]:
    """Memory and files at the end of each day."""
    days, each_day = (3, 400) if quick else (DAYS, A_DAY)
    with tempfile.TemporaryDirectory(prefix="hw") as folder:
        file = Path(folder) / "grid.toml"
        clusters = [CLUSTER.format(name=name, procs=n, speed=speed) for name, n, speed in CLUSTERS]
        file.write_text(GRID + "".join(clusters), "utf-8")
        grid = load_grid(file)
        servers = [SimulatedServer(grid, site, control=True) for site in grid.sites]
        pairs = zip(grid.sites, servers, strict=True)
        listeners = [listen(site.listen, server.handle) for site, server in pairs]
        agent = LiveAgent(grid, True, lambda sentence: None)
        begun = time.process_time()
        try:
            conductor = Conductor(agent, arrivals(days, each_day))
            for day in range(1, days + 1):
                conductor.run(until=day * DAY)
                waiting = sum(row.state == "waiting" for row in agent.journal.live_tasks())
                files = sum(each.stat().st_size for each in grid.folder.rglob("*") if each.is_file())
                yield {
                    "work": f"day {day}",
                    "tasks so far": len(conductor.tasks),
                    "waiting": waiting,
                    "in the tables": sum(len(server.batch.engine.of_column) for server in servers),
                    "memory MB": round(memory(), 1),
                    "files kB": files // 1000,
                    "CPU s": round(time.process_time() - begun, 1),
                }
        finally:
            agent.stop()
            for listener in listeners:
                close(listener)
