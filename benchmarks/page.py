"""The table on the page of the documentation: everything between two marks is written anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.bars import BARS, Line, markdown

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def write(
    file: Path,
    table: Sequence[Line],
    machine: Mapping[str, object],
    measured: Mapping[str, str],
    quick: bool,
) -> None:
    """Put the table between the marks of the page."""
    before, begin, rest = file.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{file}: the page needs the lines {BEGIN} and {END}")
    text = f"{before}{BEGIN}\n\n{content(table, machine, measured, quick)}\n\n{END}{after}"
    file.write_text(text, encoding="utf-8")


def content(
    table: Sequence[Line], machine: Mapping[str, object], measured: Mapping[str, str], quick: bool
) -> str:
    """Machine, table, what falls short, what was not measured."""
    about = (
        f"{machine['system']}, {machine['cores']} cores, {machine['memory_gb']} GB; "
        f"Python {machine['python']}, numba {machine['numba']}, headway {machine['headway']}."
    )
    when = "; ".join(f"{name} {day}" for name, day in measured.items())
    missed = [f"- {line.work}, {line.on}: {line.bar} {line.unit}" for line in table if line.met is False]
    absent = [name for name in BARS if name not in measured]
    parts = [about, f"Measured (day and load average): {when}."]
    if quick:
        parts.append("**A quick run on small sizes: the bars do not apply, nothing is judged.**")
    parts.append(markdown(table))
    parts.append("## Where we fall short")
    parts.append("\n".join(missed) if missed else "Nothing measured here misses its bar.")
    if absent:
        parts.append(f"Not measured in this run: {', '.join(absent)}.")
    return "\n\n".join(parts)
