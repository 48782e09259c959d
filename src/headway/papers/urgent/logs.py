"""The logs, and the urgent jobs among them."""

from __future__ import annotations

from collections.abc import Mapping

from headway.errors import UsageError
from headway.papers.log import Log, by_name, read_with_machine
from headway.workload import Workload
from headway.workload.models import generate
from headway.workload.transform.memory import memory
from headway.workload.transform.urgent import JOB_SETS, inject

TITLES = {"sdsc-blue": "SDSC-BLUE", "lanl": "LANL-CM5"}
"""Logs of the archive that the slides name: "SDSC" and "LNLL", which another figure calls LANL."""

DEADLINE = 600.0
"""Seconds from the arrival of a tsunami job until its result is worth nothing."""
TSUNAMI = tuple((int(procs), seconds) for procs, seconds in JOB_SETS["tsunami"])
"""(processors, seconds)."""
WIDEST = max(procs for procs, _ in TSUNAMI)

GENERATED = (
    "lublin(jobs=15000, procs=1024, load=0.85, estimates=tsafrir, seed=1)",
    "lublin(jobs=1500, procs=1024, load=0.85, estimates=tsafrir, seed=1)",
)
"""In place of logs: in full, and for a quick look."""


def open_logs(traces: Mapping[str, str], quick: bool) -> list[Log]:
    """The logs given, the slides' first, or a generated one."""
    if not traces:
        return [Log("generated", "Generated", generate(GENERATED[quick]), 1024)]
    found, traces = [], by_name(traces)
    for name in sorted(traces, key=lambda name: (name not in TITLES, name)):
        workload, procs = read_with_machine(traces[name])
        if procs <= TSUNAMI[0][0]:
            raise UsageError(
                f"{traces[name]}: a tsunami job takes {TSUNAMI[0][0]} processors, others need some besides, "
                f"and the machine has {procs}; give a log of a larger one"
            )
        found.append(Log(name, TITLES.get(name, name.upper()), workload.fit_to(procs), procs))
    return found


def with_urgent(log: Log, count: int, seed: int, sizes: str, per_hour: float = 0) -> Workload:
    """The log with tsunami jobs at random times, and a memory size for every job.

    ``sizes``: drawn from Table 3 (table), or what the log says, and drawn only where it says nothing (log).
    ``count`` of them over the whole log; with ``per_hour`` as many as that gives, a Poisson stream.
    """
    workload = log.workload
    if sizes == "log":
        workload = memory(workload, source="log", missing="table", seed=seed)
    else:
        workload = memory(workload, source="table", seed=seed)
    if per_hour <= 0:
        return inject(workload, count=count, deadline=DEADLINE, procs=log.procs, seed=seed)
    hours = (int(workload.submit.max()) - int(workload.submit.min())) / 3_600_000_000
    many = max(1, round(hours * per_hour))
    arrivals = f"poisson({3600 / per_hour:.6f})"
    return inject(workload, count=many, arrivals=arrivals, deadline=DEADLINE, procs=log.procs, seed=seed)


def share_with_memory(workload: Workload) -> float:
    """Of how many jobs the log says the memory."""
    known = memory(workload, source="log").columns["memory_kb"]
    return float((known > 0).mean()) if len(known) else 0.0
