"""Run the benchmarks, print every section and the whole table against its bars; write JSON and a page."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import (
    bars,
    commands,
    deadline,
    depth,
    gym,
    kernels,
    live,
    machine,
    memory,
    nodes,
    page,
    rates,
    ratios,
    reading,
    reallocation,
    redirection,
    slurm_site,
    soak,
    streams,
    sweeps,
    urgent,
)
from benchmarks.rates import Row

TRACES = Path(os.environ.get("HEADWAY_TRACES", Path(__file__).parents[2] / "shared" / "traces"))

ON_REQUEST = ("slurm-months", "stream-whole", "live-week")
"""Sections that take minutes and run only by name."""

Sections = dict[str, tuple[str, Callable[[], Iterator[Row]]]]


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


def sections(traces: Path, quick: bool) -> Sections:
    """Name -> title and what measures it; without logs on generated ones."""
    folder = traces if traces.is_dir() and any(traces.glob("*.swf.gz")) else None
    sizes = (100_000,) if quick else (1_000_000, 10_000_000)
    found: Sections = {
        "logs": ("EASY and conservative, every log", lambda: rates.on_logs(folder, quick)),
        "synthetic": ("EASY, synthetic loads", lambda: rates.on_synthetic_loads(quick)),
        "depth": ("Deep queues: n, 2 n and 4 n jobs at once", lambda: depth.in_deep_queues(quick)),
        "reading": ("Reading SWF", lambda: reading.on_all_readers(folder, quick)),
        "commands": (
            "Command line, warm and on an empty cache",
            lambda: commands.all_commands(folder, quick),
        ),
        "kernels": ("Built kernels and first uses", lambda: kernels.all_of_them(quick)),
        "compiling": ("Compiling a policy", lambda: commands.all_compiled(quick)),
        "memory": ("Memory", lambda: memory.peaks(sizes)),
        "streams": (
            "Streams: growth at n, 2 n and 4 n",
            lambda: streams.growth(streams.QUICK if quick else streams.SIZES),
        ),
        "stream-whole": ("A stream of 44 million jobs", lambda: streams.growth(streams.WHOLE)),
        "sweeps": ("Sweeps", lambda: sweeps.all_sweeps(folder, quick)),
        "deadline": ("Deadlines: DBF against conservative", lambda: deadline.on_logs(folder, quick)),
        "redirection": ("Redirection against EASY", lambda: redirection.on_logs(folder, quick)),
        "nodes": ("Jobs inside nodes", lambda: nodes.on_rackham(quick)),
        "reallocation": ("Reallocation on a grid", lambda: reallocation.on_three_clusters(quick)),
        "composed": (
            "Grids of clusters under any policy: n, 2 n and 4 n jobs",
            lambda: reallocation.under_any_policy(quick),
        ),
        "slurm": ("Slurm's rules on a synthetic site", lambda: slurm_site.in_days(quick)),
        "slurm-months": ("Slurm's rules over four months", slurm_site.in_months),
        "live": ("The middleware before a long queue", lambda: live.on_a_long_queue(quick)),
        "live-week": ("The middleware for a week in scaled time", lambda: soak.in_a_week(quick)),
        "gym": ("Environments of Gymnasium", lambda: gym.on_environments(folder, quick)),
        "ratios": ("Ratios within this run", lambda: ratios.all_ratios(quick)),
    }
    if folder is not None:
        found["urgent"] = ("Urgent jobs: UJFB", lambda: urgent.on_logs(folder, quick))
    return found


def earlier(file: Path | None, quick: bool) -> dict[str, Any]:
    """What earlier runs left in the file; a quick run and a whole one do not mix."""
    if file is None or not file.is_file():
        return {}
    kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    if bool(kept.get("quick")) != quick:
        raise SystemExit(
            f"{file} holds {'a quick' if kept.get('quick') else 'a whole'} run; name another file"
        )
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure Headway on this machine against its bars."
    )
    parser.add_argument("--quick", action="store_true", help="small sizes: some minutes in all, not judged")
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="SECTION",
        help=f"some of {', '.join(bars.BARS)}, ratios; {', '.join(ON_REQUEST)} run only by name",
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="keep all numbers there; sections of earlier runs stay"
    )
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the table into this Markdown page")
    parser.add_argument(
        "--traces", type=Path, default=TRACES, metavar="FOLDER", help="where *.swf.gz logs are"
    )
    options = parser.parse_args()
    known = sections(options.traces, options.quick)
    unknown = set(options.only or ()) - set(known)
    if unknown:
        parser.error(f"no section {', '.join(sorted(unknown))} here; there are {', '.join(known)}")
    report = earlier(options.json, options.quick)
    found: dict[str, list[Row]] = report.get("sections", {})
    measured: dict[str, str] = report.get("measured", {})
    described = machine.describe()
    for name, value in described.items():
        print(f"{name:<14}{value}")
    begin, cpu = time.perf_counter(), time.process_time()
    for name, (title, rows) in known.items():
        if name in options.only if options.only else name not in ON_REQUEST:
            found[name] = printed(title, rows())
            measured[name] = f"{time.strftime('%Y-%m-%d')}, load {os.getloadavg()[0]:.1f}"
            if options.json is not None:
                report = {
                    "machine": described,
                    "quick": options.quick,
                    "measured": measured,
                    "sections": found,
                }
                options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    table = bars.lines(dict(found), judged=not options.quick)
    print(f"\nAgainst the bars{' (quick: small sizes, not judged)' if options.quick else ''}")
    print(bars.text(table))
    print(
        f"\n{time.perf_counter() - begin:.1f} s wall, {time.process_time() - cpu:.1f} s CPU in this process"
    )
    if options.page is not None:
        page.write(options.page, table, described, measured, options.quick)
        print(f"table written to {options.page}")


if __name__ == "__main__":
    main()
