"""A model of failures: every node fails now and then, and is repaired.

    mtbf=30d, repair=4h, seed=1, procs_per_node=16

Node i has the processors from i x procs_per_node on; the last one may have fewer. Each node by itself is up
for a time drawn with mean ``mtbf`` (exponential, or Weibull where ``shape`` is not 1), then down for a time
drawn with mean ``repair`` (exponential, or always the same with ``repairs=constant``), and so on, from the
first submission of the log until ``until`` after it (by default the last submission and the longest
walltime).

Every node has a stream of random numbers of its own, made from the seed and the node's number: the same
failures come to every policy, and a longer time only adds some. A time is drawn from a uniform u in [0, 1) as
scale x (-ln(1 - u))^(1 / shape), and rounded up to a second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from headway.errors import UsageError
from headway.plain import counted
from headway.platform.outage import Outage
from headway.units import SECOND

if TYPE_CHECKING:
    from headway.workload import Workload

MOST_FAILURES = 5_000_000
MOST_RESTARTS = 1000
"""A job that would begin anew more often than that, on average, can hardly end."""
SMALLEST_SHAPE = 0.01
"""Below it the mean of a Weibull distribution soon is beyond all numbers."""
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True)
class Failures:
    """The parameters, times in seconds."""

    mtbf: float
    repair: float
    seed: int = 0
    procs_per_node: int = 1
    shape: float = 1.0
    repairs: str = "exponential"
    until: float | None = None

    def __post_init__(self) -> None:
        for name in ("mtbf", "repair", "shape"):
            if not (0 < getattr(self, name) < math.inf):
                raise UsageError(f"failures: {name} must be greater than 0, not {getattr(self, name):g}")
        if self.shape < SMALLEST_SHAPE:
            raise UsageError(f"failures: shape must be at least {SMALLEST_SHAPE:g}, not {self.shape:g}")
        if self.procs_per_node < 1:
            raise UsageError(f"failures: procs_per_node must be at least 1, not {self.procs_per_node}")
        if self.seed < 0:
            raise UsageError(f"failures: seed must be a whole number from 0 on, not {self.seed}")
        if self.repairs not in ("exponential", "constant"):
            raise UsageError(f"failures: repairs must be exponential or constant, not {self.repairs!r}")
        if self.until is not None and not 0 < self.until < math.inf:
            raise UsageError(f"failures: until must be greater than 0, not {self.until:g}")

    def __str__(self) -> str:
        until = "" if self.until is None else f", until={self.until:g}"
        return (
            f"mtbf={self.mtbf:g}, repair={self.repair:g}, seed={self.seed}, "
            f"procs_per_node={self.procs_per_node}, shape={self.shape:g}, repairs={self.repairs}{until}"
        )

    def draw(self, procs: int, first: int, last: int) -> tuple[Outage, ...]:
        """The failures of a machine of ``procs`` processors from ``first`` to ``last`` (µs)."""
        if self.until is not None:
            last = first + round(self.until * SECOND)
        nodes = -(-procs // self.procs_per_node)
        expected = nodes * (last - first) / SECOND / (self.mtbf + self.repair)
        if expected > MOST_FAILURES:
            raise UsageError(
                f"failures: some {expected:,.0f} failures are more than the {MOST_FAILURES:,} supported; "
                "give a longer mtbf, larger nodes or a shorter until"
            )
        found: list[Outage] = []
        scale = self.mtbf / math.gamma(1 + 1 / self.shape)
        for node in range(nodes):
            low = node * self.procs_per_node
            high = min(low + self.procs_per_node, procs)
            stream = np.random.Generator(np.random.PCG64([self.seed, node]))
            at = first
            while True:
                at += whole_seconds(scale * (-math.log1p(-stream.random())) ** (1 / self.shape))
                if at >= last:
                    break
                away = self.repair
                if self.repairs == "exponential":
                    away *= -math.log1p(-stream.random())
                end = at + whole_seconds(away)
                found.append(Outage("down", at, end, high - low, ((low, high),)))
                at = end
        return tuple(sorted(found, key=lambda outage: (outage.start, outage.processors)))

    def caution(self, procs: int, workload: Workload) -> str:
        """A sentence on jobs that can hardly end on so many processors, where failed ones begin anew.

        Empty if there are none. A job of n nodes and run time r meets n r / mtbf failures on average, so that
        it begins anew e^(n r / mtbf) - 1 times until it runs through.
        """
        nodes = -(-workload.procs // self.procs_per_node)
        seconds = np.minimum(workload.runtime, workload.walltime) / SECOND
        met = np.where(workload.procs <= procs, nodes * seconds / self.mtbf, 0)
        hopeless = int(np.count_nonzero(met > math.log1p(MOST_RESTARTS)))
        if not hopeless:
            return ""
        worst = int(np.argmax(met))
        return (
            f"failures: {counted(hopeless, 'job')} can hardly end, such as job {workload.job[worst]}: of its "
            f"{counted(nodes[worst], 'node')} one fails every {self.mtbf / nodes[worst]:,.4g} s, it runs for "
            f"{seconds[worst]:,.4g} s, and starts again more than {MOST_RESTARTS:,} times on average, or "
            "until there are no more failures; give a longer mtbf, more procs_per_node, or --on-failure lost"
        )


def whole_seconds(time: float) -> int:
    """A time in seconds, at least one, rounded up to whole ones (µs)."""
    return max(1, math.ceil(min(time, 1e12))) * SECOND


def parse_failures(text: str) -> Failures:
    """What --failures gives."""
    names = Failures.__dataclass_fields__
    given: dict[str, object] = {}
    for part in text.split(","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key not in names:
            known = ", ".join(names)
            raise UsageError(f"--failures: {part.strip()!r} is not KEY=VALUE; the keys are {known}")
        if key in given:
            raise UsageError(f"--failures: {key} is given twice")
        given[key] = _value(key, value)
    for key in ("mtbf", "repair"):
        if key not in given:
            raise UsageError(
                f"--failures: {key} is missing; write it as in "
                "'mtbf=30d, repair=4h, seed=1, procs_per_node=16'"
            )
    return Failures(**given)  # type: ignore[arg-type]


def _value(key: str, text: str) -> object:
    if key == "repairs":
        return text
    try:
        if key in ("seed", "procs_per_node"):
            return int(text)
        if key != "shape" and text[-1:] in UNITS:
            return float(text[:-1]) * UNITS[text[-1]]
        return float(text)
    except ValueError:
        what = "a whole number" if key in ("seed", "procs_per_node") else "a number, such as 12h or 30d"
        raise UsageError(f"--failures: {key} must be {what}, not {text!r}") from None
