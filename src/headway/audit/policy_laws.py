"""Which laws a policy's name adds. They are recomputed from the schedule, never asked of the policy."""

from __future__ import annotations

from dataclasses import replace

from headway.audit.cluster_laws import cluster_laws
from headway.audit.laws import (
    DEFINITIVE_END,
    EASY_HEAD,
    FCFS_HEAD,
    FCFS_ORDER,
    FILE_COUNTS,
    FILE_WAITS,
    LATEST_END,
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
from headway.policies.nodes.placing import SCORED
from headway.policies.spec import Spec, parse_spec


def laws_of(policy: str, record: Record) -> tuple[Law, ...]:
    """The laws that a policy promises beside the universal ones; none for a policy we do not know."""
    try:
        spec = parse_spec(policy)
    except UsageError:
        return ()
    if "node" in record.places and "presence" in spec.params:
        return _on_nodes(spec)
    if spec.name == "redirection":
        return (REDIRECTIONS, *_ends(*(spec.params[name] for name in ("principal", "redirected"))))
    if spec.name == "reallocation":
        return (*grid_laws(spec), *cluster_laws(spec, record, laws_of))
    if spec.name == "ujfb":
        return urgent_laws(spec)
    if spec.name == "ujf":
        return overrun_laws(spec)
    if record.pieces is not None or any(name in record.places for name in ("group", "cluster", "node")):
        return ()  # several queues or places: the replay of one queue on one pool says nothing
    if spec.name == "conservative" and spec.params.get("compress") != "scratch":
        return (PROMISE,)
    if spec.name == "dbf":
        return _ends(spec)
    if not _one_queue(spec, record):
        return ()
    if spec.name == "fcfs":
        return (FCFS_ORDER, FCFS_HEAD)
    if spec.name == "easy" and _plain_easy(spec):
        return (EASY_HEAD,)
    return ()


def _ends(*policies: object) -> tuple[Law, ...]:
    """What DBF tells is when jobs end at the latest; of two groups, where the first is under DBF."""
    groups = [each for each in policies if isinstance(each, Spec) and each.name == "dbf"]
    if not groups or groups[0] is not policies[0]:
        return ()
    if any(each.params["compress"] == "scratch" for each in groups):
        return ()
    return (LATEST_END if all(each.params["mode"] == "strict" for each in groups) else DEFINITIVE_END,)


def _on_nodes(spec: Spec) -> tuple[Law, ...]:
    """Files and sizes, where each job is inside one node."""
    presence, big_first = str(spec.params["presence"]), spec.name == "backfill-big"
    match = str(spec.params.get("match", "fits"))
    laws = [
        replace(NODE_SIZE, check=node_size.check_of(match)),
        replace(FILE_WAITS, check=node_files.waits_of(presence, big_first)),
        replace(FILE_COUNTS, check=node_files.counts_of(presence, big_first)),
    ]
    if spec.name in (*SCORED, "fcfs") and spec.params.get("backfill", "none") == "none":
        laws.append(replace(NODE_ORDER, check=node_order.check_of(spec)))
    if spec.name == "area-filling":
        params = spec.params
        check = planned_areas.check_of(str(params["tmax"]), params["areas"], str(params["form"]))
        laws.append(replace(PLANNED_AREAS, check=check))
    return tuple(laws)


def _one_queue(spec: Spec, record: Record) -> bool:
    """Whether urgent jobs, if there are any, wait with the others."""
    urgent = record.urgent is not None and bool(record.urgent.any())
    return not urgent or spec.params.get("urgent", "ignore") == "ignore"


def _plain_easy(spec: Spec) -> bool:
    """Whether the head is the first to have come, and planned with its requested time."""
    wanted = {"order": "fcfs", "estimate": "requested", "age": "none"}
    return all(str(spec.params.get(name, value)) == value for name, value in wanted.items())
