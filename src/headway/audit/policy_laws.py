"""The invariants that policies say they obey, by name. They are judged from the schedule alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.audit.laws import conservative_starts, inside_nodes, jobs, machine, queue_order, redirections
from headway.audit.laws.grid import grid_laws
from headway.audit.laws.urgent import PROMPT, overrun_laws, urgent_laws
from headway.audit.record import Record, select_pieces
from headway.audit.verdict import Finding, Law
from headway.errors import HeadwayError, UsageError
from headway.platform import Platform
from headway.policies.pools import GRID, LOCAL, Pool
from headway.policies.spec import Spec, parse_spec
from headway.schedule.pieces import Pieces, Places, rows_among
from headway.units import microseconds

FIXED = {
    law.name: law
    for law in (
        Law("fcfs order", "starts do not decrease in order of submission", queue_order.check_order),
        Law("fcfs head", "the head of the queue starts as soon as it fits", queue_order.check_prompt),
        Law("idle machine", "no job waits while nothing runs", queue_order.check_idle),
        Law(
            "easy head", "the head starts no later than any shadow time it was given", queue_order.check_easy
        ),
        Law("maintenance", "no job is started that might run into known maintenance", machine.check_planned),
        Law("promise", "no job starts later than it was promised", jobs.check_promised),
        Law(
            "redirections", "a job is redirected once, at an arrival, alone, to a group it fits",
            redirections.check,
        ),
        Law(
            "latest end", "no job ends later than it was told; deadlines are kept",
            queue_order.check_latest_end,
        ),
    )
} | {
    "definitive end": Law(
        "latest end", "no job without a deadline ends later than it was told", queue_order.check_definitive
    )
}  # fmt: skip
"""Invariants by the names that policies give, the same for all parameters of theirs."""

MADE: dict[str, tuple[str, Callable[[Any, Record], Finding | None]]] = {
    conservative_starts.NAME: (
        "each job starts when its reservation, made again from the log, falls due",
        lambda policy, record: conservative_starts.check(record, policy.compress, policy.hole),
    ),
    "node size": (
        "each job is on one node, wide and large enough",
        lambda policy, record: inside_nodes.check_size(record, policy.match),
    ),
    "node order": (
        "where files make no difference, starts and nodes are those of FCFS on cores",
        lambda policy, record: inside_nodes.check_order(record, policy.weights, policy.match),
    ),
    "file waits": (
        "a job waits for its file exactly as long as no job has it there",
        lambda policy, record: inside_nodes.check_waits(record, policy.presence, policy.big_first),
    ),
    "file counts": (
        "loads and re-uses are the jobs with a file",
        lambda policy, record: inside_nodes.check_counts(record, policy.presence, policy.big_first),
    ),
    "planned areas": (
        "jobs on larger nodes stay within the areas planned",
        lambda policy, record: inside_nodes.check_areas(
            record, policy.tmax, policy.params["areas"], policy.form, policy.areas_of_log
        ),
    ),
}
"""What an invariant demands, and its check under the policy's parameters."""

SEVERAL: dict[str, Callable[[Any, Record], tuple[Law, ...]]] = {
    "urgent": lambda policy, record: urgent_laws(policy.spec),
    "urgent overrun": lambda policy, record: overrun_laws(policy.spec),
    "grid": lambda policy, record: grid_laws(policy.spec),
    "clusters": lambda policy, record: cluster_laws(policy.spec, record),
}
"""Names that stand for several invariants."""


def laws_of(policy: str, record: Record) -> tuple[Law, ...]:
    """The invariants that a policy promises beside the universal ones; none for a policy we do not know."""
    try:
        asked = parse_spec(policy).policy.seen_as(record)
    except UsageError:
        return ()
    return tuple(law for name in asked.laws(record) for law in _named(name, asked, record))


def _named(name: str, policy: Any, record: Record) -> tuple[Law, ...]:
    if name in FIXED:
        return (FIXED[name],)
    if name in MADE:
        demands, check = MADE[name]
        return (Law(name, demands, partial(check, policy)),)
    return SEVERAL[name](policy, record)


def cluster_laws(spec: Spec, record: Record) -> tuple[Law, ...]:
    """What the policy of each cluster promises of the jobs that ended there, named after the cluster.

    Tasks that were taken away again have waited in the queue too, and the schedule does not say where they
    stood. So where tasks move, only those invariants are judged that do not look at the whole queue. And
    a cluster may be a real one, which starts a job some moments after its reservation: that is not judged.
    """
    if not record.clusters or (record.cluster is None and len(record.clusters) > 1):
        return ()
    platform = Platform(record.clusters)
    try:
        grid = spec.policy
        local = [grid.policy_of_cluster(platform, number) for number in range(len(record.clusters))]
        pools = grid.pools(platform)
    except HeadwayError:
        return ()  # the platform of another tool's run may name what we do not know
    still = spec.params["mode"] == "none" or (spec.params["mode"] == "regular" and not _moves(record))
    found = []
    for number, (policy, cluster) in enumerate(zip(local, record.clusters, strict=True)):
        if not still and policy.laws_of_the_queue:
            continue
        here = [pool for pool in pools if pool.cluster == number]
        for batch in [[pool] for pool in here] if spec.params["reserved"] else [here]:
            name = f"{cluster.name}, {batch[0].group}" if spec.params["reserved"] else cluster.name
            part = part_of(record, number, batch, _events(spec))
            for law in laws_of(str(policy.spec), part):
                if law.name != conservative_starts.NAME and (still or law.name != PROMPT):
                    found.append(_on(law, name, part))
    return tuple(found)


def _moves(record: Record) -> int:
    return 0 if record.moves is None else len(record.moves)


def _events(spec: Spec) -> int:
    """The period (µs) at whose multiples tasks are submitted again; 0 if there is none."""
    if spec.params["mode"] != "cancel" or math.isinf(float(str(spec.params["period"]))):
        return 0
    return microseconds(str(spec.params["period"]))


def _on(law: Law, name: str, part: Record) -> Law:
    """An invariant judged on a part of the record."""
    return Law(f"{law.name} ({name})", law.demands, lambda _: law.check(part))


def part_of(record: Record, number: int, pools: list[Pool], period: int) -> Record:
    """The jobs that ended on a cluster, as a machine of its own; they were submitted when they came there.

    Where a share of the cluster is reserved, ``pools`` is one of its parts, with tasks or local jobs only.
    """
    inside = np.ones(len(record), np.bool_) if record.cluster is None else record.cluster == number
    if pools[0].group in (GRID, LOCAL):
        inside = inside & (record.is_local == (pools[0].group == LOCAL))
    columns = {
        item.name: getattr(record, item.name)[inside]
        for item in fields(Record)
        if isinstance(getattr(record, item.name), np.ndarray) and item.name not in ("cluster", "instants")
    }
    back = rows_among(inside, len(record))
    came = record.submit.copy()
    instants = [record.submit]
    if record.moves is not None:
        np.maximum.at(came, record.moves.job, record.moves.time)
        instants.append(record.moves.time)
    if period and record.pieces is not None:
        instants.append(record.pieces.end[record.pieces.end % period == 0])
    return replace(
        record,
        **{**columns, "submit": came[inside]},
        capacity=sum(pool.procs for pool in pools),
        pieces=_pieces(record, back),
        places=_groups(record, inside, pools),
        moves=None,
        cluster=None,
        clusters=(record.clusters[number],),
        instants=np.unique(np.concatenate(instants)),
        missing=(),
        foreign=(),
        repeated=(),
        lost=0,
    )


def _pieces(record: Record, back: NDArray[np.int64]) -> Pieces | None:
    if record.pieces is None:
        return None
    pieces = select_pieces(record.pieces, back)
    return pieces if len(pieces) else None


def _groups(record: Record, inside: NDArray[np.bool_], pools: list[Pool]) -> dict[str, Places]:
    """The groups of this cluster, if it has some."""
    places = record.places.get("group")
    if places is None or not pools[0].group or pools[0].group in (GRID, LOCAL):
        return {}
    sizes = {pool.group: pool.procs for pool in pools}
    codes = places.codes[inside[record.intervals[0]]]
    return {"group": Places(codes, places.names, [sizes.get(name, 0) for name in places.names])}
