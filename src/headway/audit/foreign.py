"""Another tool's schedule: a CSV file with job, start and end, judged against a log."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from headway.audit.record import Record, asked, match, select_pieces
from headway.platform import Platform
from headway.schedule.csv_table import NONE, CsvTable
from headway.schedule.pieces import interval_codes, places_of, read_pieces, rows_among
from headway.workload import Workload

NEEDED = ("job", "start", "end")


def read_foreign(
    path: str | Path, workload: Workload, platform: Platform, runs: str | Path | None = None
) -> Record:
    """The record of a schedule file `job,start,end[,procs][,promise]`, columns in any order, others ignored.

    Times are seconds and may have decimals. Jobs without `procs` have what the log asks for. Where times
    depend on size or place (moldable jobs, clusters of other speeds), `walltime` and `runtime` tell what a
    job ran with. `runs` is a table of pieces as in runs.csv, for jobs that ran in more than one. Jobs that
    are missing, repeated or unknown are left for the audit to report.
    """
    table = CsvTable(Path(path), NEEDED)
    kept, missing, foreign, repeated = match(workload, table.integers("job"))
    columns = asked(workload, kept.rows)
    procs = columns["asked"]
    if "procs" in table:
        given = table.integers("procs", absent=NONE)[kept.claims]
        procs = np.where(given == NONE, procs, given)
    speeds = any(cluster.speed != 1 for cluster in platform.clusters)
    varies = np.ones(len(procs), np.bool_) if speeds else columns["moldable"]
    times = {name: columns[f"asked_{name}"] for name in ("walltime", "runtime")}
    for name in times if varies is not None else ():
        if name in table:
            given = table.times(name, absent=NONE)[kept.claims]
            times[name] = np.where(varies & (given != NONE), given, times[name])
    record = Record(
        **columns,
        **times,
        start=table.times("start")[kept.claims],
        end=table.times("end")[kept.claims],
        procs=procs,
        capacity=platform.total_procs,
        promise=table.times("promise", absent=NONE)[kept.claims] if "promise" in table else None,
        speeds=speeds,
        outages=platform.outages,
        missing=missing,
        foreign=foreign,
        repeated=repeated,
    )
    if runs is not None:
        _add_pieces(record, Path(runs), workload, platform, kept.rows)
    return record


def _add_pieces(record: Record, path: Path, log: Workload, platform: Platform, rows: np.ndarray) -> None:
    known = {"cluster": [cluster.name for cluster in platform.clusters]}
    pieces, labels, strangers = read_pieces(path, log, known)
    record.pieces = select_pieces(pieces, rows_among(rows, len(log)))
    record.foreign = sorted({*record.foreign, *strangers})
    codes = {
        name: interval_codes(name, None, record.pieces, len(record)) for name in ("group", "cluster", "node")
    }
    record.places = places_of(codes, labels, {}, platform)
