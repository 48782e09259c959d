"""Sizes and times of jobs on the clusters, for servers in Python: the rules are those of ``molding``."""

from __future__ import annotations

from collections.abc import Sequence

from headway.policies.grid import molding, tables
from headway.policies.grid.composed.cluster import Shape
from headway.policies.grid.moldability import in_python, law_of
from headway.policies.prepare import Table
from headway.policies.spec import Spec


class Shaping:
    """How each job may be molded on each cluster; ``rows`` are those of ``moldability``."""

    def __init__(
        self, spec: Spec, rows: dict[int, Table], speeds: Sequence[tuple[int, int]], widest: Sequence[int]
    ) -> None:
        self.spec, self.rows, self.speeds, self.widest = spec, rows, speeds, widest

    def _of(self, row: int, job: int) -> int:
        return int(self.rows[row][job])

    def sizes(self, cluster: int, job: int) -> tuple[int, int]:
        """The fewest and the most processors of a cluster that a job may have; (1, 0) if it cannot run."""
        room = self.widest[cluster]
        if self._of(tables.OUT_OF, job) == 0:
            procs = self._of(tables.TRACE_PROCS, job)
            return (procs, procs) if procs <= room else (1, 0)
        limit = self._of(tables.LIMIT, job)
        return 1, min(limit, room) if limit > 0 else room

    def shape(self, cluster: int, job: int, procs: int) -> Shape:
        """A job on so many processors of a cluster."""
        speed, over = self.speeds[cluster]
        of, out_of = self._of(tables.OF, job), self._of(tables.OUT_OF, job)
        if out_of == 0:
            return Shape(procs, over, speed)
        logged = self._of(tables.SPEEDUP, job), self._of(tables.SPEEDUP_OVER, job)
        here = law_of(self.spec, of, out_of, procs)
        return Shape(procs, *in_python(molding.stretch)(*logged, *here, speed, over))
