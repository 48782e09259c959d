"""How it was made: the ledger of the log, the commands, the inputs and the versions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any

from headway.metrics import Comparison
from headway.plain import counted
from headway.report.assembly import section
from headway.report.table import Cell, Column, table
from headway.report.words import number
from headway.schedule.files import plain, run_record
from headway.workload import Ledger


def ledger_section(ledger: Ledger) -> str:
    """What was odd in the log and what was done about it."""
    sums = (
        f"{counted(ledger.total, 'job')} in the log = {number(ledger.kept)} scheduled"
        f" + {number(ledger.dropped)} dropped."
    )
    if not len(ledger):
        return section("ledger", "Ledger", f"The reader found nothing unusual in the log. {sums}", "")
    columns = [Column("rule"), Column("what was done"), Column("jobs", number=True), Column("first of them")]
    lines = [
        [
            Cell(entry.rule),
            Cell(entry.action, wrap=True),
            Cell(number(entry.count), entry.count),
            Cell(", ".join(map(str, entry.jobs)) + ", …" * (entry.count > len(entry.jobs)), wrap=True),
        ]
        for entry in ledger
    ]
    about = f"What was odd in the log, and what was done about it. {sums}"
    return section("ledger", "Ledger", about, table(columns, lines), long=True)


def provenance_section(comparison: Comparison, command: str) -> str:
    """Commands, inputs by their hashes, versions and parameters of every run."""
    commands = dict.fromkeys(
        str(schedule.provenance["command"])
        for schedule in comparison.schedules
        if "command" in schedule.provenance
    )
    parts = ["<h3>The runs were made by</h3>" + "".join(map(_code, commands))] if commands else []
    if command:
        parts.append("<h3>This report was made by</h3>" + _code(command))
    source = comparison.schedules[0].workload.source
    facts: dict[str, str] = {}
    if source:
        facts |= {"log": source.name, "SHA-256 of the log": source.sha256 or "–"}
    transformations = comparison.schedules[0].workload.transformations
    if transformations:
        facts["transformations"] = "; ".join(transformations)
    for name, schedule in zip(comparison.names, comparison.schedules, strict=True):
        facts[f"policy {name}" if len(comparison.names) > 1 else "policy"] = schedule.policy
    facts["version"] = str(run_record(comparison.schedules[0])["version"])
    parts.append(facts_table(facts))
    for name, schedule in zip(comparison.names, comparison.schedules, strict=True):
        record = {key: value for key, value in run_record(schedule).items() if key != "ledger"}
        parts.append(record_details(f"run.json of {name}", record))
    return section("provenance", "Provenance", "", "".join(parts), long=True)


def facts_table(facts: Mapping[str, str]) -> str:
    """Names and texts, one per line."""
    lines = [f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in facts.items()]
    return f'<table class="facts">{"".join(lines)}</table>'


def record_details(title: str, record: Mapping[str, Any]) -> str:
    """Plain data, folded away until asked for."""
    text = json.dumps(plain(dict(record)), indent=2, ensure_ascii=False)
    return f'<details class="screen"><summary>{escape(title)}</summary>{_code(text)}</details>'


def _code(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"
