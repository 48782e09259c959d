"""A policy whose jobs come one by one: nothing is prepared from a log, each job brings its own rows.

    line = Joining("dbf", Platform.procs(64))
    line.driver.open(t)
    number = line.submit(procs=4, walltime=3_600_000_000, deadline=t + 7_200_000_000)
    line.driver.close()

Where a policy orders its queue by a rank among all jobs of a log, the order is looked up at each pass here.
Times are µs.
"""

from __future__ import annotations

import numpy as np

from headway.engine.driver import NO_JOBS, Driver
from headway.engine.setup import Jobs, make_state
from headway.engine.tables import Table
from headway.platform import Platform
from headway.policies.prepare import UNBOUNDED, Arrivals, Prepared
from headway.policies.spec import Spec, parse_spec

UNKNOWN = {"deadline": -1, "urgent": False, "swap": -1, "memory_kb": -1}
"""What a job has of each further column where nothing is said."""


class Joining:
    """A machine under a policy; its jobs are submitted, end and are cancelled through ``driver``."""

    def __init__(self, policy: str | Spec, platform: Platform) -> None:
        self.policy, self.platform = parse_spec(policy).policy, platform
        self.procs = platform.clusters[0].procs
        self.widest = self.policy.pools(platform)[0].procs
        """Processors of the pool that jobs are submitted to."""
        self.prepared = self._prepared(self._arrivals({}, 0, 0))
        """What the policy counted and noted is asked here, of ``driver.state``."""
        self.driver = Driver(NO_JOBS, self.prepared.setup, self.policy.as_local())

    def submit(self, procs: int, walltime: int, runtime: int = UNBOUNDED, **columns: int) -> int:
        """A job is submitted at the open instant; its number. Without a run time its end must be reported."""
        return self.driver.join(self.rows(procs, walltime, **columns), runtime)

    def rows(self, procs: int, walltime: int, **columns: int) -> Table:
        """A job's column of the table of jobs."""
        arrivals = self._arrivals(columns, procs, walltime)
        prepared = self._prepared(arrivals)
        zero = np.zeros(1, np.int64)
        one = Jobs(zero, arrivals.procs, arrivals.walltime, zero, prepared.plan)
        return make_state(one, prepared.setup, 1)[0].jobs[:, 0].copy()

    def _prepared(self, arrivals: Arrivals) -> Prepared:
        return self.policy.prepare_joining(arrivals, self.procs)

    def _arrivals(self, columns: dict[str, int], procs: int, walltime: int) -> Arrivals:
        """One job, or none where it has no processors."""
        count = min(procs, 1)
        extra = {
            name: np.full(count, columns.get(name, value), type(value)) for name, value in UNKNOWN.items()
        }
        extra["file_place"] = np.full(count, columns.get("file_place", 0))
        size, length = np.full(count, procs, np.int64), np.full(count, walltime, np.int64)
        now = np.zeros(count, np.int64)
        return Arrivals(now, size, length, length, extra, self.platform, more_come=True)
