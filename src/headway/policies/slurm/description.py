"""Slurm's own rules."""

from __future__ import annotations

from headway.policies.entry import Parameter, PolicyInfo

ENTRIES: tuple[PolicyInfo, ...] = (
    PolicyInfo(
        "slurm",
        "Slurm's main loop and backfill, by a site's own configuration",
        ("SchedMD, Slurm Workload Manager, version 22.05",),
        (
            Parameter(
                "seed",
                "of the phases of the controller's clocks and of its delays",
                default=0,
                number=int,
                low=0,
            ),
            Parameter(
                "epilog",
                "how long a node stays completing after a job's end, on average",
                default=1,
                number=float,
                low=0,
                unit="seconds",
            ),
            Parameter(
                "cycle",
                "how long a backfill cycle takes on average: it sleeps after it, so this moves the next one",
                default=0.2,
                number=float,
                low=0,
                unit="seconds",
            ),
            Parameter(
                "late",
                "how late a backfill cycle is on average where something changed while it slept",
                default=20,
                number=float,
                low=0,
                unit="seconds",
            ),
            Parameter(
                "drift",
                "how much longer than sched_interval the time between full passes is",
                default=0.5,
                number=float,
                low=0,
                unit="seconds",
            ),
        ),
        details="Needs a site: partitions, nodes, accounts and parameters as the site has them.",
        example="slurm(seed=1)",
        home="headway.policies.slurm.policy:Slurm",
        needs=("a site: its folder, or --site DIR",),
    ),
)
