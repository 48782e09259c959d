"""The scores of one job on every node, at the instant when it started: the run is made again for them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from headway.platform import Platform
from headway.policies.nodes.policy import Scored
from headway.policies.nodes.tables import FAR, Seen
from headway.workload import Workload
from headway.workload.annotations import COLUMNS


@dataclass(frozen=True)
class Terms:
    """What a node had to offer: times in µs, ``node`` the platform's number."""

    node: int
    start: int
    wait: int
    """B: until the file is there."""
    loads: bool
    """Whether the job would load the file itself."""
    evicted: Fraction
    """C: load times of the files it would push out, times its share of the cores."""
    copies: int
    """Copies on other nodes, where it would load."""
    score: Fraction
    """From the instant at hand on."""


def watched(workload: Workload, platform: Platform, policy: Scored, row: int) -> list[Terms]:
    """The terms of every node that job ``row`` could run on, best first; the first is where it ran."""
    from headway.engine.driver import run
    from headway.engine.setup import Jobs
    from headway.policies.prepare import Arrivals

    order = workload.order
    columns = {name: workload.columns[name][order] for name in ("submit", "procs", "walltime", "runtime")}
    submit, procs, walltime, runtime = columns.values()
    extra = {name: workload.columns[name][order] for name in COLUMNS if name in workload}
    arrivals = Arrivals(
        submit, procs, walltime, np.minimum(runtime, walltime), extra, platform, dict(workload.labels)
    )
    prepared = policy.prepare(arrivals, platform.total_procs)
    job = int(np.flatnonzero(order == row)[0])
    assert prepared.nodes is not None
    prepared.setup.memory.rules.watched = job
    state = run(Jobs(submit, procs, walltime, runtime, walltime), prepared.setup)
    now = int(state.runs.start[state.jobs.run[job]])
    memory = state.memory
    full = int(memory.notes.seen_busy)
    found = []
    for node in np.flatnonzero(memory.seen.start < FAR).tolist():
        start, wait, total, copies, loads = (int(memory.seen[row, node]) for row in range(len(Seen)))
        cores = int(memory.nodes.cores[node])
        evicted = Fraction(int(procs[job]) * total, cores)
        x, y, z = policy.weights_at(start == now, full, len(prepared.nodes))
        load = wait if loads else 0
        score = start - now + x * wait + y * evicted + z * copies * load
        found.append(
            Terms(int(prepared.nodes[node]), start, wait, bool(loads), evicted, copies, Fraction(score))
        )
    return sorted(found, key=lambda terms: terms.score)  # ties stay in the order of nodes
