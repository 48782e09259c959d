"""The invariants that policies say they obey, by name. They are judged from the schedule alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from headway.audit.cluster_laws import cluster_laws
from headway.audit.laws import (
    DEFINITIVE_END,
    EASY_HEAD,
    FCFS_HEAD,
    FCFS_ORDER,
    FILE_COUNTS,
    FILE_WAITS,
    IDLE_MACHINE,
    LATEST_END,
    MAINTENANCE,
    NODE_ORDER,
    NODE_SIZE,
    PLANNED_AREAS,
    PROMISE,
    REDIRECTIONS,
    node_files,
    node_order,
    node_size,
    planned_areas,
)
from headway.audit.laws.grid import grid_laws
from headway.audit.laws.urgent import overrun_laws, urgent_laws
from headway.audit.record import Record
from headway.audit.verdict import Law
from headway.errors import UsageError
from headway.policies.spec import parse_spec

Maker = Callable[[Any, Record], tuple[Law, ...]]

LAWS: dict[str, Maker] = {
    "fcfs order": lambda policy, record: (FCFS_ORDER,),
    "fcfs head": lambda policy, record: (FCFS_HEAD,),
    "idle machine": lambda policy, record: (IDLE_MACHINE,),
    "easy head": lambda policy, record: (EASY_HEAD,),
    "maintenance": lambda policy, record: (MAINTENANCE,),
    "promise": lambda policy, record: (PROMISE,),
    "redirections": lambda policy, record: (REDIRECTIONS,),
    "latest end": lambda policy, record: (LATEST_END,),
    "definitive end": lambda policy, record: (DEFINITIVE_END,),
    "urgent": lambda policy, record: urgent_laws(policy.spec),
    "urgent overrun": lambda policy, record: overrun_laws(policy.spec),
    "grid": lambda policy, record: grid_laws(policy.spec),
    "clusters": lambda policy, record: cluster_laws(policy.spec, record, laws_of),
    "node size": lambda policy, record: (replace(NODE_SIZE, check=node_size.check_of(policy.match)),),
    "file waits": lambda policy, record: (
        replace(FILE_WAITS, check=node_files.waits_of(policy.presence, policy.big_first)),
    ),
    "file counts": lambda policy, record: (
        replace(FILE_COUNTS, check=node_files.counts_of(policy.presence, policy.big_first)),
    ),
    "node order": lambda policy, record: (
        replace(NODE_ORDER, check=node_order.check_of(policy.weights, policy.match)),
    ),
    "planned areas": lambda policy, record: (
        replace(
            PLANNED_AREAS,
            check=planned_areas.check_of(
                policy.spec.word("tmax"),
                policy.params["areas"],
                policy.spec.word("form"),
                policy.areas_of_log,
            ),
        ),
    ),
}
"""The invariants by the names that policies give; what depends on parameters is made from the policy's."""


def laws_of(policy: str, record: Record) -> tuple[Law, ...]:
    """The invariants that a policy promises beside the universal ones; none for a policy we do not know."""
    try:
        asked = parse_spec(policy).policy.seen_as(record)
    except UsageError:
        return ()
    return tuple(law for name in asked.laws(record) for law in LAWS[name](asked, record))
