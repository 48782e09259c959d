"""Prepares a grid: a pool for each cluster, how each job may be molded, the agent's memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from headway.engine.drive import Setup
from headway.engine.stretch import MOST
from headway.engine.tables import CLASS, PLAN, RESERVED, State
from headway.errors import UsageError
from headway.platform import Cluster
from headway.policies.grid.fitting import homes, is_moldable
from headway.policies.prepare import Arrivals, Prepared, Table, conservative
from headway.policies.spec import Spec
from headway.units import SECOND

HEURISTICS = ("mct", "minmin", "maxmin", "sufferage", "maxgain", "maxrelgain")
MODES = ("regular", "cancel", "none")
TUNINGS = ("binary", "bounded", "exhaustive")
LAWS = ("amdahl", "downey")
KINDS = ("conservative", "fcfs", "easy")
"""Policies of the clusters, in the order of their codes."""
MOVE = ("job", "time", "source", "target", "before", "after", "procs_before", "procs_after")
"""The columns of the log of moves, in the agent's order."""

MOVES_AT_FIRST, MOVES_PER_TASK = 1000, 2
"""Room in the first log of moves; a run that makes more is repeated with a longer one."""

STARVING = 5
"""A task submitted again so often with a later completion than it had counts as starving."""


def reallocation(spec: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """A grid of the platform's clusters under one agent."""
    from headway.policies.grid import agent, tables
    from headway.policies.grid.policy import reallocation as hook
    from headway.policies.ordering import REGULAR_CLASS, STRIDE

    assert arrivals.platform is not None
    clusters = arrivals.platform.clusters
    local = spec.params["local"]
    assert isinstance(local, Spec)
    plain = _batch_system(local, arrivals, procs).setup
    count, tasks = len(clusters), len(arrivals.submit)
    kind = KINDS.index(local.name)
    estimated = kind == tables.ESTIMATED_EASY
    plans = 2 * count if estimated else count  # an estimator has profiles of its own
    speeds = [_fraction(cluster.speed) for cluster in clusters]
    behind = plans * (STRIDE + tables.SERVER_FIELDS) + tables.GRID_FIELDS
    rows = _job_rows(spec, arrivals, clusters, speeds)

    def options(room: int) -> Table:
        """Batch systems, servers, grid, agent, with room for so many moves."""
        padded = (*plain.options, *(0,) * (STRIDE - len(plain.options)))
        servers: list[tuple[int, ...]] = [(kind, *speed, 0, -1, -1, 0, 0, -1) for speed in speeds]
        servers += [(0,) * tables.SERVER_FIELDS] * (plans - count)
        sigma = _fraction(float(str(spec.params["sigma"])))
        of_grid = [count, TUNINGS.index(str(spec.params["tuning"])), LAWS.index(str(spec.params["law"]))]
        of_grid += [*sigma, _microseconds(spec, "period")]
        notes = agent.new_notes(
            count,
            HEURISTICS.index(str(spec.params["heuristic"])),
            MODES.index(str(spec.params["mode"])),
            _microseconds(spec, "threshold"),
            int(str(spec.params["oldest"])),
            tasks,
            room,
        )
        fields = [*padded * plans, *(field for each in servers for field in each), *of_grid]
        fields += [0] * (tables.GRID_FIELDS - len(of_grid))
        return np.concatenate([np.array(fields, np.int64), notes])

    def fill(state: State) -> None:
        state.jobs[RESERVED] = -1
        state.jobs[CLASS] = REGULAR_CLASS
        state.jobs[PLAN] = arrivals.walltime
        for row, values in rows.items():
            state.jobs[row] = values
        state.jobs[tables.PLACE] = state.jobs[tables.LEAVING] = tables.NOWHERE

    pools = tuple(cluster.procs for cluster in clusters) * (plans // count)
    setup = Setup(
        pools,
        hook,
        options(MOVES_AT_FIRST + MOVES_PER_TASK * tasks),
        prepare=fill,
        more_rows=tables.MORE_ROWS,
    )

    def again(state: State) -> Setup | None:
        """The same with a longer log, where the moves were more than it holds."""
        notes = state.options[behind:]
        made = int(notes[agent.MOVES])
        return replace(setup, options=options(made)) if made > notes[agent.ROOM] else None

    def moves(state: State) -> dict[str, Table]:
        notes = state.options[behind:]
        made = int(notes[agent.MOVES])
        first = len(notes) - agent.MOVE_FIELDS * int(notes[agent.ROOM])
        log = notes[first : first + agent.MOVE_FIELDS * made].reshape(made, agent.MOVE_FIELDS).T
        return {name: np.ascontiguousarray(column) for name, column in zip(MOVE, log, strict=True)}

    def own(state: State) -> dict[str, object]:
        notes = state.options[behind:]
        put_back = notes[agent.FRONT + agent.PUT_BACK * tasks :][:tasks]
        moved = notes[agent.FRONT + agent.TIMES_MOVED * tasks :][:tasks]
        return {
            "grid_tasks": int((rows[tables.HOME] < 0).sum()),
            "moves": int(notes[agent.MOVES]),
            "moved_tasks": int((moved > 0).sum()),
            "most_moves_of_a_task": int(moved.max(initial=0)),
            "reallocation_events": int(notes[agent.EVENTS]),
            "resubmissions": int(notes[agent.AGAIN]),
            "put_back_tasks": int((put_back > 0).sum()),
            "most_put_back": int(put_back.max(initial=0)),
            "starving_tasks": int((put_back >= STARVING).sum()),
            "completions": "estimated" if estimated else "reserved",
            "estimates": int(state.options[behind - tables.GRID_FIELDS + tables.ESTIMATES]),
        }

    def notes(state: State, ids: Table) -> dict[str, Table]:
        put_back = state.options[behind:][agent.FRONT + agent.PUT_BACK * tasks :][:tasks]
        return {"put_back": put_back}

    return Prepared(
        setup,
        arrivals.walltime,
        "" if estimated else "told" if local.params.get("compress") == "scratch" else "start",
        {cluster.name: cluster.procs for cluster in clusters},
        own,
        notes,
        remark=_remark(rows, tables.OUT_OF, estimated),
        again=again,
        moves=moves,
    )


def _batch_system(local: Spec, arrivals: Arrivals, procs: int) -> Prepared:
    """The options of the clusters' batch system; FCFS as a plan is conservative that places all anew."""
    from headway.policies.spec import make_spec

    plain = make_spec(local.name, **({k: v for k, v in local.params.items() if k in ("compress", "hole")}))
    if local != plain:
        raise UsageError(
            f"reallocation: local={local.brief} has parameters that clusters of a grid do not have; give "
            f"{plain.brief}"
        )
    if local.name != "conservative":
        local = make_spec("conservative", compress="scratch")
    return conservative(local, arrivals, procs)


def _fraction(number: float) -> tuple[int, int]:
    """A number as the fraction of the decimals it is written with."""
    return Decimal(repr(float(number))).as_integer_ratio()


def _microseconds(spec: Spec, name: str) -> int:
    """A parameter in seconds as µs; 0 for inf, a period that never ends."""
    value = float(str(spec.params[name]))
    return 0 if math.isinf(value) else round(Decimal(str(spec.params[name])) * SECOND)


def _job_rows(
    spec: Spec, arrivals: Arrivals, clusters: tuple[Cluster, ...], speeds: list[tuple[int, int]]
) -> dict[int, npt.NDArray[np.int64]]:
    """What the log says of each job, and how it may be molded."""
    from headway.policies.grid import tables

    jobs = len(arrivals.submit)
    limit = arrivals.extra.get("max_procs", np.full(jobs, -1))
    of, out_of = _fractions(arrivals)
    rows = {
        tables.TRACE_PROCS: arrivals.procs,
        tables.TRACE_WALL: arrivals.walltime,
        tables.OF: of,
        tables.OUT_OF: out_of,
        tables.LIMIT: np.where(out_of > 0, limit, -1),
        tables.HOME: homes(arrivals.columns, arrivals.labels, clusters),
    }
    speedup, over = _speedups(spec, of, out_of, arrivals.procs)
    rows |= {tables.SPEEDUP: speedup, tables.SPEEDUP_OVER: over}
    _refuse_large_fractions(spec, rows, max(cluster.procs for cluster in clusters), speeds)
    return rows


def _fractions(arrivals: Arrivals) -> tuple[Table, Table]:
    """The parallel part of each job as a fraction; 0 / 0 for one that is rigid."""
    jobs = len(arrivals.submit)
    given = arrivals.extra.get("parallel_fraction", np.full(jobs, np.nan))
    of, out_of = np.zeros(jobs, np.int64), np.zeros(jobs, np.int64)
    moldable = is_moldable(arrivals.columns)
    for value in np.unique(given[moldable]).tolist():
        chosen = moldable & (given == value)
        of[chosen], out_of[chosen] = _fraction(value)
    return of, out_of


def _speedups(spec: Spec, of: Table, out_of: Table, procs: Table) -> tuple[Table, Table]:
    """The speedup of each job on the log's processors, as a fraction in lowest terms; 1 for rigid ones."""
    top, bottom = np.ones(len(of), np.int64), np.ones(len(of), np.int64)
    several = out_of > 0
    kinds, place = np.unique(np.stack([of, out_of, procs])[:, several], axis=1, return_inverse=True)
    found = [lowest(*law_of(spec, int(a), int(d), int(n))) for a, d, n in kinds.T]
    if found:
        top[several], bottom[several] = np.array(found, object).T[:, place.reshape(-1)]
    return top, bottom


def law_of(spec: Spec, of: int, out_of: int, n: int) -> tuple[int, int]:
    """Speedup on n processors of a job of which of / out_of is parallel, under the spec's law."""
    from headway.policies.grid import molding

    if spec.params["law"] == "amdahl":
        return in_python(molding.amdahl)(of, out_of, n)
    return in_python(molding.downey)(of, out_of, n, *_fraction(float(str(spec.params["sigma"]))))


def in_python(kernel: Callable[..., tuple[int, int]]) -> Callable[..., tuple[int, int]]:
    """A kernel as the plain function it was written as."""
    plain: Callable[..., tuple[int, int]] = getattr(kernel, "py_func", kernel)
    return plain


def lowest(top: int, bottom: int) -> tuple[int, int]:
    """A fraction in lowest terms."""
    common = math.gcd(top, bottom)
    return top // common, bottom // common


def _refuse_large_fractions(
    spec: Spec, rows: dict[int, Table], most: int, speeds: list[tuple[int, int]]
) -> None:
    """Factors are computed with whole numbers of limited size; each piece of a law is largest at its ends."""
    from headway.policies.grid import tables

    fast, slow = max(over for _, over in speeds), max(top for top, _ in speeds)
    several = rows[tables.OUT_OF] > 0
    for of, out_of in np.unique(
        np.stack([rows[tables.OF], rows[tables.OUT_OF]])[:, several], axis=1
    ).T.tolist():
        here = several & (rows[tables.OF] == of) & (rows[tables.OUT_OF] == out_of)
        ends = {1, most}
        if out_of > of:
            bend = out_of // (out_of - of)
            ends |= {n for k in (bend, 2 * bend, 3 * bend) for n in (k - 1, k, k + 1) if 1 <= n <= most}
        laws = [law_of(spec, of, out_of, n) for n in ends]
        by = int(rows[tables.SPEEDUP][here].max()) * max(bottom for _, bottom in laws) * fast
        over = int(rows[tables.SPEEDUP_OVER][here].max()) * max(top for top, _ in laws) * slow
        if max(by, over) >= MOST:
            raise UsageError(
                f"reallocation: a parallel_fraction of {of / out_of} on up to {most} processors and the "
                "speeds of the clusters have too many decimals to compute times exactly; round them"
            )


def _remark(rows: dict[int, Table], out_of: int, estimated: bool) -> str:
    """One line where completions are only estimated, or where nothing can be molded."""
    if estimated:
        return "the clusters are under easy, which promises nothing: completions are estimated"
    if len(rows[out_of]) == 0 or (rows[out_of] > 0).any():
        return ""
    return "no job has a parallel_fraction, so every job keeps its size: nothing is molded"
