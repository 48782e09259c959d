"""A log that a paper's experiments run on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from headway.campaign.identity import workload_digest
from headway.errors import UsageError
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


SHORT = {"blue": "sdsc-blue", "ds": "sdsc-ds"}
"""Short names of logs, and those by which papers know them."""


def by_name(traces: Mapping[str, str], others: Mapping[str, str] = SHORT) -> dict[str, str]:
    """The logs given (name -> file) by the names that a paper knows; ``others`` are other names of them."""
    for other, name in others.items():
        if other in traces and name in traces:
            raise UsageError(f"--trace: {other} and {name} are one log, given twice; give it once")
    return {others.get(name, name): path for name, path in traces.items()}


def read_with_machine(path: str) -> tuple[Workload, int]:
    """A log and the processors of its machine, which its header must say."""
    workload = read(path)
    procs = workload.header.max_procs
    if procs is None:
        raise UsageError(f"{path}: the header has neither MaxProcs nor MaxNodes; add one of them")
    return workload, procs
