"""A runs.csv read back, ours or another tool's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.schedule.codes import ENDED, STATES
from headway.schedule.csv_table import CsvTable
from headway.schedule.pieces import NONE, PLACES, Pieces
from headway.schedule.shares_file import shares_of
from headway.workload import Workload


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
