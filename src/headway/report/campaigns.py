"""The report of a campaign: the verdict against the baseline, boxes of every metric, every cell."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from headway.campaign import Results
from headway.campaign.intervals import MINIMUM
from headway.campaign.judging import INDISTINGUISHABLE, TOO_FEW
from headway.errors import UsageError
from headway.figures.style import colour_of
from headway.metrics.catalogue import BY_NAME
from headway.plain import counted
from headway.report.assembly import asset, page, section, verdict_section
from headway.report.provenance import facts_table, record_details
from headway.report.table import Cell, Column, table
from headway.report.words import change, number, quantity, strong

if TYPE_CHECKING:
    import polars as pl

JUDGED = ("mean_bsld", "mean_wait", "p95_wait", "max_bsld", "utilization")
"""Metrics a campaign is judged by where it has them; the first of them gives the verdict."""

BOXES = """Each point is a cell; the box is the middle half, the line its median, the diamond the mean.
Click the chart and turn the wheel to zoom, drag to pan."""

CARE = f"""Every cell is compared with its own baseline, on the same workload. A block, such as a week, is one
observation. The intervals of 95 % are Student's; there is no verdict with fewer than {MINIMUM} blocks."""

UNSURE = {
    INDISTINGUISHABLE: ", indistinguishable from its baseline",
    TOO_FEW: ", with too few blocks to tell it from its baseline",
}
"""What is added where the best policy is not surely better."""

SORT = "Click a column's title to sort."

HIDDEN = ("cell", "block", "policy", "baseline", "status", "error", "tau")
"""Columns that say nothing to a reader of the table of cells."""


def campaign_page(results: Results, command: str = "", title: str = "") -> str:
    """The whole page as text; `command` is the one that makes this report."""
    record = results.described  # empty where it is not there: the results alone are a report too
    title = title or str(record.get("name") or results.folder.name)
    labels = list(dict.fromkeys(results.frame["label"].to_list()))
    metrics = _metrics(results)
    numeric = [name for name, kind in results.table.schema.items() if kind.is_numeric()]
    cells = results.frame.to_dicts()
    data = {
        "kind": "campaign",
        "cells": cells,
        "columns": [
            name for name in results.table.columns
            if name not in HIDDEN and not _idle(results, name) and not _same_machine(results, name)
        ],
        "numeric": numeric,
        "units": {name: BY_NAME[name].unit for name in results.table.columns if name in BY_NAME},
        "groups": [
            {"name": label, "colour": colour_of(place),
             "rows": [row for row, cell in enumerate(cells) if cell["label"] == label]}
            for place, label in enumerate(labels)
        ],
    }  # fmt: skip
    options = "".join(f'<option value="{name}">{name.replace("_", " ")}</option>' for name in metrics)
    boxes = asset("boxes.html").replace("<!-- metrics -->", options)
    parts = [
        f'<h1>{escape(title)}</h1><p class="lead">{escape(_lead(results, labels))}</p>',
        _verdict(results, labels, metrics),
        _table(results, labels, metrics),
        section("boxes-section", "Every metric", BOXES, boxes),
        section("cells-section", "Every cell", SORT, '<div id="cells"></div>', screen=True),
        *([_failures(results)] if results.failed.height else []),
        _provenance(results, record, command),
    ]  # fmt: skip
    links = [
        ("verdict", "Verdict"), ("policies", "Policies"), ("boxes-section", "Metrics"),
        ("cells-section", "Cells"), ("provenance", "Provenance"),
    ]  # fmt: skip
    return page(f"{title} · campaign", "\n".join(parts), links, data)


def _metrics(results: Results) -> list[str]:
    """Metrics of the campaign that differ between cells, those judged by first."""
    names = [name for name in results.table.columns if name in BY_NAME and BY_NAME[name].better]
    kept = [name for name in names if not _idle(results, name)] or names
    return sorted(kept, key=lambda name: JUDGED.index(name) if name in JUDGED else len(JUDGED))


def _idle(results: Results, name: str) -> bool:
    """Whether a column holds nothing but zeros or nothing at all."""
    values = results.frame[name].drop_nulls()
    return not len(values) or (values.dtype.is_numeric() and bool((values == 0).all()))


def _same_machine(results: Results, name: str) -> bool:
    """Whether a column tells of every cell that it ran on the same machine."""
    return name in ("machine", "procs", "capacity") and results.frame[name].n_unique() == 1


def _lead(results: Results, labels: Sequence[str]) -> str:
    workloads, blocks = results.table["workload"].n_unique(), results.table["block"].n_unique()
    told = f"{counted(results.frame.height, 'simulation')}: {counted(len(labels), 'policy')}, "
    told += f"{counted(workloads, 'workload')}, {counted(blocks, 'block')}"
    told += f"; bounded slowdowns with tau = {results.tau:g} s" if results.tau is not None else ""
    return told + (f"; {number(results.failed.height)} failed" if results.failed.height else "")


def _rows(results: Results, label: str) -> pl.DataFrame:
    import polars as pl

    return results.frame.filter(pl.col("label") == label)


def _verdict(results: Results, labels: Sequence[str], metrics: Sequence[str]) -> str:
    if not metrics or not labels:
        return verdict_section(["No cell was done; there is nothing to judge."])
    metric = metrics[0]
    words, sign = metric.replace("_", " ").replace("bsld", "bounded slowdown"), BY_NAME[metric].better
    means = {label: _mean(_rows(results, label), metric) for label in labels}
    known = {label: mean for label, mean in means.items() if mean is not None}
    lines, judged = [], _judged(results, metric)
    equals = _on_same_jobs(results, list(known))
    if equals:
        best = (min if sign == "lower" else max)(equals, key=lambda label: known[label])
        end = "lowest" if sign == "lower" else "highest"
        value = strong(quantity(known[best], BY_NAME[metric].unit))
        of = "" if len(equals) == len(known) else f", of the {len(equals)} policies that ran the same jobs"
        sure = UNSURE.get(str(judged[best]["verdict"]), "") if best in judged else ""
        lines.append(f"{strong(best)} has the {end} {words} on average: {value}{of}{sure}.")
    elif known:
        lines.append(f"None has the best {words}, as no two of them ran the same jobs.")
    lines += [_sentence(label, words, line) for label, line in judged.items()]
    return verdict_section(lines, CARE)


def _on_same_jobs(results: Results, labels: Sequence[str]) -> list[str]:
    """The most policies that ran as many jobs on every block; none where no two of several did."""
    import polars as pl

    groups: dict[object, list[str]] = {}
    counted = [pl.col("jobs").mean()] if "jobs" in results.frame.columns else []
    for label in labels:
        blocks = _rows(results, label).group_by("workload", "block").agg(counted).sort("workload", "block")
        groups.setdefault(tuple(blocks.iter_rows()), []).append(label)
    largest = max(groups.values(), key=len, default=[])
    return largest if len(largest) > 1 or len(labels) == 1 else []


def _judged(results: Results, metric: str) -> dict[str, dict[str, Any]]:
    """The paired difference of each policy with its interval; empty where nothing has a baseline."""
    try:
        table = results.against_baseline(metric, by=("label",))
    except UsageError:
        return {}
    return {str(line["label"]): line for line in table.to_dicts()}


def _sentence(label: str, words: str, line: dict[str, Any]) -> str:
    moved = f'<span class="{_colour(line)}">{change(line["change"])}</span>' if line["change"] else "nothing"
    within = ""
    if line["change_low"] is not None:
        within = f" ({change(line['change_low'])} to {change(line['change_high'])})"
    blocks = counted(line["blocks"], "block")
    told = escape(str(line["verdict"]))
    return (
        f"{strong(label)} against its baseline: the {words} changes by {moved}{within} over {blocks}: {told}."
    )


def _colour(line: dict[str, Any]) -> str:
    return line["verdict"] if line["verdict"] in ("better", "worse") else ""


def _mean(rows: pl.DataFrame, metric: str) -> float | None:
    mean = rows[metric].cast(float).mean()
    return mean if isinstance(mean, float) else None


def _table(results: Results, labels: Sequence[str], metrics: Sequence[str]) -> str:
    columns = [Column("policy"), Column("cells", number=True)]
    shown = metrics[:6]
    columns += [Column(name.replace("_", " "), number=True, about=BY_NAME[name].formula) for name in shown]
    judged = {name: _judged(results, name) for name in shown}
    lines = []
    for label in labels:
        rows = _rows(results, label)
        cells = [Cell(label), Cell(number(rows.height), rows.height)]
        for name in shown:
            mean, line = _mean(rows, name), judged[name].get(label)
            text = quantity(mean, BY_NAME[name].unit)
            told = Cell(text, mean, change(line["change"]), _colour(line)) if line else Cell(text, mean)
            cells.append(told)
        lines.append(cells)
    about = (
        "Means over the cells, each with its change from the baseline, pair by pair. A change has a colour "
        "if its 95 % interval excludes 0 and there are enough blocks."
    )
    return section("policies", "Policies", about, table(columns, lines), long=True)


def _failures(results: Results) -> str:
    columns = [Column("workload"), Column("policy"), Column("seed", number=True), Column("error")]
    lines = [
        [Cell(str(row["workload"])), Cell(str(row["label"])), Cell(str(row["seed"]), row["seed"]),
         Cell(str(row["error"]), wrap=True)]
        for row in results.failed.to_dicts()
    ]  # fmt: skip
    return section("failures", "Cells that failed", "", table(columns, lines), long=True)


def _provenance(results: Results, record: dict[str, Any], command: str) -> str:
    facts = {"results": str(results.folder), "version": str(record.get("headway", "–"))}
    if command:
        facts = {"this report": command} | facts
    if record.get("command"):
        facts = {"campaign": str(record["command"])} | facts
    body = facts_table(facts) + record_details("campaign.json", record)
    return section("provenance", "Provenance", "", body)
