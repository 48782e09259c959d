"""The constants of the Lublin-Feitelson model, for each class of jobs.

U. Lublin and D. G. Feitelson, "The workload on parallel supercomputers: modeling the characteristics of
rigid jobs", Journal of Parallel and Distributed Computing 63(11), 2003, pages 1105-1122; the values are
those of the authors' program.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2


@dataclass(frozen=True)
class JobClass:
    """The constants of one class of jobs.

    serial, power_of_two: shares of jobs. low, med, high, low_share: log2 of a parallel size is uniform on
    [low, med] with probability low_share, else on [med, high]; the values are those of a machine of 128.
    a1, b1, a2, b2: shape and scale of the two gamma distributions of ln(run time); the first is taken with
    probability pa x size + pb. gap_shape, gap_scale: gamma distribution of ln(gap) in the rush hours, whose
    shape is multiplied by all_day for the whole day. cycle_shape, cycle_scale: arrivals over the day.
    """

    serial: float
    power_of_two: float
    low: float
    med: float
    high: float
    low_share: float
    a1: float
    b1: float
    a2: float
    b2: float
    pa: float
    pb: float
    gap_shape: float
    gap_scale: float
    cycle_shape: float
    cycle_scale: float
    all_day: float

    def size_range(self, procs: int) -> tuple[float, float, float]:
        """(low, med, high) of log2(size) on another machine: high and med move with log2 of its size."""
        high = max(log2(procs) + self.high - 7.0, 0.0)
        low = min(self.low, high)
        return low, max(high - (self.high - self.med), low), high


TYPELESS = JobClass(
    serial=0.244, power_of_two=0.576, low=0.8, med=4.5, high=7.0, low_share=0.86,
    a1=4.2, b1=0.94, a2=312.0, b2=0.03, pa=-0.0054, pb=0.78,
    gap_shape=10.2303, gap_scale=0.4871, cycle_shape=8.1737, cycle_scale=3.9631, all_day=1.0225,
)  # fmt: skip
BATCH = JobClass(
    serial=0.2927, power_of_two=0.6686, low=1.2, med=5.0, high=7.0, low_share=0.875,
    a1=6.57, b1=0.823, a2=639.1, b2=0.0156, pa=-0.003, pb=0.6986,
    gap_shape=6.0415, gap_scale=0.8531, cycle_shape=6.1271, cycle_scale=5.2740, all_day=1.0519,
)  # fmt: skip
INTERACTIVE = JobClass(
    serial=0.1541, power_of_two=0.625, low=1.0, med=3.0, high=5.5, low_share=0.705,
    a1=3.8351, b1=0.6605, a2=7.073, b2=0.6856, pa=-0.0118, pb=0.9156,
    gap_shape=6.5510, gap_scale=0.6621, cycle_shape=8.9186, cycle_scale=3.6680, all_day=0.9797,
)  # fmt: skip
