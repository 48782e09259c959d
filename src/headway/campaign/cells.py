"""The cells of a campaign: one simulation each, named by the content of everything that decides it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from itertools import islice
from threading import Thread
from typing import Any

from headway.campaign.identity import (
    as_text,
    code_digest,
    digest_of,
    machine_key,
    policy_key,
    workload_digest,
)
from headway.campaign.measure import Batch, Cell, Settings, measures_key
from headway.campaign.sources import Part, Source
from headway.campaign.variants import Variant
from headway.changes import Case, changed, changes_of, counts_processors
from headway.errors import UsageError
from headway.platform import Platform
from headway.policies.spec import Spec, parse_spec
from headway.site.described import digest
from headway.workload import Workload


def batches(
    sources: Sequence[Source],
    platforms: Sequence[Platform | None],
    variants: Sequence[Variant],
    seeds: Sequence[int],
    settings: Settings,
) -> Iterator[list[Batch]]:
    """All cells in the order of the campaign; sources are opened seed by seed, one source ahead."""
    shared = _Shared(seeds, settings)
    for variant in variants:
        for spec in (variant.spec, variant.baseline):
            if spec is not None:
                shared.policy(spec)

    def opened(source: Source) -> Iterator[list[Batch]]:
        for parts in source.expand(seeds):
            found: list[Batch] = []
            for part in parts:
                cells = _OnPart(part, shared)
                for machine in [_machine(part, platform) for platform in platforms]:
                    for variant in variants:
                        cells.add(variant, machine)
                found += cells.batches.values()
            yield found

    following = _begun(opened(sources[0]))
    for source in [*sources[1:], None]:
        current, following = following, iter(()) if source is None else _begun(opened(source))
        yield from current


def _begun(lists: Iterator[list[Batch]]) -> Iterator[list[Batch]]:
    """The same lists, the first of which is made from now on in a thread of its own.

    Two logs are read at once in the beginning, when there is nothing else to do.
    """
    first: Future[list[list[Batch]]] = Future()

    def begin() -> None:
        try:
            first.set_result(list(islice(lists, 1)))
        except BaseException as error:
            first.set_exception(error)

    def gone_on() -> Iterator[list[Batch]]:
        yield from first.result()
        yield from lists

    Thread(target=begin, daemon=True).start()
    return gone_on()


def _machine(part: Part, platform: Platform | None) -> Platform:
    if platform is not None:
        return platform
    if part.machine is not None:
        return part.machine
    if part.source.platform is not None:
        return Platform.load(part.source.platform)
    procs = part.source.procs or part.workload.header.max_procs
    if procs is None:
        raise UsageError(
            f"{part.source.name}: the header has {part.workload.header.without_procs}; give procs or platform"
        )
    return Platform.procs(procs)


class _OnPart:
    """The cells on one workload, as it is and changed, each once; a baseline comes before who needs it."""

    def __init__(self, part: Part, shared: _Shared) -> None:
        self.part, self.shared = part, shared
        self.found: dict[str, Cell] = {}
        self.batches: dict[int, Batch] = {}
        self.contents: dict[int, str] = {}
        self.machines: dict[int, tuple[Platform, str, dict[str, Any]]] = {}
        """By their id; with the machine, so that no other one gets it."""
        self.after: dict[tuple[int, str], tuple[Workload, Platform]] = {}

    def add(self, variant: Variant, machine: Platform) -> None:
        """The cells of one variant, and of its baseline."""
        part, seeds = self.part, self.shared.seeds
        workload, platform, spec = self.changed(variant, machine)
        other = _equal_machine(variant, machine)
        widest = self.widest(variant, machine, platform, other)
        if variant.seed is not None:
            own = [variant.seed] if not part.source.seeded or variant.seed == part.seed else []
        else:
            own = [part.seed] if part.source.seeded or not variant.spec.uses_own else list(seeds)
        for seed in own:
            used = self.effective(variant, spec, seed)
            made = self.cell(workload, platform, spec, variant.label, used, widest)
            if variant.changes:
                made.columns["changes"] = variant.changes
            if variant.baseline is not None:
                used = self.effective(variant, variant.baseline, seed)
                base = self.cell(part.workload, other, variant.baseline, variant.base_label, used, widest)
                made.columns["baseline"] = base.id
                self.keep(base, part.workload)
            # A baseline may be a point of a grid too; it then stands in the results once, as both.
            kept = self.keep(made, workload)
            kept.columns.update(label=variant.label, baseline=made.columns["baseline"])
            kept.parameters.update(variant.parameters)

    def changed(self, variant: Variant, machine: Platform) -> tuple[Workload, Platform, Spec]:
        """Workload, machine and policy after a variant's changes; once made, for all of its seeds."""
        case = before = Case(self.part.workload, machine, str(variant.spec))
        try:
            for text in changes_of(variant.changes):
                case = _noticed(case, changed(case, text), text)
        except UsageError as error:
            raise UsageError(f"workload {self.part.source.name}: changes: {error}") from None
        spec = variant.spec if case.policy == before.policy else parse_spec(case.policy)
        place = id(machine), variant.changes
        platform = self.shared.changed.setdefault(place, (machine, case.platform))[1]
        workload, platform = self.after.setdefault(place, (case.workload, platform))
        return workload, platform, spec

    def widest(self, variant: Variant, machine: Platform, platform: Platform, other: Platform) -> int:
        """Processors of the widest job that a variant and its baseline can both run.

        Where a change leaves no job out it is that without the change, so that the baseline is the same cell.
        """
        found = variant.spec.policy.widest(platform)
        if not variant.changes or variant.baseline is None:
            return found
        found = min(found, variant.baseline.policy.widest(other))
        if (self.part.workload.procs > found).any():
            return found
        return max(found, variant.spec.policy.widest(machine))

    def effective(self, variant: Variant, spec: Spec, seed: int) -> int:
        """Policies of the catalogue draw nothing but by a seed in their text: another one does the same."""
        varies = self.part.source.seeded or spec.uses_own or variant.seed is not None
        return seed if varies else self.shared.seeds[0]

    def cell(
        self, workload: Workload, machine: Platform, spec: Spec, label: str, seed: int, widest: int
    ) -> Cell:
        shared, part = self.shared, self.part
        text, key, plain = shared.policy(spec)
        place, shown = self.described(machine)
        if id(workload) not in self.contents:
            self.contents[id(workload)] = workload_digest(workload)
        columns = {
            "workload": part.source.name, "part": part.number, "block": part.block, "seed": seed,
            **shown, "changes": None, "policy": text, "label": label, "baseline": None,
        }  # fmt: skip
        name = digest_of(shared.common, self.contents[id(workload)], place, plain, widest, seed)
        return Cell(name, machine, spec, seed, widest, columns, {}, key, shared.measures)

    def described(self, machine: Platform) -> tuple[str, dict[str, Any]]:
        """A machine's identity as text, and its columns."""
        if id(machine) not in self.machines:
            columns = {"machine": str(machine), "procs": machine.total_procs}
            self.machines[id(machine)] = machine, as_text(machine_key(machine)), columns
        return self.machines[id(machine)][1:]

    def keep(self, cell: Cell, workload: Workload) -> Cell:
        """The cell of this name, which is done once."""
        if cell.id not in self.found:
            found = self.part.machine
            site = "" if found is None or found.site is None else digest(found.site)
            self.batches.setdefault(id(workload), Batch(workload, [], site)).cells.append(cell)
        return self.found.setdefault(cell.id, cell)


def _noticed(before: Case, after: Case, text: str) -> Case:
    """The case after a change; refused where its policy looks at nothing that the change is about."""
    old, new = before.platform, after.platform
    same_size = after.workload is before.workload and new.total_procs == old.total_procs
    if same_size and counts_processors(after.policy) and machine_key(new) != machine_key(old):
        raise UsageError(
            f"{text}: {parse_spec(after.policy).brief} counts processors and looks at no rules of a site, so "
            "nothing would change; give it changes of nodes or jobs, or take slurm"
        )
    return after


class _Shared:
    """What all cells of a campaign have in common, and what is known of its policies and machines."""

    def __init__(self, seeds: Sequence[int], settings: Settings) -> None:
        self.seeds, self.measures = seeds, measures_key(settings)
        measured = settings.key() | {"measures": self.measures}
        self.common = as_text({"code": code_digest(), "settings": measured})
        self.changed: dict[tuple[int, str], tuple[Platform, Platform]] = {}
        """A machine after changes, by its id and them; with the one before, so that no other gets its id."""
        self._policies: dict[str, tuple[str, object, str]] = {}

    def policy(self, spec: Spec) -> tuple[str, object, str]:
        """The text and the plain data of a policy, the latter also as text."""
        if str(spec) not in self._policies:
            key = policy_key(spec)
            self._policies[str(spec)] = str(spec), key, as_text(key)
        return self._policies[str(spec)]


def _equal_machine(variant: Variant, machine: Platform) -> Platform:
    """The baseline's machine: as many processors as redirection has in all, in one pool."""
    policy, baseline = variant.spec.policy, variant.baseline
    if not policy.has_groups or baseline is None or baseline.policy.has_groups:
        return machine
    pools = [pool.procs for pool in policy.pools(machine)]
    procs = sum(pools) if variant.equal else pools[0] if len(machine.clusters) > 1 else machine.total_procs
    if procs == machine.total_procs and len(machine.clusters) == 1:
        return machine
    if machine.has_nodes:
        raise UsageError(
            f"{variant.spec.brief}: its baseline would need {procs} processors in one pool, and this "
            "platform has its nodes; give the policy equal = false"
        )
    return Platform.procs(procs)
