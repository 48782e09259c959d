"""Limits of QOS and associations by the names that sacctmgr gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from headway.site import values
from headway.site.entries import Entry
from headway.site.model import Limits

NAMES: dict[str, tuple[str, ...]] = {
    "grp_jobs": ("GrpJobs",),
    "grp_jobs_accrue": ("GrpJobsAccrue",),
    "grp_submit": ("GrpSubmit", "GrpSubmitJobs"),
    "grp_wall_minutes": ("GrpWall",),
    "grp_tres": ("GrpTRES",),
    "grp_tres_mins": ("GrpTRESMins",),
    "grp_tres_run_mins": ("GrpTRESRunMins",),
    "max_jobs": ("MaxJobs",),
    "max_jobs_accrue": ("MaxJobsAccrue",),
    "max_submit": ("MaxSubmit", "MaxSubmitJobs"),
    "max_wall_minutes": ("MaxWall", "MaxWallDurationPerJob", "MaxWallPJ"),
    "max_tres": ("MaxTRES", "MaxTRESPerJob", "MaxTRESPJ"),
    "max_tres_per_node": ("MaxTRESPerNode", "MaxTRESPN"),
    "max_tres_mins": ("MaxTRESMins", "MaxTRESMinsPerJob", "MaxTRESMinsPJ"),
    "min_tres": ("MinTRES", "MinTRESPerJob", "MinTRESPJ"),
    "max_jobs_per_user": ("MaxJobsPU", "MaxJobsPerUser"),
    "max_jobs_per_account": ("MaxJobsPA", "MaxJobsPerAccount"),
    "max_jobs_accrue_per_user": ("MaxJobsAccruePU", "MaxJobsAccruePerUser"),
    "max_jobs_accrue_per_account": ("MaxJobsAccruePA", "MaxJobsAccruePerAccount"),
    "max_submit_per_user": ("MaxSubmitPU", "MaxSubmitJobsPU", "MaxSubmitJobsPerUser"),
    "max_submit_per_account": ("MaxSubmitPA", "MaxSubmitJobsPA", "MaxSubmitJobsPerAccount"),
    "max_tres_per_user": ("MaxTRESPU", "MaxTRESPerUser"),
    "max_tres_per_account": ("MaxTRESPA", "MaxTRESPerAccount"),
    "max_tres_run_mins_per_user": ("MaxTRESRunMinsPU", "MaxTRESRunMinsPerUser"),
    "max_tres_run_mins_per_account": ("MaxTRESRunMinsPA", "MaxTRESRunMinsPerAccount"),
}
"""Each limit's names: the first as sacctmgr shows it, the others as its dumps and commands have it."""

QOS_NAMES = {"max_jobs": "max_jobs_per_user", "max_submit": "max_submit_per_user"}
"""What MaxJobs and MaxSubmitJobs mean in a QOS."""

INHERITED = (
    "max_jobs", "max_jobs_accrue", "max_submit", "max_wall_minutes", "max_tres", "max_tres_per_node",
    "max_tres_mins",
)  # fmt: skip
"""Limits that an association takes from the one above it, resource by resource."""


def limits_of(entry: Entry, *, qos: bool = False) -> Limits:
    """The limits an entry sets."""
    found: dict[str, Any] = {}
    for field, spellings in NAMES.items():
        how = _reader(field)
        for name in spellings:
            if name in entry and not values.nothing(entry.get(name)):
                target = QOS_NAMES.get(field, field) if qos else field
                found[target] = entry.read(name, how, None)
    return Limits(**{field: value for field, value in found.items() if value is not None})


def field_of(name: str) -> str | None:
    """The limit that has a name, in any case; None where there is none."""
    return next((one for one, names in NAMES.items() if name.lower() in map(str.lower, names)), None)


def shown_name(name: str) -> str:
    """The name that sacctmgr shows for a limit, in lower case; other names as they are."""
    field = field_of(name)
    return name if field is None else NAMES[field][0].lower()


def modified(limits: Limits, name: str, text: str, *, qos: bool) -> Limits | None:
    """The limits after `sacctmgr modify` has set one of them, in any case; None where there is no such limit.

    A limit of -1, or none, is taken away. Of a list of resources only those that are named change.
    """
    field = field_of(name)
    if field is None:
        return None
    target = QOS_NAMES.get(field, field) if qos else field
    value = _reader(field)(text)
    if isinstance(value, Mapping) and not values.nothing(text):
        named = {values.tres_name(part.partition("=")[0]) for part in values.names(text)}
        kept = {one: count for one, count in getattr(limits, target).items() if one not in named}
        value = {**kept, **value}
    return replace(limits, **{target: value})


def _reader(field: str) -> Callable[[str], Any]:
    if "tres" in field:
        return values.tres
    return values.minutes if "minutes" in field else values.limit


def inherited(own: Limits, above: Limits) -> Limits:
    """An association's limits with those it takes from its parent."""
    changed: dict[str, Any] = {}
    for field in INHERITED:
        mine, parents = getattr(own, field), getattr(above, field)
        if isinstance(mine, Mapping):
            changed[field] = {**parents, **mine}
        elif mine is None:
            changed[field] = parents
    return Limits(**{name: changed.get(name, getattr(own, name)) for name in NAMES})
