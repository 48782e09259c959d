"""What is aimed for: each measured row held against its bar, as one table.

Bars are for whole sizes on two cores of a development machine; a quick run is not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from benchmarks.rates import Row

BATSIM = 1020
"""Jobs per CPU second of Batsim with batsched on 10,000 Lublin jobs; 80 % of it is its platform."""


@dataclass(frozen=True)
class Line:
    """One line of the table: what, on what, the figure with its unit, the bar, and whether it is met."""

    work: str
    on: str
    figure: float
    unit: str
    bar: str = ""
    met: bool | None = None

    @property
    def verdict(self) -> str:
        """Met, missed, or nothing where there is no bar."""
        return "" if self.met is None else "met" if self.met else "missed"


def at_least(work: str, on: str, figure: float, unit: str, bar: float | None) -> Line:
    """A figure that should be large."""
    if bar is None:
        return Line(work, on, figure, unit)
    return Line(
        work, on, figure, unit, f"at least {bar:,g}" if bar < 1e5 else f"at least {bar:,.0f}", figure >= bar
    )


def at_most(work: str, on: str, figure: float, unit: str, bar: float | None) -> Line:
    """A figure that should be small."""
    if bar is None:
        return Line(work, on, figure, unit)
    return Line(work, on, figure, unit, f"at most {bar:,g}", figure <= bar)


def number(row: Row, name: str) -> float:
    """A number of a row."""
    return float(str(row[name]))


def of_logs(rows: Sequence[Row]) -> Iterator[Line]:
    """EASY by the depth of the queue; conservative where a bar is set."""
    rates = {"SDSC-SP2": 500_000, "HPC2N": 200_000}
    for row in rows:
        name, rate = str(row["workload"]), number(row, "jobs/CPU s")
        queue = f"{name}, {number(row, 'mean queue per pass'):,.0f} waiting"
        if row["policy"] == "easy":
            bar = 2_000_000 if number(row, "mean queue per pass") < 100 else 1000 * BATSIM
            yield at_least("EASY", queue, rate, "jobs/CPU s", 1_000_000 if "RICC" in name else bar)
        elif "RICC" in name:
            yield at_most("conservative, whole log", name, number(row, "CPU s"), "CPU s", 10)
        else:
            known = next((bar for log, bar in rates.items() if name.startswith(log)), None)
            yield at_least("conservative", queue, rate, "jobs/CPU s", known)


def of_synthetic(rows: Sequence[Row]) -> Iterator[Line]:
    """EASY below, near and above what the machine can do; a deep queue has a bar."""
    for row in rows:
        deep = "1.1" in str(row["workload"])
        jobs, queue = number(row, "jobs"), number(row, "max queue")
        on = f"{row['workload']}, {jobs:,.0f} jobs, at most {queue:,.0f} waiting"
        work = "EASY, very deep queue" if deep else "EASY"
        yield at_least(work, on, number(row, "jobs/CPU s"), "jobs/CPU s", 500_000 if deep else None)


def of_depth(rows: Sequence[Row]) -> Iterator[Line]:
    """Growth where twice as many jobs wait; other orders at most three times what order of arrival takes."""
    for row in rows:
        policy, jobs = str(row["policy"]), number(row, "n")
        on = f"{policy}, {4 * jobs:,.0f} jobs at once over {2 * jobs:,.0f}"
        yield at_most("growth with twice as many waiting", on, number(row, "growth"), "times", 3.0)
        if row["over plain"] and row["plain"] != policy:
            on = f"{4 * jobs:,.0f} jobs at once, over {row['plain']}"
            yield at_most(f"deep queue, {policy}", on, number(row, "over plain"), "times", 3.0)


def of_reading(rows: Sequence[Row]) -> Iterator[Line]:
    """Lines of SWF per second, with and without kernels."""
    for row in rows:
        bar = 1_000_000 if row["parser"] == "compiled" else 500_000
        work = f"reading SWF, {row['parser']} parser, {row['file']}"
        yield at_least(work, str(row["log"]), number(row, "lines/CPU s"), "lines/CPU s", bar)


def of_commands(rows: Sequence[Row]) -> Iterator[Line]:
    """The command line, by wall time: that is what a user feels."""
    for row in rows:
        name = str(row["command"])
        bar = 3.0 if "first use" in name else 0.3 if "--help" in name else 2.0 if "audited" in name else None
        yield at_most(name, f"best of {row['best of']}", number(row, "wall s"), "s wall", bar)


def of_kernels(rows: Sequence[Row]) -> Iterator[Line]:
    """What is built beforehand, and what it spares; each row brings its bar."""
    for row in rows:
        what, unit = str(row["what"]), str(row["unit"])
        yield at_most("kernels", what, number(row, "figure"), unit, number(row, "bar"))


def of_compiling(rows: Sequence[Row]) -> Iterator[Line]:
    """What a policy takes to be compiled, once on each machine."""
    for row in rows:
        yield at_most("to compile a policy", str(row["command"]), number(row, "CPU s"), "CPU s", 15)


def of_memory(rows: Sequence[Row]) -> Iterator[Line]:
    """Peak memory of a whole simulation."""
    for row in rows:
        jobs = int(number(row, "jobs"))
        bar = 4.0 if jobs == 10_000_000 else None
        on = f"{jobs:,} jobs, {row['policy']}"
        yield at_most("memory", on, number(row, "peak GB, simulated"), "GB", bar)


def of_streams(rows: Sequence[Row]) -> Iterator[Line]:
    """Memory stays while the log grows, and the time of twice as many jobs is about twice as long."""
    for row in rows:
        on = f"{int(number(row, 'jobs')):,} jobs, EASY, at most {int(number(row, 'most waiting')):,} waiting"
        yield at_most("stream, memory", on, number(row, "peak GB"), "GB", 2.0)
        yield Line("stream, time", on, number(row, "CPU s"), "CPU s")
        growth = number(row, "times the row before")
        if growth:
            yield at_most("stream, twice the jobs", on, growth, "times", 2.2)


def of_sweeps(rows: Sequence[Row]) -> Iterator[Line]:
    """A campaign on two workers against one, and the campaign of the paper on redirection."""
    for row in rows:
        if row["kind"] == "speed-up":
            bar = 1.9 if row["bar"] else None
            yield at_least("sweep, two workers over one", str(row["on"]), number(row, "value"), "times", bar)
        elif row["kind"] == "campaign":
            bar = 30.0 if row["bar"] else None
            yield at_most("campaign of redirection", str(row["on"]), number(row, "value"), "s wall", bar)
        elif row["kind"] == "small cells":
            bar = 1000.0 if row["bar"] else None
            rate = number(row, "value")
            yield at_least("sweep, small cells, 2 workers", str(row["on"]), rate, "cells/s", bar)
        elif row["kind"] == "CPU ms":
            bar = 2.0 if row["bar"] else None
            each = number(row, "value")
            yield at_most("sweep, a small cell, 2 workers", str(row["on"]), each, "CPU ms", bar)
        elif row["kind"] == "Python's share":
            bar = 0.33 if row["bar"] else None
            yield at_most("sweep, Python's share of a cell", str(row["on"]), number(row, "value"), "", bar)
        elif row["kind"] == "CPU s":
            yield Line("sweep, small cells, 1 worker", str(row["on"]), number(row, "value"), "CPU s")
        elif row["kind"] == "growth":
            on = str(row["on"])
            yield at_most("growth with twice as many cells", on, number(row, "value"), "times", 2.2)
        elif row["kind"] == "paper":
            yield Line("reproduce redirection, everything", str(row["on"]), number(row, "value"), "s wall")
        else:
            yield Line(f"sweep, {row['kind']}", str(row["on"]), number(row, "value"), "cells/s")


def of_deadline(rows: Sequence[Row]) -> Iterator[Line]:
    """DBF's rate on each log, with bars for the times as logged, and how it compares with conservative's."""
    for row in rows:
        name = str(row["workload"])
        as_logged = "exact" not in name
        yield Line("DBF over conservative's rate", name, number(row, "ratio"), "times")
        bar = 50_000 if as_logged and name.startswith(("SDSC-BLUE", "HPC2N")) else None
        yield at_least("DBF", name, number(row, "jobs/CPU s"), "jobs/CPU s", bar)


def of_urgent(rows: Sequence[Row]) -> Iterator[Line]:
    """UJFB with urgent jobs put into a log."""
    rates = {"LANL": 200_000, "HPC2N": 30_000}
    for row in rows:
        name = str(row["workload"])
        if name.startswith("RICC"):
            yield at_most("UJFB, whole log", name, number(row, "CPU s"), "CPU s", 120)
            continue
        bar = next((rate for log, rate in rates.items() if name.startswith(log)), None)
        yield at_least("UJFB", name, number(row, "jobs/CPU s"), "jobs/CPU s", bar)


def of_redirection(rows: Sequence[Row]) -> Iterator[Line]:
    """Redirection against EASY, per started run."""
    for row in rows:
        on = f"{row['workload']}, theta {row['theta']}"
        yield at_most("redirection over EASY, per run", on, number(row, "ratio"), "times", 1.5)


def of_nodes(rows: Sequence[Row]) -> Iterator[Line]:
    """Rules on nodes: a rate in the light week, a time in the saturated one."""
    times = {"fcfs": 300.0, "eft": 300.0, "lea": 1200.0, "leo": 1200.0, "lem": 1200.0}
    for row in rows:
        name = str(row["week"])
        rule = name.rpartition(": ")[2]
        if name.startswith("light"):
            yield at_least("on nodes, light week", name, number(row, "jobs/CPU s"), "jobs/CPU s", 5000)
        elif name.startswith("saturated"):
            yield at_most("on nodes, saturated week", name, number(row, "CPU s"), "CPU s", times.get(rule))


def of_reallocation(rows: Sequence[Row]) -> Iterator[Line]:
    """The grid of three clusters with a real number of jobs."""
    for row in rows:
        bar = 30.0 if row["heuristic"] == "mct" else 120.0
        on = f"{number(row, 'jobs'):,.0f} jobs, {row['mode']}"
        yield at_most(f"reallocation, {row['heuristic']}", on, number(row, "CPU s"), "CPU s", bar)


def of_composed(rows: Sequence[Row]) -> Iterator[Line]:
    """Clusters that are simulated one by one; a fixed order is sorted at each pass there, and has no bar."""
    for row in rows:
        on = f"{4 * number(row, 'n'):,.0f} jobs, {row['policy']}"
        bar = None if "order" in str(row["policy"]) else 50_000
        yield at_least("grid of any policy", on, number(row, "jobs/CPU s"), "jobs/CPU s", bar)
        yield Line("grid of any policy, 4 n over 2 n", on, number(row, "growth"), "times")


def of_slurm(rows: Sequence[Row]) -> Iterator[Line]:
    """Slurm's rules by the length of the queue: as many jobs a second as the four months below need."""
    for row in rows:
        queue, shared = number(row, "mean queue"), "shared" in str(row["site"])
        name = "synthetic site of unlike, shared nodes" if shared else "synthetic site"
        on = f"{name}, {number(row, 'jobs'):,.0f} jobs, {queue:,.0f} waiting"
        bar = 2000 if queue >= 400 and not shared else None
        yield at_least("Slurm's rules", on, number(row, "jobs/CPU s"), "jobs/CPU s", bar)


def of_slurm_months(rows: Sequence[Row]) -> Iterator[Line]:
    """Slurm's rules on four months."""
    for row in rows:
        on = f"synthetic site, {number(row, 'jobs'):,.0f} jobs, {number(row, 'mean queue'):,.0f} waiting"
        yield at_most("Slurm's rules, four months", on, number(row, "CPU s"), "CPU s", 300)


def of_live(rows: Sequence[Row]) -> Iterator[Line]:
    """The middleware: a pass in a second, and a tenth of a core for one poll a second."""
    for row in rows:
        work = str(row["work"])
        bar = 0.1 if "poll" in work else None if "foreseen" in work else 1.0
        on = f"a queue of {number(row, 'jobs'):,.0f} jobs"
        yield at_most(f"live, {row['work']}", on, number(row, "CPU s"), "CPU s", bar)


def of_live_week(rows: Sequence[Row]) -> Iterator[Line]:
    """The middleware at the end of a week, by what it had at the end of the second day."""
    first, last = rows[1], rows[-1]
    on = f"{last['work']}, {number(last, 'tasks so far'):,.0f} tasks"
    for what, bar in (("memory MB", 1.03), ("files kB", 1.1)):
        growth = number(last, what) / number(first, what)
        yield at_most(f"live in scaled time, {what}", on, growth, "x those of day 2", bar)


def of_gym(rows: Sequence[Row]) -> Iterator[Line]:
    """Environments: one from Python, and a vector on two threads by what the two cores can do at most."""
    for row in rows:
        threads = int(number(row, "threads"))
        bar = 20_000 if threads == 1 else 500_000
        figure = number(row, "steps/s on idle cores, at most")
        yield at_least("Gymnasium", str(row["environment"]), figure, f"steps in {threads} CPU s", bar)


BARS: dict[str, Callable[[Sequence[Row]], Iterator[Line]]] = {
    "logs": of_logs,
    "synthetic": of_synthetic,
    "depth": of_depth,
    "reading": of_reading,
    "commands": of_commands,
    "kernels": of_kernels,
    "compiling": of_compiling,
    "memory": of_memory,
    "streams": of_streams,
    "stream-whole": of_streams,
    "sweeps": of_sweeps,
    "deadline": of_deadline,
    "urgent": of_urgent,
    "redirection": of_redirection,
    "nodes": of_nodes,
    "reallocation": of_reallocation,
    "composed": of_composed,
    "slurm": of_slurm,
    "slurm-months": of_slurm_months,
    "live": of_live,
    "live-week": of_live_week,
    "gym": of_gym,
}
"""Sections of the table, in its order."""


def lines(sections: dict[str, Sequence[Row]], judged: bool = True) -> list[Line]:
    """The table of what was measured; where `judged` is false, without verdicts."""
    found = [line for name, of in BARS.items() if name in sections for line in of(sections[name])]
    return found if judged else [Line(**(asdict(line) | {"met": None})) for line in found]


def figure(value: float) -> str:
    """Thousands apart, three digits behind small numbers."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def text(found: Sequence[Line]) -> str:
    """The table for a terminal."""
    rows = [("work", "on", "today", "unit", "bar", "")]
    rows += [(each.work, each.on, figure(each.figure), each.unit, each.bar, each.verdict) for each in found]
    widths = [max(len(row[place]) for row in rows) for place in range(6)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place == 2 else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def markdown(found: Sequence[Line]) -> str:
    """The table for the page on speed."""
    heads = ["| work | on | today | unit | bar | |", "|---|---|---:|---|---|---|"]
    return "\n".join(
        heads
        + [
            f"| {each.work} | {each.on} | {figure(each.figure)} | {each.unit} | {each.bar} | "
            f"{'**missed**' if each.met is False else each.verdict} |"
            for each in found
        ]
    )
