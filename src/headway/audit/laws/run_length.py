"""The final run lasts as long as the program needs, cut at the walltime.

In one piece: end - start = min(runtime, walltime). In several: the pieces in which the job runs add up to
min(runtime, walltime - load), because loading the input counts in the walltime, while swaps and
suspensions do not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headway.audit.record import Record
from headway.audit.verdict import Finding, of_jobs
from headway.units import seconds_text


def allowed(record: Record) -> NDArray[np.int64]:
    """The time each job may run before it is killed (µs): the walltime less what loading took."""
    return np.asarray(np.maximum(record.walltime - record.time_in(("loading",)), 0))


def check(record: Record) -> Finding:
    """Time running in the final run against min(runtime, what is allowed)."""
    ran = np.where(record.in_pieces, record.time_in(("running",)), record.end - record.start)
    due = np.minimum(record.runtime, allowed(record))

    def tell(row: int) -> str:
        asked = f"runtime {seconds_text(record.runtime[row])}, walltime {seconds_text(record.walltime[row])}"
        return f"runs for {seconds_text(ran[row])} s instead of {seconds_text(due[row])} s ({asked})"

    return of_jobs(record, ran != due, tell)
