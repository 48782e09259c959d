"""Prepares a grid: a pool for each cluster, how each job may be molded, the agent's memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from headway.engine.setup import Setup
from headway.engine.tables import State
from headway.errors import UsageError
from headway.jit.rows import zeros
from headway.policies.grid import notes as agent
from headway.policies.grid import tables
from headway.policies.grid.local_policies import HEURISTICS, LAWS, MODES, TOGETHER, TUNINGS, pools_of
from headway.policies.grid.moldability import fraction, job_rows
from headway.policies.grid.tables import NOWHERE, Rules, Servers, Tasks
from headway.policies.pools import LOCAL, Pool
from headway.policies.prepare import Arrivals, Prepared, Sites, Table
from headway.policies.queueing.ordering import REGULAR_CLASS, STRIDE
from headway.policies.spec import Spec, make_spec
from headway.units import LONGEST, SECOND

if TYPE_CHECKING:
    from headway.policies.grid.notes import Notes

MOVE = ("job", "time", "source", "target", "before", "after", "procs_before", "procs_after")
"""The columns of the log of moves, in the agent's order."""

MOVES_AT_FIRST, MOVES_PER_TASK = 1000, 2
"""Space in the first log of moves; a run that makes more is repeated with a longer one."""

ESTIMATED = "the clusters are under easy, which promises nothing: completions are estimated"
STARVING = 5
"""A task submitted again so often with a later completion than it had counts as starving."""


def together(spec: Spec, arrivals: Arrivals, local: Spec) -> Prepared:
    """Clusters under one policy, in one simulation."""
    from headway.policies.grid.reallocation import reallocation as hook

    assert arrivals.platform is not None
    clusters = arrivals.platform.clusters
    plain = _options_of(local, arrivals)
    # Where a share of each cluster is reserved, the agent's parts come first, and those of local jobs behind.
    pools = sorted(pools_of(spec, arrivals.platform), key=lambda pool: (pool.group == LOCAL, pool.cluster))
    count, tasks = len(pools), len(arrivals.submit)
    kind = TOGETHER.index(local.name)
    estimated = kind == tables.ESTIMATED_EASY
    plans = 2 * count if estimated else count  # an estimator has profiles of its own
    speeds = [fraction(clusters[pool.cluster].speed) for pool in pools]
    rows = job_rows(spec, arrivals, clusters, speeds)
    rows[tables.Tasks["transfer"]] = transfers_of(spec, arrivals)
    if count > len(clusters):
        rows[tables.Tasks["home"]] = np.where(
            rows[tables.Tasks["home"]] >= 0, rows[tables.Tasks["home"]] + len(clusters), -1
        )

    def memory(room: int) -> tables.Memory:
        """Grid, servers and agent, with space for so many moves."""
        rules, servers = _rules(spec), _servers(kind, speeds)
        rules.transfers = int(rows[tables.Tasks["transfer"]].any())
        notes = agent.new_notes(
            len(clusters),
            HEURISTICS.index(spec.word("heuristic")),
            MODES.index(spec.word("mode")),
            microseconds_of(spec, "threshold"),
            spec.whole("oldest"),
            tasks,
            room,
        )
        return tables.Memory(rules, zeros(tables.Noted), servers, notes)

    def fill(state: State) -> None:
        state.jobs.reserved[:] = -1
        state.jobs.priority_class[:] = REGULAR_CLASS
        state.jobs.plan[:] = arrivals.walltime
        for row, values in rows.items():
            state.jobs[row] = values
        for row in (tables.Tasks["place"], tables.Tasks["leaving"], tables.Tasks["data_at"]):
            state.jobs[row] = tables.NOWHERE

    setup = Setup(
        tuple(pool.procs for pool in pools) * (plans // count),
        hook,
        (*plain, *(0,) * (STRIDE - len(plain))) * plans,
        prepare=fill,
        more_rows=tables.MORE_ROWS,
        memory=memory(MOVES_AT_FIRST + MOVES_PER_TASK * tasks),
    )

    def again(state: State) -> Setup | None:
        """The same with a longer log, where the moves were more than it holds."""
        made = int(state.memory.agent.counts.moves)
        return replace(setup, memory=memory(made)) if made > state.memory.agent.moves.shape[1] else None

    def own(state: State) -> dict[str, object]:
        return {
            "grid_tasks": int((rows[tables.Tasks["home"]] < 0).sum()),
            **counted(state.memory.agent),
            "completions": "estimated" if estimated else "reserved",
            "estimates": int(state.memory.notes.estimates),
        }

    return Prepared(
        setup,
        arrivals.walltime,
        "" if estimated else "told" if local.params.get("compress") == "scratch" else "start",
        {f"{clusters[pool.cluster].name} {pool.group}".strip(): pool.procs for pool in pools},
        own,
        lambda state, ids: {"put_back": state.memory.agent.tasks.put_back},
        remark=ESTIMATED if estimated else remark_on(rows),
        again=again,
        moves=lambda state: logged_moves(state.memory.agent),
        sites=sites_of(pools) if count > len(clusters) else None,
    )


def _rules(spec: Spec) -> Rules:
    """How sizes of tasks are chosen, how long they take on them, and when the agent looks again."""
    rules = zeros(Rules)
    rules.tuning, rules.law = TUNINGS.index(spec.word("tuning")), LAWS.index(spec.word("law"))
    rules[[Rules["sigma"], Rules["sigma_over"]]] = fraction(spec.number("sigma"))
    rules.period = microseconds_of(spec, "period")
    return rules


def _servers(kind: int, speeds: Sequence[tuple[int, int]]) -> Servers:
    """What stands before each cluster: the kind of its policy, its speed, and nothing known yet."""
    servers = zeros(Servers, len(speeds))
    servers.kind[:] = kind
    servers[[Servers["speed"], Servers["speed_over"]]] = np.transpose(speeds)
    servers.memo_task[:] = NOWHERE
    servers[[Servers["memo_time"], Servers["planned_at"]]] = -1
    return servers


def sites_of(pools: Sequence[Pool]) -> Sites:
    """Cluster and group of each pool."""
    groups: dict[str, int] = {}
    for pool in pools:
        if pool.group:
            groups[pool.group] = groups.get(pool.group, 0) + pool.procs
    codes = [list(groups).index(pool.group) if pool.group else -1 for pool in pools]
    return Sites(np.array([pool.cluster for pool in pools]), np.array(codes), groups)


def transfers_of(spec: Spec, arrivals: Arrivals) -> Table:
    """How long the data of each task take to another cluster (µs, rounded up)."""
    found = np.full(len(arrivals.submit), microseconds_of(spec, "transfer"))
    sizes = arrivals.extra.get("file_gb")
    if math.isinf(spec.number("link")):
        return found
    if sizes is None:
        raise UsageError(
            "reallocation: link is the bandwidth for input files, and the log has none; apply files(...) or "
            "give annotations with the column file_gb"
        )
    for size in np.unique(sizes[~np.isnan(sizes)]).tolist():
        takes = math.ceil(Fraction(repr(size)) * SECOND / spec.fraction("link"))
        if takes > LONGEST:
            raise UsageError(
                f"reallocation: over a link of {spec.number('link'):g} GB/s a file of {size:g} GB takes "
                "longer than can be kept; give a larger link"
            )
        found[sizes == size] += takes
    return found


def _options_of(local: Spec, arrivals: Arrivals) -> tuple[int, ...]:
    """The options of the clusters' batch system; FCFS as a plan is conservative that places all anew."""
    from headway.policies.backfilling.policy import Conservative, Easy
    from headway.policies.backfilling.setup import easy_in_turn

    if not isinstance(local.policy, (Conservative, Easy)):
        local = make_spec("conservative", compress="scratch")
    options = tuple(int(option) for option in local.policy.prepare(arrivals, 1).setup.options)
    return easy_in_turn(local, options) if isinstance(local.policy, Easy) else options


def logged_moves(notes: Notes) -> dict[str, Table]:
    """The log of moves of an agent by column."""
    made = notes.counts.moves
    return {name: column[:made].copy() for name, column in zip(MOVE, notes.moves.table, strict=True)}


def counted(notes: Notes) -> dict[str, object]:
    """What an agent did, from its memory."""
    put_back, moved = notes.tasks.put_back, notes.tasks.times_moved
    return {
        "moves": int(notes.counts.moves),
        "moved_tasks": int((moved > 0).sum()),
        "most_moves_of_a_task": int(moved.max(initial=0)),
        "reallocation_events": int(notes.counts.events),
        "resubmissions": int(notes.counts.again),
        "put_back_tasks": int((put_back > 0).sum()),
        "most_put_back": int(put_back.max(initial=0)),
        "starving_tasks": int((put_back >= STARVING).sum()),
    }


def microseconds_of(spec: Spec, name: str) -> int:
    """A parameter in seconds as µs; 0 for inf, a period that never ends."""
    return 0 if math.isinf(spec.number(name)) else round(spec.fraction(name) * SECOND)


def remark_on(rows: dict[int, Table]) -> str:
    """One line where nothing can be molded."""
    if len(rows[Tasks["out_of"]]) == 0 or (rows[Tasks["out_of"]] > 0).any():
        return ""
    return "no job has a parallel_fraction, so every job keeps its size: nothing is molded"
