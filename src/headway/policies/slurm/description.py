"""Slurm's own rules."""

from __future__ import annotations

from headway.policies.entry import Parameter, PolicyInfo

ENTRIES: tuple[PolicyInfo, ...] = (
    PolicyInfo(
        "slurm",
        "Slurm's main loop and backfill, by a site's own configuration",
        ("SchedMD, Slurm Workload Manager, version 22.05",),
        (
            Parameter("seed", "phases of the controller's clocks", default=0, number=int, low=0),
            Parameter(
                "epilog",
                "how long a node stays completing after a job's end",
                default=0,
                number=int,
                low=0,
                unit="seconds",
            ),
        ),
        details="Needs a site: partitions, nodes, accounts and parameters as the site has them.",
        example="slurm(seed=1)",
    ),
)
