"""Write annotations: what a workload knows beyond its log, as a CSV file `read_annotations` takes."""

from __future__ import annotations

import csv
import os
from decimal import Decimal

import numpy as np

from headway.units import seconds_text
from headway.workload.annotations import KB_PER_MB
from headway.workload.table import Column, Workload
from headway.writing import replacing

COLUMNS = (
    "urgent", "deadline", "swap", "memory_kb", "file", "file_gb", "needs_node_gb", "parallel_fraction",
    "max_procs", "cluster", "local",
)  # fmt: skip
"""Columns of a workload that annotations hold; `memory_kb` is written as `memory_mb`."""


def annotated(workload: Workload) -> list[str]:
    """Columns of the workload that SWF cannot hold and at least one job has a value in."""
    return [
        name for name in COLUMNS if name != "memory_kb" and name in workload and _has(workload, name).any()
    ]


def write_annotations(workload: Workload, path: str | os.PathLike[str]) -> None:
    """Write every annotation the workload has, one line for each job that has any.

    Together with the SWF file of `write_swf`, `read_annotations` gives back the same columns.
    """
    names = [name for name in COLUMNS if name in workload and _has(workload, name).any()]
    listed = np.zeros(len(workload), np.bool_)
    for name in names:
        listed |= _has(workload, name)
    rows = np.flatnonzero(listed)
    columns = [workload.job[rows].tolist(), *(_texts(workload, name, rows) for name in names)]
    header = ["job", *("memory_mb" if name == "memory_kb" else name for name in names)]
    with replacing(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(zip(*columns, strict=True))


def _has(workload: Workload, name: str) -> Column:
    """Which jobs have a value."""
    column = workload.columns[name]
    if column.dtype == np.bool_:
        return column
    return ~np.isnan(column) if column.dtype.kind == "f" else column >= 0


def _texts(workload: Workload, name: str, rows: Column) -> list[str]:
    """Cells of some rows; empty where there is no value."""
    column, has = workload.columns[name][rows], _has(workload, name)[rows]
    values = column.tolist()
    if name in ("deadline", "swap"):
        texts = [seconds_text(value) for value in values]
    elif name == "memory_kb":
        # A power of two divides into a decimal that ends, so nothing is lost.
        texts = [format((Decimal(value) / KB_PER_MB).normalize(), "f") for value in values]
    elif name in ("file", "cluster"):
        labels = workload.labels.get(name)
        texts = [str(value) if labels is None else labels[value] for value in values]
    elif column.dtype == np.bool_:
        texts = ["1" if value else "0" for value in values]
    else:
        texts = [str(value) for value in values]
    return [text if present else "" for text, present in zip(texts, has.tolist(), strict=True)]
