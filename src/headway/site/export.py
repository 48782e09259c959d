"""The script that gets a site's data out of Slurm, for a login node where nothing is installed."""

from __future__ import annotations

from importlib.resources import files

from headway.site.limits import NAMES
from headway.site.parameters import DEFAULTS
from headway.workload.slurm.export import COLUMNS

ASSOCIATIONS = (
    "Cluster", "Account", "ParentName", "User", "Partition", "Share", "Priority", "DefaultQOS", "QOS",
    "GrpJobs", "GrpJobsAccrue", "GrpSubmit", "GrpWall", "GrpTRES", "GrpTRESMins", "GrpTRESRunMins", "MaxJobs",
    "MaxJobsAccrue", "MaxSubmit", "MaxWall", "MaxTRES", "MaxTRESPerNode", "MaxTRESMins",
)  # fmt: skip
"""Columns of `sacctmgr show associations`."""

_OF_ASSOCIATIONS_ONLY = ("max_jobs", "max_jobs_accrue", "max_submit")
QOS = (
    "Name", "Priority", "GraceTime", "Preempt", "PreemptExemptTime", "PreemptMode", "Flags", "UsageThres",
    "UsageFactor", "LimitFactor", "MinPrioThres",
    *(names[0] for field, names in NAMES.items() if field not in _OF_ASSOCIATIONS_ONLY),
)  # fmt: skip
"""Columns of `sacctmgr show qos`."""

NOT_GIVEN = ("authinfo",)
"""Parameters that may hold a path, and are left out when names are replaced."""


def script() -> str:
    """The script, with the columns and parameters that are read."""
    parameters = sorted(key for key in DEFAULTS if key not in NOT_GIVEN)
    pattern = "|".join(parameters)
    text = (files("headway.site") / "export.sh").read_text("utf-8")
    for name, value in (
        ("COLUMNS", ",".join(COLUMNS)),
        ("ASSOCIATIONS", ",".join(ASSOCIATIONS)),
        ("QOS", ",".join(QOS)),
        ("PARAMETERS", pattern),
    ):
        text = text.replace(f"@{name}@", value)
    return text
