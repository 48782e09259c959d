"""The invariants that policies say they obey, by name. They are judged from the schedule alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from headway.audit.cluster_laws import cluster_laws
from headway.audit.laws import (
    latest_end,
    node_files,
    node_order,
    node_size,
    outages,
    planned_areas,
    queue_order,
    redirections,
    starts,
)
from headway.audit.laws.grid import grid_laws
from headway.audit.laws.urgent import overrun_laws, urgent_laws
from headway.audit.record import Record
from headway.audit.verdict import Finding, Law
from headway.errors import UsageError
from headway.policies.spec import parse_spec

FIXED = {
    law.name: law
    for law in (
        Law("fcfs order", "starts do not decrease in order of submission", queue_order.check_order),
        Law("fcfs head", "the head of the queue starts as soon as it fits", queue_order.check_prompt),
        Law("idle machine", "no job waits while nothing runs", queue_order.check_idle),
        Law(
            "easy head", "the head starts no later than any shadow time it was given", queue_order.check_easy
        ),
        Law("maintenance", "no job is started that might run into known maintenance", outages.check_planned),
        Law("promise", "no job starts later than it was promised", starts.check_promised),
        Law(
            "redirections",
            "a job is redirected once, at an arrival, alone, to a group it fits",
            redirections.check,
        ),
        Law("latest end", "no job ends later than it was told; deadlines are kept", latest_end.check),
    )
} | {
    "definitive end": Law(
        "latest end", "no job without a deadline ends later than it was told", latest_end.check_definitive
    )
}
"""Invariants by the names that policies give, the same for all parameters of theirs."""

MADE: dict[str, tuple[str, Callable[[Any, Record], Finding | None]]] = {
    "node size": (
        "each job is on one node, wide and large enough",
        lambda policy, record: node_size.check(record, policy.match),
    ),
    "node order": (
        "where files make no difference, starts and nodes are those of FCFS on cores",
        lambda policy, record: node_order.check(record, policy.weights, policy.match),
    ),
    "file waits": (
        "a job waits for its file exactly as long as nobody has it there",
        lambda policy, record: node_files.check_waits(record, policy.presence, policy.big_first),
    ),
    "file counts": (
        "loads and re-uses are the jobs with a file",
        lambda policy, record: node_files.check_counts(record, policy.presence, policy.big_first),
    ),
    "planned areas": (
        "jobs on larger nodes stay within the areas planned",
        lambda policy, record: planned_areas.check(
            record,
            policy.spec.word("tmax"),
            policy.params["areas"],
            policy.spec.word("form"),
            policy.areas_of_log,
        ),
    ),
}
"""What an invariant demands, and its check under the policy's parameters."""

SEVERAL: dict[str, Callable[[Any, Record], tuple[Law, ...]]] = {
    "urgent": lambda policy, record: urgent_laws(policy.spec),
    "urgent overrun": lambda policy, record: overrun_laws(policy.spec),
    "grid": lambda policy, record: grid_laws(policy.spec),
    "clusters": lambda policy, record: cluster_laws(policy.spec, record, laws_of),
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
