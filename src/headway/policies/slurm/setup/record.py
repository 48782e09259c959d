"""What is told of a run of Slurm's rules afterwards: where jobs ran, and what the controller knew of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from headway.engine.tables import State
from headway.policies.prepare import OnNodes, Table
from headway.policies.slurm.tables.controller import UNSET, Memory
from headway.policies.slurm.tables.jobs import SlurmJobs
from headway.policies.slurm.tables.reasons import RESOURCE, Reason, reason_name
from headway.policies.slurm.tables.settings import Weights
from headway.policies.slurm.tables.sites import Factors
from headway.site import Site
from headway.units import MINUTE, SECOND

LOOPS = ("main", "backfill")
DAY = 24 * 3600


def on_nodes(state: State, site: Site, resources: list[str]) -> OnNodes:
    """Where jobs ran, and the names of reasons and loops."""
    names, _ = reasons(state.memory, resources)
    labels = {"reason": names, "limit": names, "loop": LOOPS, "planned_node": [n.name for n in site.nodes]}
    return OnNodes(
        nodes=tuple(node.name for node in site.nodes),
        partition=state.memory.jobs.partition,
        partitions=tuple(partition.name for partition in site.partitions),
        walltime=np.where(
            state.memory.jobs.length < 0,
            state.jobs.wall,
            MINUTE * state.memory.jobs.length,
        ),
        labels={name: tuple(given) for name, given in labels.items()},
    )


def warm_up_days(site: Site) -> float:
    """Days until half of the usage that fair share looks at is known; 0 where that does not matter.

    Usage before the log is unknown without a file of ``sshare``. After PriorityDecayHalfLife what was used
    before it counts half.
    """
    half_life = site.config.seconds("PriorityDecayHalfLife")
    return half_life / DAY if misses_usage(site) and half_life else 0.0


def misses_usage(site: Site) -> bool:
    """Whether fair share looks at usage before the log, and no file tells it."""
    config = site.config
    return (
        "multifactor" in config.get("PriorityType").lower()
        and "slurmdbd" in config.get("AccountingStorageType").lower()
        and config.number("PriorityWeightFairshare") > 0
        and len(site.associations) > 0
        and not site.usage
    )


def warm_up_remark(site: Site) -> str:
    """What is said where usage before the log is unknown."""
    days = warm_up_days(site)
    if not days:
        return ""
    return (
        f"usage before the log is unknown (no shares.txt), so fair share warms up: half of what counts "
        f"is known after {days:g} days (PriorityDecayHalfLife), three quarters after {2 * days:g}"
    )


def reasons(memory: Memory, resources: list[str]) -> tuple[list[str], dict[int, int]]:
    """The names of the reasons that occurred, and the place of each code among them."""
    codes = np.unique(memory.jobs[[SlurmJobs["reason"], SlurmJobs["limited"]]]).tolist()
    names = sorted({reason_name(code, resources) for code in codes})
    return names, {code: names.index(reason_name(code, resources)) for code in codes}


DEEP = ("depth", "waited behind jobs that wait for ever, deeper than a loop looks: not run")
REFUSED = {
    Reason.NONE: DEEP,
    Reason.PRIORITY: DEEP,
    Reason.PARTITION_DOWN: ("partition", "its partition is down and never comes up: not run"),
    Reason.NEVER_SATISFIED: ("dependency", "a dependency that can never be met: not run"),
    Reason.DEPENDENCY: ("dependency", "depends on a job that never ends: not run"),
    Reason.HELD: ("held", "held and never released: not run"),
    Reason.RESERVATION: ("reservation", "its reservation was over before it could start: not run"),
    Reason.NODES_AWAY: ("nodes", "the nodes that it needs were never there, or never came back: not run"),
    Reason.DEADLINE: ("deadline", "could not end by its --deadline any more: cancelled by Slurm, not run"),
    Reason.SUBMIT_LIMIT: ("submission", "more jobs than a limit on submission allows: refused, not run"),
    Reason.QOS_NOT_ALLOWED: ("partition", "its partition does not allow its QOS: it waits for ever, not run"),
    Reason.ACCOUNT_NOT_ALLOWED: (
        "partition",
        "its partition does not allow its account: it waits for ever, not run",
    ),
    Reason.PARTITION_CONFIG: ("partition", "no partition of its lets it in: it waits for ever, not run"),
    Reason.LICENCES: ("licences", "asks for more licences than there are: it would wait for ever, not run"),
    Reason.CANCELLED: ("cancelled", "waited until its user cancelled it, as recorded: not run"),
}
"""Rule and action of the ledger for jobs that would wait for ever, by the last reason."""
STARTED_SOONER = (
    "cancelled",
    "started sooner than its user cancelled it while it waited: ran until then at most, not in the results",
)


def why_refused(state: State, job: int) -> tuple[str, str]:
    """Rule and action of the ledger for a job that would wait for ever, or is left out of the schedule."""
    if state.jobs.run[job] >= 0:
        return STARTED_SOONER
    reason = int(state.memory.jobs.reason[job])
    limits = ("limits", "held by a limit that no time lifts: it would wait for ever, not run")
    return REFUSED.get(Reason(reason), limits) if reason < RESOURCE else limits


def notes(state: State, resources: list[str], numbers: Table) -> dict[str, Any]:
    """What the controller knew of each job, in the engine's order; times in µs on the log's clock, -1: none.

    Points are what a factor times its weight gives of the priority, at submission (``first_``) and as last
    calculated before the start; those of QOS, partition and association do not change.
    """
    memory, (_, place) = state.memory, reasons(state.memory, resources)
    jobs = memory.jobs

    def coded(row: int) -> Table:
        return np.array([place[code] for code in jobs[row].tolist()], np.int64)

    limited = np.where(jobs.limited == 0, UNSET, coded(SlurmJobs["limited"]))
    found = {
        "reason": coded(SlurmJobs["reason"]),
        "limit": limited,
        "loop": np.where(jobs.started == UNSET, UNSET, jobs.loop),
        "first_priority": jobs.first_priority,
        "priority": jobs.priority,
    }
    if memory.settings.multifactor > 0:
        found |= points(memory)
    return found | {
        "planned_at": _time(memory, jobs.planned_at),
        "planned_start": _time(memory, jobs.planned),
        "planned_node": jobs.planned_node,
        "planned_nodes": jobs.planned_nodes,
        "eligible": _time(memory, jobs.begin),
        "attempts": jobs.attempts,
        "preempted_by": np.where(jobs.preempted_by < 0, UNSET, numbers[jobs.preempted_by]),
    }


def points(memory: Memory) -> dict[str, Any]:
    """The parts of priorities that factors give, in the first partition that a job lists."""
    jobs, part = memory.jobs, memory.lists[memory.jobs.partitions, 0]

    def fixed(weight: int, factor: int, holder: Table) -> Table:
        value = memory.weights[weight] * memory.factors[factor, np.maximum(holder, 0)]
        return np.where(holder == UNSET, 0, np.rint(value)).astype(np.int64)

    return {
        "age": jobs.age_points,
        "first_fair_share": jobs.first_fairshare,
        "fair_share": jobs.fairshare_points,
        "first_size": jobs.first_size,
        "size": jobs.size_points,
        "partition_points": fixed(Weights["partition"], Factors["partition"], part),
        "qos_points": fixed(Weights["qos"], Factors["qos"], jobs.qos),
        "association_points": fixed(Weights["association"], Factors["association"], jobs.association),
        "nice": jobs.nice,
    }


def _time(memory: Memory, seconds: Table) -> Table:
    """Seconds of the site's clock as µs of the log's."""
    origin = int(memory.settings.origin)
    return np.where(seconds == UNSET, UNSET, (seconds - origin) * SECOND)
