"""The write-up as a page of Markdown, with its figures beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headway.papers.log import Log
from headway.papers.urgent.runs import LOG
from headway.papers.verdicts import RULE, Reproduction, claims_table, joined, markdown_table, write_page
from headway.plain import counted

NAME = "urgent.md"


def write(result: Reproduction, folder: Path, logs: Sequence[Log], sizes: str, draws: int) -> Path:
    """Write the page; it names the figures that are in the same folder."""
    drawn = OF_THE_LOG if sizes == LOG else DRAWN
    tables = {name: markdown_table(rows) for name, rows in result.tables.items()}
    parts = [
        f"# Urgent computing: what the slides say, what we get\n\n{_abstract(logs)}",
        "\n".join(f"- {note}" for note in result.notes),
        "## How a process is swapped, and when\n\n![The flow of a swap](urgent-flow.svg)\n\n" + FLOW
        + "\n\n![The three cases](urgent-cases.svg)\n\n" + CASES,
        "## Verdicts\n\n" + RULE + " " + VERDICTS + "\n\n" + markdown_table(claims_table(result.claims), 9),
        "## Table 2: urgent lateness\n\n" + LATENESS + "\n\n" + tables["Table 2"],
        "## Table 1: margins to the deadline\n\n" + MARGINS + "\n\n" + tables["Table 1"],
        "## Arrivals and slowdowns without special treatment\n\n"
        "![Arrivals of urgent jobs, and slowdowns](urgent-untreated.svg)\n\n" + UNTREATED,
        "## Regular jobs\n\n![Response and slowdown of regular jobs](urgent-regular.svg)\n\n"
        + tables["Regular jobs"],
        f"## Other draws\n\n{SEEDS.format(draws=counted(draws, 'time'))}\n\n{tables['Seeds']}",
        "## Table 3: swap times\n\n![Swap time against size](urgent-table-3.svg)\n\n" + MODEL
        + "\n\n" + tables["Swap model"],
        tables["Suspicious points"],
        "### Your own swaps\n\n" + OWN,
        "## Longer swaps\n\n![Longer swaps](urgent-swaps.svg)\n\n" + drawn + SWAPS + "\n\n"
        + tables["Longer swaps"],
        "## Sizes of the log\n\n" + SIZES + "\n\n" + tables["Sizes"],
        "## Beyond: suspend, kill, or dedicated nodes\n\n" + MODES + "\n\n" + tables["Modes"],
        "## Beyond: how many urgent jobs a machine bears\n\n![Urgent jobs an hour](urgent-rates.svg)\n\n"
        + RATES + "\n\n" + tables["Rates"],
        "## Readings\n\n" + READINGS + "\n\n" + tables["Readings"],
    ]  # fmt: skip
    return write_page(folder / NAME, parts)


def _abstract(logs: Sequence[Log]) -> str:
    named = ", ".join(f"{log.title} ({len(log.workload):,} jobs, {log.procs:,} processors)" for log in logs)
    return joined(f"""
        M. Agung, Y. Watanabe, H. Weber, R. Egawa and H. Takizawa, *Preemptive parallel job scheduling for
        heterogeneous systems supporting urgent computing*, IEEE Access 9, 2021, as a set of slides tells it.
        Tsunami forecasts, unscaled (128, 256 or 512 processors for 10, 6.5 or 4 minutes), arrive at random
        times among the regular jobs of a log, 100 of them, and each is worth something for 10 minutes. UJFB
        suspends regular jobs for them. Logs: {named}. This page and its figures were written by `headway
        reproduce urgent`, which takes logs of your own with `--trace NAME=FILE`.
    """)


FLOW = joined("""
    *Figure 4 of the slides: red, what happens when a regular job makes room; blue, when it comes back. Only
    part of the engine's memory is swapped, so that a process has to go on where it was.*
""")
CASES = joined("""
    *Figures 5 to 8, simulated: four processors, job 1 runs on three, job 2 waits for all four, and job 3 is
    urgent and comes at 2 s. Swapping takes 1 s.*
""")
VERDICTS = joined("""
    Claims are quoted from the slides; some of what their figures show is in no sentence, and is said to be.
    The slides' bars have no numbers. A difference counts where its interval over seeds does not hold 0, and
    is a tie otherwise.
""")
SEEDS = joined("""
    The arrivals of urgent jobs and the sizes of all jobs drawn {draws} (`--seeds`). Each line is a
    mean of changes seed by seed, with Student's interval at 95 %.
""")
OWN = joined("""
    `python -m headway.papers.urgent.measure_swap` suspends a process of this machine, writes its memory out,
    reads it back and lets it go on, for several sizes (to memory, or with `--to` to a disk), and fits the
    same line: a bandwidth for `ujfb(bandwidth=..., swap_in=...)`.
""")
LATENESS = joined("""
    U_L is the largest slowdown (response over run time) of an urgent job. Backfill is conservative
    backfilling that makes all reservations anew. The last two rows are not in the slides: they let urgent
    jobs go first in the queue without stopping anything.
""")
MARGINS = joined("""
    The slowdown that 10 minutes allow, and what UJFB leaves of them. A job on 128 processors has nothing to
    spare: if others are swapped out for it, it is late by the length of the swap. Preemption by degree kills
    for such a job and suspends for the others.
""")
UNTREATED = "*Arrivals are drawn uniformly over the log; each size arrives in turn.*"
MODEL = joined("""
    Lines by least squares through the 32 points of Table 3; per class through zero. The two suspicious points
    are printed with times that are far off the line of their class. The policy's default of 6,000 MB/s is the
    line through zero of the other 30.
""")
DRAWN = "Memory sizes are drawn from Table 3 for each job; "
OF_THE_LOG = "Memory sizes are those of the log, drawn from Table 3 where it says none; "
SWAPS = "swap times are size over 6,000 MB/s times the factor."
SIZES = joined("""
    The same urgent jobs under UJFB where what is swapped out is what the log says each job had of memory (per
    processor, as requested, else as used; drawn from Table 3 for the others). `--sizes log` gives this whole
    page with the sizes of the logs.
""")
MODES = joined("""
    The same urgent jobs, four ways. "Dedicated" sets processors apart for them; the regular jobs have the
    rest, those wider than that are not run, and EASY schedules them, because what is left of a machine may be
    too small for its load. Changes are against the same log without any urgent job on the whole machine,
    under Backfill or EASY. Work lost is what killed jobs had done.
""")
RATES = joined("""
    A stream of tsunami jobs with exponential gaps over the first part of each log, under UJFB. When urgent
    jobs meet and need more than the machine has, they wait, and the lateness leaves 1.
""")
READINGS = joined("""
    The slides give Algorithm 1, the metrics and tables. What they leave open is a parameter of the policy:
    who makes room (`victims`), suspend, kill or both (`preempt`), where swap times come from (`swap`,
    `bandwidth`, `unknown`), what a host can hold (`host_memory`, `host_size`), whether an urgent job may pass
    a waiting one (`overtake`), where waiting urgent jobs hold reservations (`reserve`), who may have idle
    processors of a suspended job (`idle`), whether processors of a victim that the urgent job does not need
    are swapped out (`leftover`), which ones it takes first (`borrow`), how long coming back takes
    (`swap_in`),
    where a killed job waits again (`requeue`), and whether an urgent job is killed at its walltime
    (`overrun`). This page has the default of each; here is what the others would change. The tsunami jobs end
    at their walltime, so the last one changes nothing with them.
""")
