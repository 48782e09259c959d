"""From a site to levels: jobs that never share a core, where jobs are suspended for others.

Jobs of one tier never meet on a core; a job of a higher tier may start on the cores of one below, which is
then suspended and keeps its memory. In a partition with OverSubscribe=FORCE:n up to n jobs have the same core
and take turns on it; each of them is on a level of its own, the rows of the tier. One row more is for jobs
that may preempt others there by their QOS. So each core is, on each level, free or one job's::

    level 2   tier 10                          |  job 9 runs   |
    level 1   tier 2     | job 7 | cancelled   |
    level 0   tier 1          | job 4 runs     | job 4 waits   | job 4 goes on

Partitions of the same tier are one here: their jobs never have the same core beyond their rows.
"""

from __future__ import annotations

import numpy as np

from headway.engine.tables import Table
from headway.jit.rows import zeros
from headway.policies.slurm.nodes.cores import WORD
from headway.policies.slurm.setup.life import counted, gres_total, keeps_forced_off
from headway.policies.slurm.tables.life import Levels
from headway.policies.slurm.tables.settings import Mode
from headway.site import Site
from headway.site.model import Partition
from headway.site.once import once

MOST_ON_CPU = 1 << 10
"""Jobs that may be on a CPU, suspended or taking turns."""
TIME_SLICE = 30
"""Seconds of a time slice where the site does not say (SchedulerTimeSlice)."""


def suspends(site: Site) -> bool:
    """Whether jobs are suspended for others: those of higher tiers, or those they take turns with."""
    return "GANG" in site.config.get("PreemptMode").upper()


def by_tier(site: Site) -> bool:
    """Whether jobs are preempted by those of partitions of a higher tier."""
    return "prio" in site.config.get("PreemptType").lower()


def by_qos(site: Site) -> bool:
    """Whether jobs are preempted by those of certain QOS."""
    return "qos" in site.config.get("PreemptType").lower()


def mode_of(site: Site, text: str) -> int:
    """How jobs are preempted where a QOS or partition says this; as the site has it where it says nothing."""
    given = text.upper()
    if given in ("", "CLUSTER", "(NULL)"):
        given = site.config.get("PreemptMode").upper()
    if "REQUEUE" in given:
        return Mode.REQUEUE
    if "SUSPEND" in given and suspends(site):
        return Mode.SUSPEND
    return Mode.CANCEL if "CANCEL" in given else Mode.OFF


def rows_of(site: Site, partition: Partition) -> tuple[int, int]:
    """How many jobs of a partition may have the same core: of all jobs, and of those that preempt by QOS."""
    forced = partition.oversubscribe == "FORCE" and suspends(site)
    rows = max(partition.oversubscribe_count, 1) if forced else 1
    return rows, rows + (forced and by_qos(site))


def time_slice(site: Site) -> int:
    """Seconds of a time slice; 0 where no jobs of a partition take turns."""
    takes_turns = any(max(rows_of(site, partition)) > 1 for partition in site.partitions)
    return (site.config.seconds("SchedulerTimeSlice") or TIME_SLICE) if takes_turns else 0


def level_of(site: Site, partition: Partition) -> int:
    """The level of a partition's jobs, the first of them where they take turns."""
    return levels(site).index((*_tier_and_rule(site, partition), 0))


@once
def levels(site: Site) -> list[tuple[int, bool, int]]:
    """Tier, whether its jobs give way to nobody, and row of each level, from the lowest tier up."""
    return sorted(
        {
            (*_tier_and_rule(site, partition), row)
            for partition in site.partitions
            for row in range(max(rows_of(site, partition)))
        }
    )


def _tier_and_rule(site: Site, partition: Partition) -> tuple[int, bool]:
    return partition.tier, by_tier(site) and mode_of(site, partition.preempt_mode) == Mode.OFF


@once
def level_table(site: Site) -> Levels:
    """[Level, level]; none where nobody is suspended for others."""
    found = levels(site) if suspends(site) else []
    table = zeros(Levels, len(found))
    table[: Levels["dealt"]] = np.array(found, np.int64).reshape(-1, Levels["dealt"]).T
    return table


@once
def core_words(site: Site) -> int:
    """Words that the CPUs of the largest node take as bits; 0 where nobody is suspended for others."""
    largest = max((node.cpus for node in site.nodes), default=0)
    return -(-largest // WORD) if suspends(site) else 0


@once
def further_total(site: Site) -> Table:
    """[row, node] generic resources, CPUs that are counted apart, for each level the CPUs as bits.

    Of those that partitions may use there are more than their bound where cores have threads: it is on the
    threads that a job uses, and the job holds the others of its cores, too.
    """
    words = core_words(site)
    cores = [
        [(1 << min(max(node.cpus - WORD * word, 0), WORD)) - 1 for node in site.nodes]
        for word in range(words)
    ]
    rows = np.array(cores * level_table(site).shape[1], np.int64).reshape(-1, len(site.nodes))
    beyond = [node.threads_per_core if node.threads_per_core > 1 else 0 for node in site.nodes]
    all_cpus = [node.cpus * MOST_ON_CPU for node in site.nodes]
    most = [
        all_cpus if one.max_cpus_per_node is None else [one.max_cpus_per_node * (1 + more) for more in beyond]
        for one in counted(site)
    ] + [all_cpus] * keeps_forced_off(site)
    counts = np.array(most, np.int64).reshape(-1, len(site.nodes))
    return np.vstack([gres_total(site), counts, rows])
