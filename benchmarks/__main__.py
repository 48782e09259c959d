"""Run the benchmarks, print a table for each section, and write everything as JSON where asked."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import commands, machine, memory, nodes, rates, ratios, reading, urgent
from benchmarks.rates import Row

TRACES = Path(os.environ.get("HEADWAY_TRACES", Path(__file__).parents[2] / "shared" / "traces"))


def printed(title: str, rows: Iterator[Row]) -> list[Row]:
    """The rows of a section; each is printed as soon as it is there."""
    print(f"\n{title}", flush=True)
    kept: list[Row] = []
    for row in rows:
        if not kept:
            print(columns([str(name) for name in row], row))
        texts = [f"{value:,}" if isinstance(value, int | float) else str(value) for value in row.values()]
        print(columns(texts, row), flush=True)
        kept.append(row)
    return kept


def columns(texts: list[str], row: Row) -> str:
    """One line: the first column to the left, the others to the right."""
    widths = [max(len(name), 12) for name in row]
    return "  ".join([f"{texts[0]:<60}", *(f"{t:>{w}}" for t, w in zip(texts[1:], widths[1:], strict=True))])


def sections(traces: Path, quick: bool, full: bool) -> dict[str, tuple[str, Callable[[], Iterator[Row]]]]:
    """Name -> title and what measures it."""
    folder = traces if traces.is_dir() else None
    found: dict[str, tuple[str, Callable[[], Iterator[Row]]]] = {
        "ratios": ("Ratios within this run", lambda: ratios.all_ratios(quick)),
    }
    if folder is not None:
        found["logs"] = ("Archive logs", lambda: rates.on_logs(folder, quick))
        found["urgent"] = ("Urgent jobs", lambda: urgent.on_logs(folder, quick))
    found |= {
        "nodes": ("Input files on Rackham's 486 nodes", lambda: nodes.on_rackham(quick)),
        "synthetic": ("Synthetic loads", lambda: rates.on_synthetic_loads(quick)),
        "reading": ("Reading SWF", lambda: reading.on_all_readers(folder, quick)),
        "commands": ("Command line", lambda: commands.all_commands(folder, quick)),
    }
    if full:
        found["memory"] = ("Memory", lambda: memory.peaks((1_000_000, 10_000_000)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure Headway on this machine."
    )
    parser.add_argument("--quick", action="store_true", help="small sizes: a minute in all")
    parser.add_argument("--full", action="store_true", help="also peak memory with 10 million jobs")
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="SECTION",
        help="ratios, logs, urgent, nodes, synthetic, reading, commands, memory",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers there")
    parser.add_argument(
        "--traces", type=Path, default=TRACES, metavar="FOLDER", help="where *.swf.gz logs are"
    )
    options = parser.parse_args()
    chosen = sections(options.traces, options.quick, options.full or "memory" in (options.only or ()))
    unknown = set(options.only or ()) - set(chosen)
    if unknown:
        parser.error(f"no section {', '.join(sorted(unknown))} here; there are {', '.join(chosen)}")
    report: dict[str, object] = {"machine": machine.describe(), "quick": options.quick}
    for name, value in machine.describe().items():
        print(f"{name:<14}{value}")
    begin, cpu = time.perf_counter(), time.process_time()
    for name, (title, rows) in chosen.items():
        if options.only is None or name in options.only:
            report[name] = printed(title, rows())
    report["wall_seconds"] = round(time.perf_counter() - begin, 1)
    report["cpu_seconds"] = round(time.process_time() - cpu, 1)
    print(f"\n{report['wall_seconds']} s wall, {report['cpu_seconds']} s CPU in this process")
    if options.json is not None:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
