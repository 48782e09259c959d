"""What a check says: which invariants hold, and each broken one in words with the smallest workload found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headway.check.instances import Instance
from headway.plain import counted


@dataclass(frozen=True)
class Breach:
    """A broken invariant: what happened, when and to which jobs, and a small workload on which it happens."""

    law: str
    message: str
    instance: Instance

    def __str__(self) -> str:
        jobs = f"{len(self.instance)} job{'s' * (len(self.instance) != 1)}"
        procs = f"{self.instance.procs} processor{'s' * (self.instance.procs != 1)}"
        return (
            f"{self.law}: {self.message}\n"
            f"It happens with {jobs} on {procs} (times in seconds):\n"
            f"{self.instance.table()}"
        )


@dataclass(frozen=True)
class Check:
    """The verdict on one policy. `laws` says what each law that was checked demands."""

    policy: str
    laws: Mapping[str, str]
    breaches: tuple[Breach, ...]
    workloads: int

    @property
    def ok(self) -> bool:
        """Whether every invariant holds on every workload tried."""
        return not self.breaches

    def table(self) -> list[dict[str, Any]]:
        """One row per invariant: its name, what it demands, and what happened where it is broken."""
        broken = {breach.law: breach.message for breach in self.breaches}
        return [
            {"law": law, "demands": demands, "broken": broken.get(law, "")}
            for law, demands in self.laws.items()
        ]

    def __str__(self) -> str:
        tried = (
            f"{counted(len(self.laws), 'invariant')} checked on {counted(self.workloads, 'small workload')}"
        )
        head = f"{self.policy}: {tried}"
        if self.ok:
            return f"{head}: all hold"
        names = ", ".join(breach.law for breach in self.breaches)
        return "\n\n".join([f"{head}: broken are {names}", *(str(breach) for breach in self.breaches)])
