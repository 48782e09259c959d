"""Why a job ran on its node: what the others had to offer."""

from __future__ import annotations

import numpy as np

from headway.errors import HeadwayError
from headway.explain.place import Case
from headway.explain.words import NOT_AGAIN, at, processors
from headway.platform.node_table import nodes_of
from headway.policies.nodes.baseline import Baseline
from headway.policies.nodes.policy import OnNodes, Scored
from headway.policies.nodes.watching import Terms, watched
from headway.policies.spec import parse_spec
from headway.units import duration

SHOWN = 3
"""Other nodes that are told of."""


def why_this_node(case: Case) -> list[str]:
    """Sentences on the choice of the node; where the policy scores nodes the run is made again for it."""
    schedule = case.schedule
    if schedule.node is None:
        return []
    try:
        policy = parse_spec(schedule.policy).policy
        if isinstance(policy, Baseline):
            policy = policy.inside()
    except HeadwayError:
        return []
    node = int(schedule.node[case.row])
    if isinstance(policy, Scored):
        return _by_score(case, policy, node)
    if isinstance(policy, OnNodes) and policy.by_size:
        return _by_size(case, node)
    if isinstance(policy, OnNodes):
        return [f"Node {node} was the first one allowed that had {processors(case.procs)} for it."]
    return []


def _by_size(case: Case, node: int) -> list[str]:
    memory = [one.group.memory_gb for one in nodes_of(case.schedule.platform)]
    column = case.schedule.workload.get("needs_node_gb")
    need = 0.0 if column is None else float(np.nan_to_num(column[case.row]))
    own = min(size for size in memory if size >= need)
    if memory[node] == own:
        return [f"It ran on node {node}, of the smallest memory size that holds it ({own:g} GB)."]
    return [
        f"It ran on node {node} of {memory[node]:g} GB, larger than the {own:g} GB it needed: there it could "
        "start earlier, and the policy left room for it."
    ]


def _by_score(case: Case, policy: Scored, node: int) -> list[str]:
    # Nobody can see the future, so jobs that came after its start change nothing about it.
    known = np.flatnonzero(case.schedule.submit <= case.start)
    workload = case.schedule.workload.select(known, rule="window", action="after the start of the job")
    terms = watched(workload, case.schedule.platform, policy, int(np.searchsorted(known, case.row)))
    if not terms or terms[0].node != node:
        return [f"Why it ran on that node is not known: {NOT_AGAIN}."]
    best, others = terms[0], terms[1:]
    said = [f"Node {node} had the lowest score of {len(terms)}: {_offer(case, best)}."]
    equal = sum(one.score == best.score for one in others)
    if equal:
        said.append(f"{equal} more had the same score; of equal ones the first in order of memory is taken.")
    for one in [one for one in others if one.score > best.score][:SHOWN]:
        said.append(
            f"Node {one.node} was worse by {duration(int(one.score - best.score))}: {_offer(case, one)}."
        )
    return said


def _offer(case: Case, terms: Terms) -> str:
    start = "a start then" if terms.start == case.start else f"a start {at(terms.start, case)}"
    workload = case.schedule.workload
    if workload.columns["file"][case.row] < 0:
        return start
    if terms.loads:
        file = f"{duration(terms.wait)} to load its file"
    elif terms.wait:
        file = f"{duration(terms.wait)} of waiting for a load of its file by another job"
    else:
        file = "its file already there"
    others = f", files worth {duration(int(terms.evicted))} of loading pushed out" if terms.evicted else ""
    copies = f", {terms.copies} other cop{'y' if terms.copies == 1 else 'ies'} of it" if terms.copies else ""
    return f"{start}, {file}{others}{copies}"
