"""All outages of a machine: read from a file, drawn from a model, or put together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.errors import UsageError
from headway.plain import counted
from headway.platform.outage import Outage, Range

if TYPE_CHECKING:
    from headway.workload import Workload

ON_FAILURE = ("requeue", "lost")
"""What becomes of a job whose processors are lost: it begins anew, or not."""


@dataclass(frozen=True, slots=True)
class Outages:
    """All outages of a machine, and what becomes of jobs that they stop."""

    outages: tuple[Outage, ...]
    on_failure: str = "requeue"
    source: dict[str, str] = field(default_factory=dict, compare=False)
    """Where they come from: a file with its digest, or the model and its parameters."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "outages", tuple(self.outages))
        if self.on_failure not in ON_FAILURE:
            raise UsageError(f"on_failure must be {' or '.join(ON_FAILURE)}, not {self.on_failure!r}")

    @classmethod
    def load(cls, path: str | Path, *, unix_start: int | None = None, on_failure: str = "requeue") -> Outages:
        """The outages of a CSV file; ``unix_start`` is when the log's clock was 0, for dates in it."""
        from headway.platform.outages_file import bytes_of

        return cls.parse(bytes_of(Path(path)), Path(path), unix_start, on_failure)

    @classmethod
    def parse(cls, raw: bytes, path: Path, unix_start: int | None, on_failure: str) -> Outages:
        """The outages of a CSV file that was read from a path."""
        from headway.platform.outages_file import parse_outages

        source = {"events": path.name, "sha256": hashlib.sha256(raw).hexdigest()}
        return cls(parse_outages(raw, path, unix_start), on_failure, source)

    @classmethod
    def failures(cls, model: str, procs: int, workload: Workload, *, on_failure: str = "requeue") -> Outages:
        """Failures of a machine of ``procs`` drawn for the time of a log, by a model such as
        ``mtbf=30d, repair=4h, seed=1, procs_per_node=16`` (:mod:`headway.platform.failures`)."""
        from headway.platform.failures import parse_failures

        if not len(workload):
            return cls((), on_failure)
        first, last = int(workload.submit.min()), int(workload.submit.max())
        longest = int(workload.walltime.max())
        parsed = parse_failures(model)
        return cls(parsed.draw(procs, first, last + longest), on_failure, {"failures": str(parsed)})

    def describe(self) -> dict[str, Any]:
        """Plain data for ``run.json``: how many, their rule, where they come from, and their digest."""
        digest = hashlib.sha256(repr(self.outages).encode()).hexdigest()
        return {
            "count": len(self.outages),
            "on_failure": self.on_failure,
            "source": dict(self.source),
            "sha256": digest,
        }

    def __len__(self) -> int:
        return len(self.outages)

    def __add__(self, other: Outages) -> Outages:
        return replace(self, outages=self.outages + other.outages, source={**self.source, **other.source})

    def on(self, procs: int, last: int) -> Outages:
        """As they are on a machine of so many processors, with a log whose last job comes at ``last`` (µs).

        Processors that are only counted get numbers: the highest that no other outage has at that time.
        """
        for outage in self.outages:
            highest = max((high for _, high in outage.processors), default=outage.procs)
            if highest > procs:
                what = f"processor {highest - 1}" if outage.processors else counted(outage.procs, "processor")
                raise UsageError(
                    f"an outage of kind {outage.kind} has {what}, and the machine has {procs}: "
                    "give fewer, or the machine that the events are of"
                )
        ended = [
            replace(outage, end=max(last, outage.start + 1) if outage.end is None else outage.end)
            for outage in sorted(self.outages, key=lambda o: o.start)
        ]
        numbered: list[Outage] = []
        open_ones: list[Outage] = []
        named = [o for o in ended if o.processors and o.kind != "maintenance"]
        for outage in ended:
            if outage.kind != "maintenance" and not outage.processors:
                open_ones = [o for o in open_ones if ends(o) > outage.start]
                meanwhile = [o for o in named if o.start < ends(outage) and ends(o) > outage.start]
                held = sorted(part for o in (*open_ones, *meanwhile) for part in o.processors)
                outage = replace(outage, processors=_highest(outage, held, procs))
                open_ones.append(outage)
            numbered.append(outage)
        return replace(self, outages=tuple(numbered))


def ends(outage: Outage) -> int:
    """When an outage on a machine is over."""
    assert outage.end is not None
    return outage.end


def _highest(outage: Outage, held: Iterable[Range], procs: int) -> tuple[Range, ...]:
    """The highest processors that are not held."""
    wanted, top, found = outage.procs, procs, list[Range]()
    for low, high in [*sorted(held, key=lambda part: -part[1]), (0, 0)]:
        if wanted and high < top:
            take = min(wanted, top - high)
            found.append((top - take, top))
            wanted -= take
        top = min(top, low)
    if wanted:
        raise UsageError(
            f"outages that overlap have more processors than the {procs} of the machine; "
            "give fewer, or name them in the column processors"
        )
    return tuple(sorted(found))
