"""Workloads to files: one, or several in a folder with a table of them."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headway.cli.display import table_of
from headway.errors import UsageError
from headway.grammar import parse_call
from headway.plain import counted
from headway.writing import refuse_existing

if TYPE_CHECKING:
    from rich.table import Table

    from headway.workload import Workload

FOREIGN = {
    *(".csv", ".tsv", ".parquet", ".feather", ".arrow", ".xls", ".xlsx", ".ods", ".html", ".xml", ".toml"),
    *(".bz2", ".xz", ".zst", ".zip", ".tar", ".tgz", ".7z"),
}
"""Ends of names that promise a format in which no workload is written."""

_WEEK = re.compile(r"week\(number=(\d+), start=([\d.]+), utilization=([\d.]+)\)")


def several(specs: Sequence[str]) -> bool:
    """Whether transformations give several workloads."""
    from headway.workload.transform import TRANSFORMATIONS

    names = [parse_call(spec).name for spec in specs]
    return any(TRANSFORMATIONS[name].many for name in names if name in TRANSFORMATIONS)


def check_target(target: Path, many: bool, force: bool) -> None:
    """Complain now about a target that cannot be written later."""
    if many:
        from headway.schedule.folder import refuse_occupied

        if str(target) == "-" or target.suffix in (".swf", ".gz", ".json"):
            raise UsageError(f"{target}: there are several workloads to write; name a folder for them")
        refuse_occupied(target, force)
        return
    packed = ".gz" if target.suffix.lower() == ".gz" else ""
    end = (target.with_suffix("") if packed else target).suffix.lower()
    if end in FOREIGN or end + packed == ".json.gz":
        raise UsageError(
            f"{target}: a workload is written as SWF (.swf or .swf.gz) or as Batsim's .json, not as "
            f"{end}{packed}; give a name that ends so"
        )
    refuse_existing(target, force or str(target) == "-")


def write_one(workload: Workload, target: Path) -> list[str]:
    """Write a workload and, where SWF cannot hold all of it, its annotations; says what was written."""
    from headway.workload import write_annotations, write_swf
    from headway.workload.annotations import annotated, beside

    if target.suffix.lower() == ".json":
        from headway.workload.batsim import write_batsim

        write_batsim(workload, target)
        return [f"{counted(len(workload), 'job')} written to {target}"]
    write_swf(workload, target)
    written = [f"{counted(len(workload), 'job')} written to {target}"]
    columns = annotated(workload)
    if columns and str(target) != "-":
        sheet = beside(target)
        write_annotations(workload, sheet)
        written.append(f"{', '.join(columns)} written to {sheet}; give it with --annotations")
    return written


def write_each(workloads: Sequence[Workload], folder: Path, force: bool) -> list[str]:
    """Write workloads into a folder that appears whole or not at all, with parts.csv, a table of them."""
    from headway.schedule.folder import whole_folder

    with whole_folder(folder, force) as draft:
        rows: list[list[object]] = []
        for place, workload in enumerate(workloads):
            number, start, used = part_of(workload) or (place, 0.0, None)
            name = f"week-{number:03d}.swf" if used is not None else f"part-{place:03d}.swf"
            if any(row[0] == name for row in rows):
                name = f"{name.removesuffix('.swf')}-{place:03d}.swf"
            write_one(workload, draft / name)
            rows.append([name, number, f"{start:g}", len(workload), "" if used is None else f"{used:.6f}"])
        with (draft / "parts.csv").open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["file", "number", "start", "jobs", "utilization"])
            table.writerows(rows)
    return [f"{counted(len(workloads), 'workload')} and parts.csv written to {folder}"]


def part_of(workload: Workload) -> tuple[int, float, float | None] | None:
    """Number, start (s) and utilization of a week, from its provenance; None for other workloads."""
    for done in reversed(workload.transformations):
        if found := _WEEK.fullmatch(done):
            return int(found[1]), float(found[2]), float(found[3])
    return None


def parts_table(workloads: Sequence[Workload], unix_start: int | None = None) -> Table:
    """Number, start, jobs and utilization of each workload.

    `unix_start` is when the clock of their log was 0, in seconds since 1970, where the log says so.
    """
    from headway.units import date_text

    begins = ">start (s)" if unix_start is None else ">start"
    table = table_of(">week", begins, ">jobs", ">utilization")
    for place, workload in enumerate(workloads):
        number, start, used = part_of(workload) or (place, 0.0, None)
        share = "" if used is None else f"{used:.2%}"
        begin = f"{start:.0f}" if unix_start is None else date_text(round(start * 1e6), unix_start)
        table.add_row(str(number), begin, f"{len(workload):,}", share)
    return table
