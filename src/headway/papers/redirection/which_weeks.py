"""How much depends on which weeks are taken: the paper's named point on all busy weeks of a log."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headway.metrics.sample import Sample
from headway.papers.redirection.grid import PAPER_ALPHA, PAPER_THETA
from headway.papers.redirection.logs import Log
from headway.papers.redirection.numbers import TAU
from headway.platform import Platform
from headway.policies.spec import make_spec
from headway.simulate import simulate
from headway.workload.transform import apply_each


def ratios(log: Log, utilization: str) -> list[float]:
    """Mean bounded slowdown with / without redirection at the paper's point, week by week, all busy weeks."""
    spec = make_spec("redirection", theta=PAPER_THETA, alpha=PAPER_ALPHA)
    larger = Platform.procs(log.procs + spec.policy.added_procs(log.procs))
    found = []
    for week in apply_each(log.workload, log.weeks_spec(count="none", utilization=utilization), "exact"):
        fitting = week.fit_to(log.procs)
        both = simulate(fitting, log.procs, spec), simulate(fitting, larger, "easy")
        mine, theirs = (float(Sample(made, TAU).bounded_slowdown.mean()) for made in both)
        found.append(mine / theirs)
    return found


def table(logs: Sequence[Log]) -> list[list[str]]:
    """The first, the last and all of the busy weeks, by recorded and by submitted work."""
    rows = [["log", "utilization", "busy weeks", "taken", "median ratio", "average ratio"]]
    for log in logs:
        for utilization in ("recorded", "submitted"):
            if utilization == "recorded" and log.utilization != "recorded":
                continue
            found = ratios(log, utilization)
            choices = {
                f"the first {log.count}": found[: log.count],
                f"the last {log.count}": found[-log.count :],
            }
            for name, chosen in (*choices.items(), ("all", found)):
                if name == "all" or len(found) > log.count:
                    rows.append(
                        [log.cluster.title, f"{utilization} work", str(len(found)), name,
                         f"{np.median(chosen):.3f}", f"{np.mean(chosen):.3f}"]
                    )  # fmt: skip
    return rows
