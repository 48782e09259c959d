"""The report of a campaign: the verdict against the baseline, boxes of every metric, every cell."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from headway.campaign import Results
from headway.campaign.intervals import MINIMUM
from headway.campaign.judging import apart, means
from headway.errors import UsageError
from headway.figures.style import colour_of
from headway.metrics.catalogue import BY_NAME
from headway.plain import counted
from headway.report.page import (
    Cell,
    Column,
    asset,
    change,
    facts_table,
    number,
    page,
    quantity,
    record_details,
    section,
    strong,
    table,
    verdict_section,
)

JUDGED = ("mean_bsld", "mean_wait", "p95_wait", "max_bsld", "utilization")
"""Metrics a campaign is judged by where it has them; the first of them gives the verdict."""

BOXES = """Each point is a cell; the box is the middle half, the line its median, the diamond the mean.
Click the chart and turn the wheel to zoom, drag to pan."""

CARE = f"""Every cell is compared with its own baseline, on the same workload. A block, such as a week, is one
observation. The intervals of 95 % are Student's; there is no verdict with fewer than {MINIMUM} blocks."""

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
        _table(results, metrics),
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


def _verdict(results: Results, labels: Sequence[str], metrics: Sequence[str]) -> str:
    if not metrics or not labels:
        return verdict_section(["No cell was done; there is nothing to judge."])
    metric = metrics[0]
    words = metric.replace("_", " ").replace("bsld", "bounded slowdown")
    best = "lowest" if BY_NAME[metric].better == "lower" else "highest"
    several, lines = bool(apart(results.frame)), []
    judged = _judged(results, metric)
    for workload, lead in results.leads(metric).items():
        on = f"{strong(workload)}: " if several else ""
        if lead is None:
            lines.append(f"{on}None has the {best} {words}, as no two of them ran the same jobs.")
        else:
            value = strong(quantity(lead.mean, BY_NAME[metric].unit))
            lines.append(on + lead.sentence(words, value, len(labels), strong))
        lines += [on + _sentence(str(line["label"]), words, line) for line in judged
                  if line.get("workload", workload) == workload]  # fmt: skip
    return verdict_section(lines, CARE)


def _judged(results: Results, metric: str) -> list[dict[str, Any]]:
    """The paired differences of each policy with intervals; none where nothing has a baseline."""
    try:
        return results.verdicts(metric).to_dicts()
    except UsageError:
        return []


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


def _table(results: Results, metrics: Sequence[str]) -> str:
    keys, shown = [*apart(results.frame), "label"], metrics[:6]
    columns = [Column(name.replace("label", "policy")) for name in keys] + [Column("cells", number=True)]
    columns += [Column(name.replace("_", " "), number=True, about=BY_NAME[name].formula) for name in shown]
    judged = {
        name: {tuple(line[key] for key in keys): line for line in _judged(results, name)} for name in shown
    }
    lines = []
    for row in means(results.frame, keys, shown).to_dicts():
        cells = [*(Cell(str(row[key])) for key in keys), Cell(number(row["cells"]), row["cells"])]
        for name in shown:
            mean, line = row[name], judged[name].get(tuple(row[key] for key in keys))
            text = quantity(mean, BY_NAME[name].unit)
            told = Cell(text, mean, change(line["change"]), _colour(line)) if line else Cell(text, mean)
            cells.append(told)
        lines.append(cells)
    about = (
        "Means over the blocks, each with its change from the baseline, pair by pair. A change has a colour "
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
