"""The write-up as a page of Markdown, with its figures beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from headway.papers.locality.weeks import Group
from headway.papers.verdicts import (
    RULE,
    Reproduction,
    capital,
    claims_table,
    joined,
    markdown_table,
    write_page,
)

NAME = "locality.md"


def write(result: Reproduction, folder: Path, groups: Sequence[Group], quick: bool) -> Path:
    """Write the page; it names the figures that are in the same folder."""
    tables = {name: markdown_table(rows) for name, rows in result.tables.items()}
    ten = [
        f"### {capital(name.partition(': ')[2])}\n\n{table}"
        for name, table in tables.items()
        if name.startswith("Ten rules")
    ]
    parts = [
        f"# Input files: what the authors say, what we get\n\n{_abstract(groups, quick)}",
        "\n".join(f"- {note}" for note in result.notes),
        "## Verdicts\n\n" + VERDICTS + "\n\n" + markdown_table(claims_table(result.claims), 9),
        "## Ten rules\n\n" + TEN,
        *ten,
        "![The rules against FCFS](locality-rules.svg)",
        *([f"### Other widths\n\n{OTHERS}\n\n{tables['Other widths']}"] if "Other widths" in tables else []),
        "## The slides' scores\n\n" + SLIDES + "\n\n" + tables["Slides"],
        "![Stretch and queue time by score](locality-score.svg)\n\n" + BY_SCORE,
        "## Memory sizes\n\n" + SIZES + "\n\n" + tables["Sizes"],
        "![Memory sizes](locality-sizes.svg)",
        "## Readings\n\n" + READINGS,
        "## Beyond: a faster file system, files that stay\n\n" + BEYOND + "\n\n" + tables["Beyond"],
    ]
    if "Weights" in tables:
        parts.append("## Beyond: a search over the weights\n\n" + WEIGHTS + "\n\n" + tables["Weights"])
    return write_page(folder / NAME, parts)


def _abstract(groups: Sequence[Group], quick: bool) -> str:
    named = ", ".join(
        f"{group.title} ({len(group.weeks)} x about {np.mean([len(w.workload) for w in group.weeks]):,.0f} "
        f"jobs, offered load {np.mean([week.load for week in group.weeks]):.2f})"
        for group in groups
    )
    scale = "the small version, `--quick`" if quick else "the whole of it"
    return joined(f"""
        M. Gonthier, L. Marchal, S. Thibault, E. Larsson and C. Nettelblad, *Locality-aware batch scheduling
        of jobs sharing input files*, slides of June 2022 and later drafts. Each job of 1 to 20 cores runs
        inside one node, which loads its input file at 0.1 GB/s unless it has it already; the load counts in
        the walltime. The rules choose the node. Weeks on `{groups[0].weeks[0].platform}` (95 nodes of 128 GB,
        4 of 256 and 1 of 1024, 20 cores each): {named}. First days warm up, and jobs of the days after them
        are judged. A job reads the file of the job before it if that is of the same user, equally wide and at
        most 800 s older. This page and its figures were written by `headway reproduce locality` ({scale}),
        which takes logs with users with `--trace NAME=FILE` and scales them to the machine.
    """)


VERDICTS = joined(f"""
    {RULE} The authors' logs are not public, so only the shape of their results can be tested. The generated
    weeks follow a rule that was fixed before any of them was simulated: jobs and users for each core as in
    the authors' weeks (65,000 jobs a week and 1,083 users on 9,720 cores), about eleven jobs a session,
    offered loads of 0.5 (light), 0.8 (busy) and 1.2 (saturated), seeds 1 to 5, files by the authors' script.
    Only the number of seeds was changed later: to three for all but the light weeks, to save time, when the
    light weeks had been run and before results were looked at. Widths (40 % of the sessions of one core, 27 %
    of a whole node), lengths of runs and requested times are not published and are ours. Every week is
    reported. Orders and directions are tested in every week of a kind. Weeks of a load above 1 are held
    against the authors' saturated week, the others against their light ones; "about" means within five
    percent. The slides have figures without numbers; where a number is held against ours it is from the
    authors' later material, and each claim says so. The widths are those of an earlier version of this page,
    in which they, the loads and the jobs a day were settled after looking at results; so weeks of narrow jobs
    are there as well.
""")
TEN = joined("""
    Means over the weeks of a kind; "range": from the week with the lowest mean stretch to that with the
    highest; "over FCFS": mean of the quotients week by week. Stretch: flow over the time the job would take
    alone, its file read by itself; bounded: at least 300 s alone. Jobs killed at their walltime are counted
    apart. File wait: time in which jobs hold their cores until their file is there. "Sessions better": share
    of the sessions (jobs of one user with pauses of at most five minutes) with a lower summed stretch than
    under FCFS; "median": of FCFS's summed stretch over the rule's. BF: conservative backfilling.
""")
OTHERS = joined("""
    Saturated weeks by the same rule, but with 70 % of the sessions of one core and 5 % of a whole node.
""")
SLIDES = (
    "The score with the weights of the slides' plots, and of a later search; the last also counts copies."
)
SIZES = joined("""
    Files need nodes of 128, 256 or 1024 GB, as often as there are such nodes (95, 4 and 1 % of the files).
    With match=exact a job stays on the smallest size that will do, as on Rackham today. EASY and conservative
    backfilling are what the slides name as future work, and so is a policy that knows both constraints: with
    match=now a rule scores nodes by files, takes jobs of the largest size first, and gives a job a larger
    node only where it starts at once. Area filling plans from the jobs of the first day, which is not judged,
    and until that is over every job keeps to its own size; with areas=all it knows the very jobs that it
    schedules, which nobody does. "From" and "to":
    the week with the lowest and with the highest change of total flow.
""")
BY_SCORE = joined("""
    *The slides' figures: the share of the jobs whose stretch (left) and queue time (right) is at most so
    much, a mean over the weeks of a kind. The curve further left is better.*
""")
READINGS = "What the slides leave open, and how it is read here.\n\n" + markdown_table(
    [
        ["open", "our reading", "others"],
        [
            "areas: of which earlier jobs",
            "of the first day of the log, which is not judged",
            "`areas=DAYS`, another log (`areas=FILE`), all jobs in hindsight (`areas=all`)",
        ],
        [
            "T_max",
            "the largest mean area per node over a size and all above it, the authors' later formula: no "
            "size is planned beyond it",
            "the slides' mean over all nodes (`tmax=mean`), which can overfill large sizes",
        ],
        [
            "presence",
            "a file is on a node while a job there uses it or has just ended: memory that nobody holds is "
            "given away. A job that is killed while it loads leaves no file",
            "until another job starts there (`until-next-start`), until the memory is full (`lru`)",
        ],
        [
            "weights",
            "10, 7000 and 0 for the slides' plots (from the names of their files); the named rules are a "
            "later paper's",
            "`score(load=, evict=, copies=)`",
        ],
        ["wait for a file that is being loaded", "what is left of the load when the job would start", "-"],
        ["two loads on one node", "each has the node's whole bandwidth", "-"],
        ["LEO", "node by node: one that is free now is judged like EFT, all others like LEA", "-"],
        ["LEM", "job by job: LEA while every node runs something, else EFT", "`threshold`"],
        ["when the queue is planned", "at every arrival and completion", "-"],
    ]
)
BEYOND = joined("""
    Mean stretch in the weeks of seeds 1 to 3: as in the paper, where files stay on a node until its memory is
    full (lru), and with 1 GB/s to each node.
""")
WEIGHTS = joined("""
    Mean stretch over that of FCFS, in shorter light and saturated weeks (two days are judged). The pair on
    top is the best on one half of them; the last column is what it is worth on the other half.
""")
