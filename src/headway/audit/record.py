"""What a schedule claims, beside what the log asked for: all that the invariants look at.

Nothing here knows an engine or a policy; a record is made from our schedules and from other tools' alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.audit.on_nodes import OnNodes, on_nodes_of
from headway.audit.verdict import Column, Mask
from headway.platform import Cluster, NodeGroup, Outages, Platform
from headway.platform.node_table import nodes_of
from headway.schedule import ENDED, STATES, WHY, Pieces, Schedule
from headway.schedule.csv_table import NONE
from headway.schedule.moves import Moves
from headway.schedule.pieces import Places, interval_codes, places_of, rows_among
from headway.workload import Workload


@dataclass(eq=False)
class Record:
    """One row per claimed job that the log has, at its first mention; times in µs.

    `row` is the job's position in the log, `asked`, `asked_walltime`, `asked_runtime` and `asked_submit` what
    the log says, `procs`, `walltime`, `runtime` and `submit` what the run had. `pieces.job`
    counts rows of this record.
    """

    row: Column
    job: Column
    submit: Column
    asked: Column
    asked_walltime: Column
    asked_runtime: Column
    asked_submit: Column
    start: Column
    end: Column
    procs: Column
    walltime: Column
    runtime: Column
    capacity: int
    killed: Mask | None = None
    moldable: Mask | None = None
    urgent: Mask | None = None
    deadline: Column | None = None
    """On the log's clock; -1 where there is none."""
    promoted: Mask | None = None
    promise: Column | None = None
    promise_kind: str = ""
    speeds: bool = False
    """Whether some cluster's speed is not 1, so that times differ from the log's."""
    file: Column | None = None
    """A number for each input file; -1 where a job has none."""
    file_gb: NDArray[np.float64] | None = None
    needs_node_gb: NDArray[np.float64] | None = None
    nodes: Sequence[NodeGroup] | None = None
    """The nodes of the platform one by one, where it has some."""
    file_counts: tuple[int, int] | None = None
    """Loads and re-uses of files that the run itself counted."""
    pieces: Pieces | None = None
    places: Mapping[str, Places] = field(default_factory=dict)
    on_nodes: OnNodes | None = None
    """What jobs held of named nodes."""
    moves: Moves | None = None
    """Of waiting jobs between clusters; `moves.job` counts rows of this record."""
    local: Mask | None = None
    """Jobs that belong to one cluster, `home`, and never move; -1 where the platform does not have it."""
    home: Column | None = None
    fraction: NDArray[np.float64] | None = None
    """The parallel fraction of a moldable job; NaN for others."""
    limit: Column | None = None
    """The most processors of a moldable job; -1 for as many as there are."""
    clusters: tuple[Cluster, ...] = ()
    cluster: Column | None = None
    """The number of the cluster that each job ended on, where there are several."""
    origin: int = 0
    """When the log's clock was 0, in seconds since 1970."""
    instants: Column | None = None
    """When jobs were submitted, where that is more than the jobs of this record say."""
    outages: Outages | None = None
    """Processors that were not there for a time."""
    follows: Column | None = None
    """The job, by number, whose end each job's user waited for (-1: nobody); None if none of them does."""
    think: Column | None = None
    """The time (µs) from that end to the submission."""
    missing: Sequence[int] = ()
    foreign: Sequence[int] = ()
    repeated: Sequence[int] = ()
    lost: int = 0
    """Jobs that the run's own papers count and its table does not have."""

    def __len__(self) -> int:
        return len(self.row)

    @cached_property
    def in_pieces(self) -> Mask:
        """Which jobs are in the table of pieces; the others ran in one, from start to end."""
        return np.zeros(len(self), np.bool_) if self.pieces is None else ~self.pieces.alone(len(self))

    @cached_property
    def first_start(self) -> Column:
        """When each job started for the first time; runs that were given up count."""
        first = self.start.copy()
        if self.pieces is not None:
            np.minimum.at(first, self.pieces.job, self.pieces.start)
        return first

    @cached_property
    def is_local(self) -> Mask:
        """Which jobs belong to one cluster."""
        return np.zeros(len(self), np.bool_) if self.local is None else self.local

    @cached_property
    def given_up(self) -> Mask:
        """Which jobs were lost and not run again, where that is the rule: of a site, or for failures."""
        lost = np.zeros(len(self), np.bool_)
        by_rule = self.outages is not None and self.outages.on_failure == "lost"
        if (by_rule or self.on_nodes is not None) and self.pieces is not None:
            ends = ("failed",) if self.on_nodes is None else ("failed", "preempted")
            ended = np.isin(self.pieces.ended, [ENDED.index(name) for name in ends])
            lost[self.pieces.job[self.pieces.final(len(self)) & ended]] = True
        return lost

    @cached_property
    def leader(self) -> Column:
        """The place here of the job whose end each job's user waited for; -1 where there is none."""
        if self.follows is None:
            return np.full(len(self), -1)
        place = {job: place for place, job in enumerate(self.job.tolist())}
        return np.array([place.get(job, -1) for job in self.follows.tolist()], np.int64)

    @cached_property
    def in_a_further_turn(self) -> Mask:
        """Who came in a further turn of an instant: the job that its user waited for took no time."""
        led = self.leader
        return np.asarray((led >= 0) & (self.start[led] == self.end[led]) & (self.end[led] == self.submit))

    @cached_property
    def standing(self) -> Column:
        """Who stands before whom of those submitted at one instant: by position in the log.

        Who waited for a job that took no time is submitted in a later turn of the instant, behind those that
        came before. In which turn cannot be told, so those of such an instant stand as they started, and
        where they started together, behind those who came in the first turn.
        """
        later = self.in_a_further_turn
        if not later.any():
            return self.row
        several = np.isin(self.submit, self.submit[later])
        standing = np.empty(len(self), np.int64)
        standing[np.lexsort((self.row, later, np.where(several, self.start, 0)))] = np.arange(len(self))
        return standing

    @cached_property
    def intervals(self) -> tuple[Column, Column, Column, Column]:
        """Job (row), start, end and processors of whatever holds processors."""
        everything = np.arange(len(self))
        if self.pieces is None:
            return everything, self.start, self.end, self.procs
        alone, holds = everything[~self.in_pieces], self.pieces.holding
        return (
            np.concatenate([self.pieces.job[holds], alone]),
            np.concatenate([self.pieces.start[holds], self.start[alone]]),
            np.concatenate([self.pieces.end[holds], self.end[alone]]),
            np.concatenate([self.pieces.procs[holds], self.procs[alone]]),
        )

    def time_in(self, state: str) -> Column:
        """Time each job spent in a state of its final run (µs); 0 for jobs not in the table of pieces."""
        spent = np.zeros(len(self), np.int64)
        if self.pieces is not None:
            chosen = (self.pieces.state == STATES.index(state)) & self.pieces.final(len(self))
            np.add.at(spent, self.pieces.job[chosen], (self.pieces.end - self.pieces.start)[chosen])
        return spent


def record_of(schedule: Schedule, workload: Workload | None = None) -> Record:
    """The record of a schedule, against its own workload or against the log as somebody else read it."""
    claimed = schedule.workload
    log = claimed if workload is None else workload
    ran = schedule.start != NONE  # a job that never started is missing, not early
    kept, missing, foreign, repeated = match(log, claimed.columns["job"][ran])
    chosen = np.flatnonzero(ran)[kept.claims]
    pieces, places = _pieces_of(schedule, chosen)
    record = Record(
        **asked(log, kept.rows),
        start=schedule.start[chosen],
        end=schedule.end[chosen],
        procs=schedule.procs[chosen],
        walltime=schedule.walltime[chosen],
        runtime=schedule.runtime[chosen],
        # Redirection adds processors to a machine, and says how many; a grid's clusters have no others.
        capacity=schedule.capacity if schedule.moves is None else schedule.platform.total_procs,
        killed=schedule.killed[chosen],
        promoted=schedule.why[chosen] == WHY.index("promoted"),
        promise=None if schedule.promise is None else schedule.promise[chosen],
        promise_kind=schedule.promise_kind,
        speeds=any(cluster.speed != 1 for cluster in schedule.platform.clusters),
        nodes=[node.group for node in nodes_of(schedule.platform)] or None,
        pieces=pieces,
        places=places,
        outages=schedule.platform.outages,
        on_nodes=on_nodes_of(schedule, log, chosen, kept.rows),
        origin=log.header.unix_start or 0,
        moves=_moves_of(schedule, chosen),
        clusters=schedule.platform.clusters,
        cluster=None if schedule.cluster is None else schedule.cluster[chosen],
        **_molding(log, kept.rows, schedule.platform),
        missing=missing,
        foreign=foreign,
        repeated=repeated,
    )
    counted = [schedule.own.get(name) for name in ("file_loads", "file_reuses")]
    if all(isinstance(count, int) for count in counted):
        record.file_counts = (int(str(counted[0])), int(str(counted[1])))
    _take_feedback(record, claimed, chosen)
    record.lost = int(schedule.provenance.get("jobs", len(schedule))) - len(schedule)
    return record


def _take_feedback(record: Record, claimed: Workload, chosen: Column) -> None:
    """Jobs that were submitted when others had ended: what the schedule says of that."""
    if "follows" in claimed:
        record.submit = claimed.submit[chosen]
        record.follows, record.think = claimed.follows[chosen], claimed.think[chosen]


def _moves_of(schedule: Schedule, chosen: Column) -> Moves | None:
    """The moves of the jobs that are in the record."""
    moves = schedule.moves
    if moves is None:
        return None
    back = rows_among(chosen, len(schedule))
    kept = back[moves.job] >= 0
    columns = {item.name: getattr(moves, item.name)[kept] for item in fields(Moves)}
    return Moves(**{**columns, "job": back[columns["job"]]})


def _molding(log: Workload, rows: Column, platform: Platform) -> dict[str, Any]:
    """What the log says of home, size limits and parallel fractions."""
    columns = {"local": "local", "fraction": "parallel_fraction", "limit": "max_procs"}
    found = {name: _column(log, column, rows) for name, column in columns.items()}
    codes = _column(log, "cluster", rows)
    if codes is not None:
        names = [cluster.name for cluster in platform.clusters]
        known = [names.index(n) if n in names else NONE for n in log.labels.get("cluster", ())]
        found["home"] = np.array([*known, NONE])[codes]
    return found


@dataclass(frozen=True)
class Match:
    """Positions among the claims and rows of the log that belong together."""

    claims: Column
    rows: Column


def match(log: Workload, jobs: Column) -> tuple[Match, list[int], list[int], list[int]]:
    """First mention of each job that the log has; then the missing, the foreign and the repeated numbers."""
    known, rows = log.rows_of(jobs)
    first = np.unique(rows, return_index=True)[1]
    first.sort()
    claims = np.flatnonzero(known)[first]
    times = np.bincount(rows, minlength=len(log))
    numbers = log.columns["job"]
    kept = Match(claims, rows[first])
    return kept, numbers[times == 0].tolist(), jobs[~known].tolist(), numbers[times > 1].tolist()


def asked(log: Workload, rows: Column) -> dict[str, Any]:
    """The log's side of a record."""
    names = ("job", "submit", "urgent", "deadline", "file", "file_gb", "needs_node_gb")
    columns = {name: _column(log, name, rows) for name in names}
    columns |= {f"asked_{name}": _column(log, name, rows) for name in ("walltime", "runtime")}
    fraction = _column(log, "parallel_fraction", rows)
    return columns | {
        "row": rows,
        "asked": _column(log, "procs", rows),
        "asked_submit": _column(log, "trace_submit" if "trace_submit" in log else "submit", rows),
        "moldable": None if fraction is None else ~np.isnan(fraction),
    }


def _column(log: Workload, name: str, rows: Column) -> Any:
    """A column of the log at these rows; None where it has none."""
    values = log.get(name)
    return None if values is None else values[rows]


def _pieces_of(schedule: Schedule, chosen: Column) -> tuple[Pieces | None, dict[str, Places]]:
    """Pieces counted in rows of the record, and the places of whatever holds processors."""
    back = rows_among(chosen, len(schedule))
    given = schedule.pieces
    pieces = None if given is None else select_pieces(given, back)
    codes = {}
    for name in ("group", "cluster", "node"):
        of_jobs = getattr(schedule, name)
        of_jobs = None if of_jobs is None else of_jobs[chosen]
        codes[name] = interval_codes(name, of_jobs, pieces, len(chosen))
    return pieces, places_of(codes, schedule.labels, schedule.groups, schedule.platform)


def select_pieces(pieces: Pieces, back: Column) -> Pieces:
    """The pieces of jobs that are in the record, with `job` as the record counts."""
    kept = (pieces.job >= 0) & (pieces.job < len(back))
    kept[kept] = back[pieces.job[kept]] >= 0
    found = pieces.select(kept)
    found.job = back[found.job]
    return found


ENDS_A_RUN = tuple(ENDED.index(name) for name in ("done", "walltime"))
GIVES_UP = tuple(ENDED.index(name) for name in ("redirected", "preempted", "failed"))
