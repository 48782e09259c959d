"""Transformations of workloads: small, seeded, composable, and named in the provenance of the result.

In Python ``window(workload, from_=0, to=604800)``; as text, in `--apply` and sweep files,
``apply(workload, "window(from=0, to=604800)", "exact")``.
"""

from __future__ import annotations

from headway.workload.transform.clusters import home, local
from headway.workload.transform.deadlines import deadlines
from headway.workload.transform.estimates import estimates, exact, limit, walltimes
from headway.workload.transform.feedback import feedback
from headway.workload.transform.files import files
from headway.workload.transform.filters import only, without
from headway.workload.transform.load import load, offered_load
from headway.workload.transform.machine import machine, split
from headway.workload.transform.memory import memory, swap
from headway.workload.transform.merge import merge
from headway.workload.transform.moldable import moldable
from headway.workload.transform.registry import TRANSFORMATIONS, Transformation, apply, apply_each
from headway.workload.transform.shake import shake
from headway.workload.transform.urgent import inject, urgent
from headway.workload.transform.weeks import Week, weeks
from headway.workload.transform.windows import first, from_zero, window

__all__ = [
    "TRANSFORMATIONS",
    "Transformation",
    "Week",
    "apply",
    "apply_each",
    "deadlines",
    "estimates",
    "exact",
    "feedback",
    "files",
    "first",
    "from_zero",
    "home",
    "inject",
    "limit",
    "load",
    "local",
    "machine",
    "memory",
    "merge",
    "moldable",
    "offered_load",
    "only",
    "shake",
    "split",
    "swap",
    "urgent",
    "walltimes",
    "weeks",
    "window",
    "without",
]
