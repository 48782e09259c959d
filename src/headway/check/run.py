"""Runs the invariants against a policy; each broken one is told with the smallest workload found."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from headway.audit import UNIVERSAL
from headway.check.laws import AWKWARD, LAWS, TRIES, Broken, Instance, instances, judged, shrunk
from headway.errors import PolicyError, UsageError
from headway.plain import Notify, Progress, counted
from headway.platform import Platform
from headway.policies.spec import Spec, parse_spec
from headway.simulate import simulate


@dataclass(frozen=True)
class Breach:
    """A broken invariant: what happened, when and to which jobs, and a small workload on which it happens."""

    law: str
    message: str
    instance: Instance

    def __str__(self) -> str:
        jobs, procs = counted(len(self.instance), "job"), counted(self.instance.procs, "processor")
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


def check_policy(
    policy: object,
    *,
    skip: Collection[str] = (),
    workloads: int = 40,
    progress: Progress | None = None,
    notify: Notify | None = None,
) -> Check:
    """Run the invariants against a policy on small and awkward workloads.

    ``policy`` is a spec (``"./mine.py:Mine(k=3)"``) or the policy itself. ``skip`` names invariants
    that it need not keep. ``workloads`` random workloads are tried besides the awkward ones.
    ``progress`` is told (workloads tried, all workloads), ``notify`` gets a line if the policy is compiled.
    """
    laws = dict(LAWS) | {law.name: law.demands for law in UNIVERSAL if law.name not in LAWS}
    for law in skip:
        if law not in laws:
            raise UsageError(f"there is no invariant {law!r}; there are {', '.join(laws)}")
    wanted = {law: demands for law, demands in laws.items() if law not in skip}
    spec = parse_spec(policy)
    breaches: dict[str, Breach] = {}
    if notify is not None:
        with suppress(PolicyError):  # what is wrong with it is found below
            simulate(AWKWARD[0].workload(), AWKWARD[0].procs, spec, notify=notify)
    tried = [_fitted(spec, instance) for instance in instances(workloads)]
    for number, instance in enumerate(tried):
        open_laws = frozenset(law for law in wanted if law not in breaches)
        for broken in judged(spec, instance, open_laws):
            if broken.law not in breaches:
                breaches[broken.law] = _smallest(spec, instance, broken)
        if progress is not None:
            progress(number + 1, len(tried))
        if "ends" in breaches:
            break  # every further run would be as long
    if "determinism" in breaches:  # comparing two runs shows nothing else then
        for law in ("peeking", "renaming", "shift"):
            breaches.pop(law, None)
    ordered = tuple(breaches[law] for law in wanted if law in breaches)
    return Check(str(spec), wanted, ordered, len(tried))


def _fitted(spec: Spec, instance: Instance) -> Instance:
    """The instance with no job wider than the policy lets jobs be: it may keep a part of the machine."""
    most = spec.policy.pools(Platform.procs(instance.procs))[0].procs
    jobs = tuple(job._replace(procs=min(job.procs, most)) for job in instance.jobs)
    return replace(instance, jobs=jobs)


def _smallest(policy: object, instance: Instance, broken: Broken) -> Breach:
    """The breach of one invariant on the smallest workload found."""
    only = frozenset({broken.law})

    def message(candidate: Instance) -> str:
        return next((found.message for found in judged(policy, candidate, only)), "")

    # A run without end is long, so few of them are tried.
    small, words = shrunk(instance, broken.message, message, most=30 if broken.law == "ends" else TRIES)
    return Breach(broken.law, words, small)
