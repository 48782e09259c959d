"""Policies on nodes: against the plain reference, in a light and in a saturated week of Rackham.

In the light week the queue stays under 50 under the rule that is measured: its jobs are spread over more
weeks until it does, and no session has more than 12 jobs, because LEA keeps a session waiting for the node
that has its file. In the saturated week more work is offered than the machine can do, and thousands of jobs
wait. The last column is a ratio: plain reference over simulator, rate over the bar, bar over time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from fractions import Fraction

from benchmarks.rates import Row, best, cpu_seconds
from benchmarks.ratios import TESTS
from headway.papers.locality.tables import RULES, TEN
from headway.papers.locality.weeks import sessions, with_files
from headway.platform import Platform
from headway.schedule import Schedule
from headway.workload import Workload

JOBS = 65_000
LIGHT_QUEUE = 50
LIGHT_RATE = 5000
"""Jobs a CPU second that every rule should reach in the light week."""
BARS = {"fcfs": 300, "eft": 300, "lea": 1200, "leo": 1200, "lem": 1200}
"""CPU seconds that the saturated week may take."""


def on_rackham(quick: bool) -> Iterator[Row]:
    """All rows; ``quick``: a twentieth of the jobs on the small machine."""
    platform = Platform.load("rackham-small" if quick else "rackham")
    jobs = JOBS // 20 if quick else JOBS
    yield from against_the_reference(60 if quick else 150)
    for rule in TEN:
        yield light(platform, jobs, rule)
    saturated = week(platform, jobs, 7, load=1.3, longest=300)
    for rule in RULES:
        made = best(saturated, platform, rule)
        yield row("saturated", made, BARS[rule] / cpu_seconds(made))


def week(platform: Platform, jobs: int, days: float, load: float, longest: int) -> Workload:
    """About so many jobs with files over so many days."""
    cores = platform.total_procs
    return with_files(sessions(days, cores, load, 1, jobs / days, longest=longest), False, 1)


def light(platform: Platform, jobs: int, rule: str) -> Row:
    """The rate with a queue under 50, and how it compares with the bar."""
    weeks = 1
    while True:
        log = week(platform, jobs, 7 * weeks, 0.3 / weeks, longest=12)
        made = best(log, platform, rule)
        if int(made.provenance["max_queue"]) < LIGHT_QUEUE:
            name = "light" if weeks == 1 else f"light, spread over {weeks} weeks"
            return row(name, made, len(made.start) / cpu_seconds(made) / LIGHT_RATE)
        weeks *= 2


def row(name: str, made: Schedule, ratio: float) -> Row:
    """One line."""
    seconds = cpu_seconds(made)
    return {
        "week": f"{name}: {made.policy.partition('(')[0]}{'-bf' if 'conservative' in made.policy else ''}",
        "jobs": len(made.start),
        "mean queue per pass": round(float(made.provenance["mean_queue_per_pass"]), 1),
        "max queue": made.provenance["max_queue"],
        "CPU s": round(seconds, 4),
        "jobs/CPU s": round(len(made.start) / max(seconds, 1e-9)),
        "ratio": round(ratio, 2),
    }


def against_the_reference(jobs: int) -> Iterator[Row]:
    """The compiled simulator and the plain reference on the same short queue, which must come out equal."""
    sys.path.insert(0, str(TESTS))
    from nodes_reference import by_reference, check, platform_of, workload_of
    from reference.nodes import Node
    from test_nodes_equal import long_queue

    nodes = [Node(4, Fraction(8), Fraction(1))] * 3
    queue = long_queue(jobs, need=0)
    for rule in TEN:
        check(queue, nodes, rule)
        begin = time.process_time()
        by_reference(queue, nodes, rule)
        slow = time.process_time() - begin
        made = best(workload_of(queue), platform_of(nodes), rule, repeats=5)
        yield row("plain reference / headway", made, slow / cpu_seconds(made))
