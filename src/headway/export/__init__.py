"""Schedules in other tools' files."""

from __future__ import annotations

from headway.export.batsim_jobs import write_batsim_jobs

__all__ = ["write_batsim_jobs"]
