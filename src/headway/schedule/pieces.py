"""Where jobs were: the states of their pieces, the pieces, and the places that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from headway.platform import Platform
from headway.schedule.csv_table import NONE, CsvTable
from headway.schedule.shares import Shares, shares_of

if TYPE_CHECKING:
    from headway.workload import Workload


WHY = (
    "immediate",
    "head",
    "backfill",
    "reservation",
    "resumed",
    "redirected",
    "urgent",
    "urgent_backfill",
    "urgent_preempt",
    "promoted",
    "moved",
    "recorded",
)
"""Why a job started; of a recorded start nobody knows. Names are added at the end and never renamed."""

STATES = ("running", "loading", "swap_out", "suspended", "swap_in")
"""What a job does during one piece of a run."""

HOLDING = ("running", "loading", "swap_out", "swap_in")
"""The states in which a job keeps its processors from everybody else."""

ENDED = ("done", "walltime", "redirected", "preempted", "suspended", "resumed", "failed")
"""How a piece came to its end."""
TO_REDIRECTION = ENDED.index("redirected"), ENDED.index("suspended")
FOR_URGENT = ENDED.index("suspended"), ENDED.index("preempted")
"""Codes of pieces that ended because their job was redirected, and because it made room for an urgent one."""


# The pieces of runs: what a job did from one instant to the next, and on which processors.
#
# A job that starts once and runs to its end is one piece. A redirected job has one piece in each of
# two runs; a suspended job has several pieces in one run::
#
#     run 0   |running|swap_out|suspended....|swap_in|running....|
#             start                                              end

COLUMNS = ("job", "run", "state", "start", "end", "procs", "ended")
PLACES = ("cluster", "group", "node")
"""Columns that every table of pieces has, and those of where they were, which it may have."""


def rows_among(chosen: NDArray[Any], length: int) -> NDArray[np.int64]:
    """For each of so many rows, which of the chosen ones (rows or a mask) it is; ``NONE`` for the others."""
    found = np.full(length, NONE, np.int64)
    found[chosen] = np.arange(len(found[chosen]))
    return found


@dataclass(eq=False)
class Pieces:
    """A table of pieces, any order; times in µs, half-open intervals [start, end).

    `job` is the row of the workload (not the job's number). `run` counts the runs of one job from 0;
    the highest is the final one. Jobs that are not in the table ran in one piece, as the schedule says.
    """

    job: NDArray[np.int64]
    run: NDArray[np.int64]
    state: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    procs: NDArray[np.int64]
    ended: NDArray[np.int64]
    cluster: NDArray[np.int64] | None = None
    group: NDArray[np.int64] | None = None
    node: NDArray[np.int64] | None = None
    processors: Sequence[str] | None = None
    """Processor numbers of each piece as ranges, "0-3,7"; "" where none are given."""
    shares: Shares | None = None
    """What each piece has of named nodes; `shares.job` is the row of this table."""

    def __post_init__(self) -> None:
        for name in (*COLUMNS, *PLACES):
            if name in COLUMNS or getattr(self, name) is not None:
                setattr(self, name, _column(getattr(self, name), name, len(self.job)))
        if self.processors is not None and len(self.processors) != len(self.job):
            raise ValueError(f"{len(self.processors)} sets of processors for {len(self.job)} pieces")

    def __len__(self) -> int:
        return len(self.job)

    def select(self, kept: NDArray[np.bool_]) -> Pieces:
        """Some of the pieces."""
        columns: dict[str, Any] = {
            name: values[kept] for name, values in vars(self).items() if isinstance(values, np.ndarray)
        }
        if self.processors is not None:
            columns["processors"] = [text for text, stays in zip(self.processors, kept, strict=True) if stays]
        return replace(self, **columns, shares=None if self.shares is None else self.shares.select(kept))

    @property
    def several(self) -> bool:
        """Whether some job has more than one piece."""
        return len(np.unique(self.job)) < len(self.job)

    @property
    def is_held_up(self) -> bool:
        """Whether some run did something else than running: it loaded a file, or was suspended."""
        return bool((self.state != STATES.index("running")).any())

    def running_time(self, start: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
        """How long the final run of each job was running, for jobs with these starts and ends (µs)."""
        time = end - start
        time[self.job] = 0
        counted = self.final(len(time)) & (self.state == STATES.index("running"))
        np.add.at(time, self.job[counted], (self.end - self.start)[counted])
        return time

    @property
    def holding(self) -> NDArray[np.bool_]:
        """Which pieces keep processors from other jobs (a suspended job does not)."""
        holds = np.array([state in HOLDING for state in STATES])
        return np.asarray(holds[self.state], dtype=np.bool_)

    def final(self, jobs: int) -> NDArray[np.bool_]:
        """Which pieces belong to the final run of their job, for a workload of so many jobs."""
        last = np.full(jobs, NONE, np.int64)
        np.maximum.at(last, self.job, self.run)
        return np.asarray(self.run == last[self.job], dtype=np.bool_)

    def alone(self, jobs: int) -> NDArray[np.bool_]:
        """Which of so many jobs are not in the table."""
        alone = np.ones(jobs, np.bool_)
        alone[self.job] = False
        return alone

    def in_order(self) -> NDArray[np.int64]:
        """The rows by job (trace order), then run, then start, then end."""
        return np.lexsort((self.end, self.start, self.run, self.job))


def _column(values: ArrayLike, name: str, length: int) -> NDArray[np.int64]:
    array = np.ascontiguousarray(values, dtype=np.int64)
    if array.shape != (length,):
        raise ValueError(f"pieces: column {name} has shape {array.shape}, {length} rows are expected")
    return array


def read_pieces(
    path: Path, workload: Workload, labels: Mapping[str, Sequence[str]], nodes: Sequence[str] = ()
) -> tuple[Pieces, dict[str, Sequence[str]], list[int]]:
    """A runs.csv: the pieces, the names of their places, and the numbers of jobs the workload does not have.

    Only job, start and end are required: a piece without a state is running, one without a run is of run 0,
    one without processors has as many as its job asked for. `nodes` are the names of the nodes that are
    known.
    """
    table = CsvTable(path, ("job", "start", "end"))
    jobs = table.integers("job")
    known, rows = workload.rows_of(jobs)
    names = dict(labels)
    places: dict[str, Any] = {}
    for name in PLACES:
        if name in table and not table.texts[name].is_null().all():
            if name in labels:
                places[name] = table.codes(name, labels[name])[known]
            else:
                codes, names[name] = table.labelled(name)
                places[name] = codes[known]

    def column(name: str, default: int) -> Any:
        values = table.integers(name, absent=default) if name in table else np.full(len(table), default)
        return values[known]

    procs = column("procs", 0)
    shares = shares_of(table, nodes)
    states = table.codes("state", STATES)[known] if "state" in table else np.zeros(len(rows), np.int64)
    pieces = Pieces(
        job=rows,
        run=column("run", 0),
        state=np.where(states == NONE, STATES.index("running"), states),
        start=table.times("start")[known],
        end=table.times("end")[known],
        procs=np.where(procs == 0, workload.columns["procs"][rows], procs),
        ended=table.codes("ended", ENDED)[known] if "ended" in table else np.full(len(rows), NONE),
        processors=_processors(table, known),
        shares=None if shares is None else shares.select(known),
        **places,
    )
    return pieces, names, sorted(set(jobs[~known].tolist()))


def _processors(table: CsvTable, known: NDArray[np.bool_]) -> list[str] | None:
    if "processors" not in table or table.texts["processors"].is_null().all():
        return None
    texts = table.texts["processors"].fill_null("").to_list()
    return [text for text, kept in zip(texts, known.tolist(), strict=True) if kept]


# Where the pieces of a schedule were: groups, clusters and nodes, with their processors.

Column = NDArray[np.int64]


@dataclass(frozen=True)
class Places:
    """Where pieces were: a code per piece (-1 unknown), and name and processors of each place."""

    codes: Column
    names: Sequence[str]
    sizes: Sequence[int]


def interval_codes(name: str, of_jobs: Column | None, pieces: Pieces | None, jobs: int) -> Column | None:
    """Place codes in the order of `Record.intervals`."""
    if pieces is None:
        return of_jobs
    of_pieces = getattr(pieces, name)
    if of_pieces is None and of_jobs is None:
        return None
    alone, holds = pieces.alone(jobs), pieces.holding
    return np.concatenate(
        [
            np.full(int(holds.sum()), NONE) if of_pieces is None else of_pieces[holds],
            np.full(int(alone.sum()), NONE) if of_jobs is None else of_jobs[alone],
        ]
    )


def places_of(
    codes: Mapping[str, Column | None],
    labels: Mapping[str, Sequence[str]],
    groups: Mapping[str, int],
    platform: Platform,
) -> dict[str, Places]:
    """Places whose sizes are known: groups, clusters and nodes (numbered through all clusters)."""
    cores = [
        group.cores for cluster in platform.clusters for group in cluster.nodes for _ in range(group.count)
    ]
    known = {
        "group": (list(groups), list(groups.values())),
        "cluster": ([c.name for c in platform.clusters], [c.procs for c in platform.clusters]),
        "node": ([str(number) for number in range(len(cores))], cores),
    }
    places = {}
    for name, column in codes.items():
        names, sizes = known[name]
        if column is None or not names:
            continue
        given = labels.get(name) or names
        if set(given) <= set(names):
            places[name] = Places(column, given, [sizes[names.index(label)] for label in given])
        elif len(given) == len(names):
            places[name] = Places(column, given, sizes)  # nodes with names of their own, in the same order
    return places
