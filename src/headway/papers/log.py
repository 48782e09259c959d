"""A log that a paper's experiments run on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from headway.campaign.identity import workload_digest
from headway.errors import UsageError
from headway.plain import close, counted
from headway.workload import Workload, read


@dataclass(frozen=True)
class Log:
    """A log and its machine."""

    name: str
    title: str
    workload: Workload
    procs: int

    @cached_property
    def digest(self) -> str:
        """Of its jobs and machine, so that results of another log are not taken for this one's."""
        return f"{self.procs} {workload_digest(self.workload)}"

    @property
    def described(self) -> str:
        """Its name and size, for a page."""
        return f"{self.title} ({len(self.workload):,} jobs, {self.procs:,} processors)"

    @property
    def has_requests(self) -> bool:
        """Whether users asked for times at all; where the log has none, each request is the run time."""
        return has_requests(self.workload)


def has_requests(workload: Workload) -> bool:
    """Whether some job asked for another time than it ran."""
    return bool((workload.walltime != workload.runtime).any())


SHORT = {"blue": "sdsc-blue", "ds": "sdsc-ds"}
"""Short names of logs, and those by which papers know them."""


LOGS: dict[str, tuple[str, ...]] = {
    "redirection": ("curie", "intrepid", "ricc"),
    "deadline": ("hpc2n", "sdsc-blue", "sdsc-ds"),
    "urgent": ("sdsc-blue", "lanl"),
    "reallocation": ("bordeaux", "lyon", "toulouse", "ctc", "sdsc"),
}
"""The logs that a paper used, by the names that it knows; locality used none."""


def other_logs(paper: str, traces: Iterable[str]) -> list[str]:
    """What to say of logs that no paper used: one may be a mistyped name of one that this paper did."""
    known = {name for names in LOGS.values() for name in names} | set(SHORT)
    own = LOGS.get(paper, ())
    return [
        f"{name} is not a log of the paper{close(name, own)}, which used {', '.join(own)}: "
        "it is measured next to the paper's claims"
        for name in traces
        if own and paper != "reallocation" and name not in known
    ]


def by_name(traces: Mapping[str, str], others: Mapping[str, str] = SHORT) -> dict[str, str]:
    """The logs given (name -> file) by the names that a paper knows; ``others`` are other names of them."""
    for other, name in others.items():
        if other in traces and name in traces:
            raise UsageError(f"--trace: {other} and {name} are one log, given twice; give it once")
    return {others.get(name, name): path for name, path in traces.items()}


def read_with_machine(path: str, least: int = 1) -> tuple[Workload, int]:
    """A log of at least so many jobs that ran, and the processors of its machine, which its header says."""
    workload = read(path)
    ran = int((workload.runtime > 0).sum())
    if ran < least:
        raise UsageError(
            f"{path}: {counted(ran, 'job')} of it ran for longer than 0 s, and the paper's numbers need at "
            f"least {least}; give a longer log"
        )
    procs = workload.header.max_procs
    if procs is None:
        raise UsageError(f"{path}: the header has {workload.header.without_procs}; add one of them")
    return workload, procs
