"""The cells of a campaign: one simulation each, named by the content of everything that decides it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from itertools import islice
from threading import Thread
from typing import Any

from headway.campaign.cell import Batch, Cell
from headway.campaign.identity import as_text, code_digest, digest_of, policy_key, workload_digest
from headway.campaign.measure import Settings, measures_key
from headway.campaign.sources import Part, Source
from headway.campaign.variants import Variant
from headway.errors import UsageError
from headway.platform import Platform
from headway.policies.spec import Spec


def batches(
    sources: Sequence[Source],
    platforms: Sequence[Platform | None],
    variants: Sequence[Variant],
    seeds: Sequence[int],
    settings: Settings,
) -> Iterator[list[Batch]]:
    """All cells in the order of the campaign; sources are opened seed by seed, one source ahead."""
    measures = measures_key(settings)
    common = as_text({"code": code_digest(), "settings": settings.key() | {"measures": measures}})
    policies = {
        id(spec): _policy(spec)
        for variant in variants
        for spec in (variant.spec, variant.baseline)
        if spec is not None
    }

    def opened(source: Source) -> Iterator[list[Batch]]:
        for parts in source.expand(seeds):
            found = []
            for part in parts:
                machines = [_machine(part, platform) for platform in platforms]
                cells = _cells(part, machines, variants, seeds, common, policies, measures)
                found.append(Batch(part.workload, list(cells.values())))
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
    if part.source.platform is not None:
        return Platform.load(part.source.platform)
    procs = part.source.procs or part.workload.header.max_procs
    if procs is None:
        raise UsageError(
            f"{part.source.name}: the header says neither MaxProcs nor MaxNodes; give procs or platform"
        )
    return Platform.procs(procs)


def _cells(
    part: Part,
    machines: Sequence[Platform],
    variants: Sequence[Variant],
    seeds: Sequence[int],
    common: str,
    policies: dict[int, tuple[str, object, str]],
    measures: tuple[str, ...],
) -> dict[str, Cell]:
    """The cells on one workload, each once; a baseline comes before the first cell that needs it.

    `common` is what all cells of the campaign have in their identity, `policies` the text and the plain data
    of every spec by its `id`, the latter also as text; `measures` are the user's own by their sources.
    """
    content = workload_digest(part.workload)
    found: dict[str, Cell] = {}
    baselines: dict[tuple[Platform, int, int, int], Cell] = {}
    seen: dict[int, tuple[Platform, str, dict[str, Any]]] = {}

    def described(machine: Platform) -> tuple[Platform, str, dict[str, Any]]:
        # With the machine, so that no other one gets its id.
        if id(machine) not in seen:
            columns = {"machine": str(machine), "procs": machine.total_procs}
            seen[id(machine)] = machine, as_text(machine.describe()), columns
        return seen[id(machine)]

    def cell(machine: Platform, spec: Spec, label: str, seed: int, widest: int) -> Cell:
        text, key, plain = policies[id(spec)]
        _, place, shown = described(machine)
        columns = {
            "workload": part.source.name, "part": part.number, "block": part.block, "seed": seed,
            **shown, "policy": text, "label": label, "baseline": None,
        }  # fmt: skip
        name = digest_of(common, content, place, plain, widest, seed)
        return Cell(name, machine, spec, seed, widest, columns, {}, key, measures)

    def baseline(machine: Platform, spec: Spec, seed: int, widest: int) -> Cell:
        place = machine, id(spec), seed, widest
        if place not in baselines:
            made = cell(machine, spec, spec.brief, seed, widest)
            baselines[place] = found.setdefault(made.id, made)
        return baselines[place]

    def effective(spec: Spec, seed: int) -> int:
        # Policies of the catalogue draw nothing: under another seed they would do the same again.
        return seed if part.source.seeded or spec.uses_own else seeds[0]

    for machine in machines:
        for variant in variants:
            own = [part.seed] if part.source.seeded or not variant.spec.uses_own else list(seeds)
            for seed in own:
                widest = variant.spec.policy.widest(machine)
                made = cell(machine, variant.spec, variant.label, effective(variant.spec, seed), widest)
                if variant.baseline is not None:
                    other = _equal_machine(variant, machine)
                    paired = baseline(other, variant.baseline, effective(variant.baseline, seed), widest)
                    made.columns["baseline"] = paired.id
                # A baseline may be a point of a grid too; it then stands in the results once, as both.
                kept = found.setdefault(made.id, made)
                kept.columns.update(label=variant.label, baseline=made.columns["baseline"])
                kept.parameters.update(variant.parameters)
    return found


def _policy(spec: Spec) -> tuple[str, object, str]:
    key = policy_key(spec)
    return str(spec), key, as_text(key)


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
