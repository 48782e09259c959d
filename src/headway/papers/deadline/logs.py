"""The logs, what the paper reports on them, and the ways in which they can be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from headway.papers import log as papers_log
from headway.units import SECOND
from headway.workload import Workload
from headway.workload.models import generate
from headway.workload.transform import deadlines, exact

Row = tuple[float, float, float]
"""Conservative backfilling, then DBF with 24 h and with 72 h."""


@dataclass(frozen=True)
class Reported:
    """The paper's tables: waits in hours, changes against conservative backfilling in percent."""

    title: str
    priority_wait: Row
    priority_slowdown: Row
    wait: Row
    slowdown: Row
    same_log: bool = False
    """Whether the archive's cleaned log has as many jobs as the paper's."""


REPORTED = {
    "sdsc-blue": Reported(
        "SDSC-BLUE",
        (2.36, -21.61, -46.18),
        (32.13, -18.08, -45.56),
        (2.35, -2.98, -12.77),
        (32.03, -3.09, -29.41),
    ),
    "sdsc-ds": Reported(
        "SDSC-DS",
        (1.40, -32.86, -52.14),
        (18.05, -32.08, -42.55),
        (1.40, -6.43, -16.43),
        (17.88, -19.72, -27.57),
    ),
    "hpc2n": Reported(
        "HPC2N",
        (3.28, -20.73, -32.01),
        (127.65, -23.96, -30.98),
        (3.28, -6.71, -9.76),
        (127.14, -17.06, -21.15),
        same_log=True,
    ),
}

GENERATED = (
    "lublin(jobs=30000, procs=256, load=0.9, estimates=tsafrir, seed=1)",
    "lublin(jobs=3000, procs=256, load=0.9, estimates=tsafrir, seed=1)",
)
"""In place of logs: in full, and for a quick look."""
FEWEST = 30
"""Jobs that ran: with fewer a third of them, drawn or counted off, may be none."""


@dataclass(frozen=True)
class Log(papers_log.Log):
    """A log, its machine, and what the paper says of it, if anything."""

    reported: Reported | None = None


def open_logs(traces: Mapping[str, str], quick: bool) -> list[Log]:
    """The logs given, the paper's first, or a generated one."""
    if not traces:
        return [Log("generated", "Generated", generate(GENERATED[quick]), 256)]
    found, traces = [], papers_log.by_name(traces)
    for name in sorted(traces, key=lambda name: (name not in REPORTED, name)):
        workload, procs = papers_log.read_with_machine(traces[name], FEWEST)
        reported = REPORTED.get(name)
        workload = workload.fit_to(procs)
        found.append(Log(name, reported.title if reported else name.upper(), workload, procs, reported))
    return found


def of_paper(logs: Sequence[Log]) -> list[Log]:
    """The logs that the paper used; all of them where it used none."""
    return [log for log in logs if log.reported is not None] or list(logs)


def asking(logs: Sequence[Log]) -> list[Log]:
    """Those of them in which users asked for times."""
    return [log for log in of_paper(logs) if log.has_requests]


def prepared(log: Log, times: str, zero: str) -> Workload:
    """The jobs as the scheduler sees them: which times it is given, and what becomes of jobs of no length."""
    workload = log.workload
    if zero == "dropped":
        workload = workload.select(workload.runtime > 0, rule="zero_runtime", action="run time 0: dropped")
    elif zero == "one second":
        workload = workload.with_columns(
            runtime=np.maximum(workload.runtime, SECOND), walltime=np.maximum(workload.walltime, SECOND)
        )
    if times == "requested":
        return workload
    return exact(workload, kills="before" if times == "exact, at most the request" else "after")


THIRDS = ("third of three", "first of three", "second of three", "drawn, seed 0", "drawn, seed 1")


def labelled(workload: Workload, chosen: str, hours: float, until: str = "horizon") -> Workload:
    """Give some jobs a deadline: one of three, or a share of them ("share 0.1") drawn with seed 0.

    ``until``: as the transformation deadlines has it; a morning of the calendar instead of ``hours``.
    """
    horizon = hours * 3600
    if chosen.startswith("share "):
        return deadlines(workload, share=float(chosen[6:]), horizon=horizon)
    if chosen.startswith("drawn"):
        return deadlines(workload, share=1 / 3, horizon=horizon, seed=int(chosen[-1]))
    shift = {"first": 2, "second": 1, "third": 0}[chosen.split()[0]]
    every = deadlines(workload, every=1, horizon=horizon, until=until).columns["deadline"]  # type: ignore[arg-type]
    order = workload.order
    mask = np.zeros(len(workload), np.bool_)
    mask[order[2 - shift :: 3]] = True
    return workload.with_columns(deadline=np.where(mask, every, -1))
