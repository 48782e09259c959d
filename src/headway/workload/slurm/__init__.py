"""Slurm's accounting records, as `sacct` writes them, into the columns of a workload."""

from __future__ import annotations

from headway.workload.slurm.export import EXPORT
from headway.workload.slurm.reading import read_sacct, read_sacct_json

__all__ = ["EXPORT", "read_sacct", "read_sacct_json"]
