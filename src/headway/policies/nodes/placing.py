"""Whether a policy runs on nodes here, with all its parameters, and which jobs the nodes can hold.

``eft``, ``lea``, ``leo``, ``lem``, ``score``, ``backfill-big`` and ``area-filling`` always do. ``fcfs``,
``easy`` and ``conservative`` do where the platform has nodes and the workload has files, or where they are
given a parameter of nodes; elsewhere they count processors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headway.errors import InputError, UsageError
from headway.platform import Platform
from headway.platform.node_table import nodes_of
from headway.policies.spec import Spec
from headway.workload import Workload

SCORED = ("eft", "lea", "leo", "lem", "score")
BY_SIZE = ("backfill-big", "area-filling")
BASELINES = ("fcfs", "easy", "conservative")
DEFAULTS = {"backfill": "none", "presence": "contiguous", "match": "fits"}
HOW_TO_ADD = (
    "add the columns file and file_gb with --annotations, or make them with "
    "'headway convert LOG NEW --apply files'"
)


def on_nodes(spec: Spec, platform: Platform, workload: Workload) -> Spec | None:
    """The policy as it runs inside nodes, or None where it counts processors."""
    if spec.uses_own or spec.name not in (*SCORED, *BY_SIZE, *BASELINES):
        return None
    baseline = spec.name in BASELINES
    own = ("presence", "match") if spec.name != "fcfs" else tuple(DEFAULTS)
    given = [name for name in own if name in spec.params]
    if not platform.has_nodes:
        if baseline and not given:
            return None
        raise UsageError(
            f"{spec.name}{f' with {given[0]}' if baseline else ''} puts jobs inside nodes and this platform "
            "has none; give one with nodes, such as --platform rackham"
        )
    if baseline and not (given or has_files(workload)):
        return None
    if len(platform.clusters) > 1:
        raise UsageError(f"{spec.name} on nodes schedules one cluster; give a platform of one cluster")
    if spec.name in SCORED and not has_files(workload):
        raise UsageError(f"{spec.name} scores input files and the workload has none; {HOW_TO_ADD}")
    return _baseline(spec) if baseline else spec


def _baseline(spec: Spec) -> Spec:
    """FCFS, EASY or conservative backfilling with the parameters they have on nodes."""
    allowed: dict[str, tuple[object, ...]] = {
        "urgent": ("ignore",),
        "order": ("fcfs",),
        "estimate": ("requested",),
        "age": ("none",),
        "depth": (1,),
        "compress": ("early", "scratch"),
        "hole": ("closed",),
    }
    params = dict(spec.params)
    if spec.name == "easy":
        allowed["backfill"] = ("fcfs",)
    for name, values in allowed.items():
        if name in params and params[name] not in values:
            raise UsageError(
                f"{spec.name} on nodes is for {name}={values[0]} only, not {params[name]}; leave {name} out, "
                "or give the number of processors instead of the nodes"
            )
    if spec.name == "conservative":
        params["compress"] = "scratch"  # plans are made anew at every event
    own = DEFAULTS if spec.name == "fcfs" else {name: DEFAULTS[name] for name in ("presence", "match")}
    return Spec(spec.name, own | params if spec.name != "fcfs" else {"urgent": "ignore"} | own | params)


def has_files(workload: Workload) -> bool:
    """Whether the workload says which input file a job has, if any."""
    return workload.get("file") is not None and workload.get("file_gb") is not None


def needs(workload: Workload) -> NDArray[np.float64]:
    """Memory that each job needs of its node (GB); 0 where nothing is said."""
    column = workload.get("needs_node_gb")
    return np.zeros(len(workload)) if column is None else np.nan_to_num(column)


def fit_to_nodes(workload: Workload, platform: Platform, match: str) -> Workload:
    """Jobs that some allowed node can hold; the ledger has the others."""
    groups = sorted({(node.group.memory_gb, node.group.cores) for node in nodes_of(platform)})
    widest = max(cores for _, cores in groups)
    narrow = workload.procs <= widest
    if workload.rules.get("too_large", "drop") == "error" and not narrow.all():
        row = int(np.argmin(narrow))
        raise InputError(
            f"job {workload.job[row]} needs {workload.procs[row]} processors and the widest node has "
            f"{widest} cores; split such jobs with the transformation split, or drop them with the rule "
            "too_large=drop",
            file=workload.source.name,
            field="processors",
        )
    kept = workload.select(
        narrow, rule="too_large", action=f"more processors than the widest node's {widest} cores: dropped"
    )
    memory = np.array([gb for gb, _ in groups])
    cores = np.array([width for _, width in groups])
    need = np.zeros(len(kept)) if match == "any" else needs(kept)
    allowed = memory[None, :] >= need[:, None]
    if match in ("exact", "now"):
        sizes = np.unique(memory)
        own = np.append(sizes, -1)[np.searchsorted(sizes, need)]
        allowed &= memory[None, :] == own[:, None]
    held = (allowed & (cores[None, :] >= kept.procs[:, None])).any(axis=1)
    return kept.select(
        held, rule="node_memory", action="no node of the size it needs has enough memory and cores: dropped"
    )
