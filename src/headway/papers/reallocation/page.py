"""The write-up as a page of Markdown, with its figures beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headway.papers.reallocation.scenarios import LOAD, Scenario
from headway.papers.verdicts import RULE, Reproduction, claims_table, joined, markdown_table, write_page

NAME = "reallocation.md"


def write(
    result: Reproduction,
    folder: Path,
    scenarios: Sequence[Scenario],
    seeds: Sequence[int],
) -> Path:
    """Write the page; it names the figures that are in the same folder."""
    tables = {name: markdown_table(rows) for name, rows in result.tables.items()}
    parts = [
        f"# Reallocation: what the paper says, what we get\n\n{_abstract(scenarios, seeds)}",
        "\n".join(f"- {note}" for note in result.notes),
        "## Verdicts\n\n" + VERDICTS + "\n\n" + markdown_table(claims_table(result.claims), 9),
        "## How it was read\n\n" + READINGS,
        "### The load\n\n" + GIVEN_LOADS + "\n\n" + tables["Loads"],
        "## All numbers\n\n" + MEANS + "\n\n" + tables["Means"],
        "## Dedicated clusters\n\n" + "\n\n".join(_figure(number) for number in range(6, 10)),
        "## Clusters that others use too\n\n" + "\n\n".join(_figure(number) for number in range(10, 14)),
        "## Clusters of equal speed\n\n" + EQUAL,
        "## The examples\n\n" + EXAMPLES,
        "## Beyond the paper\n\n" + BEYOND + "\n\n![Beyond the paper](reallocation-beyond.svg)",
        "### Moldable against rigid\n\n" + MOLDING + "\n\n" + tables["Molding"],
        "### The period\n\n" + tables["Period"],
        "### Transfers\n\n" + TRANSFERS + "\n\n" + tables["Transfers"],
        THRESHOLD + "\n\n" + tables["Threshold"],
        "### Automatic walltimes\n\n" + AUTOMATIC + "\n\n" + tables["Automatic"],
        "### Reserved resources\n\n" + RESERVED + "\n\n" + tables["Reserved"],
        "### The number of clusters\n\n" + CLUSTERS + "\n\n" + tables["Clusters"],
        "### Requested times\n\n" + tables["Walltimes"],
        "### Policies of the clusters\n\n" + LOCAL + "\n\n" + tables["Local policies"],
    ]
    if "Load" in tables:
        parts.append("### The load of the generated logs\n\n" + LOADS + "\n\n" + tables["Load"])
    return write_page(folder / NAME, parts)


def _figure(number: int) -> str:
    where = "dedicated" if number < 10 else "not dedicated"
    what = CAPTIONS[(number - 6) % 4]
    return (
        f"![Figure {number}](reallocation-figure-{number}.svg)\n\n"
        f"*Figure {number} of the paper: {what}, {where}.*"
    )


def _abstract(scenarios: Sequence[Scenario], seeds: Sequence[int]) -> str:
    named = ", ".join(f"{scenario.name} ({scenario.total:,} jobs)" for scenario in scenarios)
    return joined(f"""
        Y. Caniou, G. Charrier and F. Desprez, *Evaluation of Reallocation Heuristics for Moldable Tasks in
        Computational Grids*, AusPDC 2011. An agent gives each task to the cluster that promises to complete
        it first, on as many processors as suit the load there, and looks at the waiting tasks again every
        hour: *regular* moves a task if another cluster completes it at least a minute earlier;
        *all-cancellation* cancels all and submits them again. Tasks are taken in order of submission (MCT) or
        by the smallest completion among the 20 oldest (MinMin). Scenarios, with the paper's counts: {named};
        {len(seeds)} seeds. This page and its figures were written by `headway reproduce reallocation`, which
        takes logs of your own with `--trace SITE=FILE` (bordeaux, lyon, toulouse, ctc, sdsc).
    """)


CAPTIONS = (
    "share of the tasks whose completion changed",
    "moves between clusters / tasks",
    "share of the impacted tasks that were completed earlier",
    "mean response of the impacted tasks / the same in the reference; below 1 is better",
)
VERDICTS = joined(f"""
    {RULE} Where logs are generated, a verdict says whether the statement carries over to another workload of
    as many jobs, not whether the paper's numbers were right for its own. The load of the generated sites,
    0.9, was settled after looking at results for loads from 0.5 to 1.3, so verdicts that depend on it are
    not independent of that choice (see the table of loads); the verdict on starvation was worded after the
    runs.
""")
READINGS = joined(f"""
    The types of the tasks and the choice of local jobs are drawn anew for each seed, so each seed has a
    reference of its own. Times of the log are those of a processor of speed 1. Jobs of one processor and
    local jobs keep their size. The search for the size stops at the task's limit, because no time is defined
    beyond it. A move needs a gain of 60 s or more. Clusters compress their plans when a job ends early or is
    cancelled, and never delay a job. Relative response is a ratio of means. Generated logs have the counts of
    Table 1 (and of PWA-G5K), sizes, times and daily cycle of Lublin and Feitelson's model and requested times
    of Tsafrir's; all times of a site are multiplied so that it offers its own cluster a load of {LOAD:g}, by
    two at most, so that sites with few jobs stay lightly loaded. Given logs are cut into the same days,
    counted from their first submission.
""")
MEANS = joined("""
    Means over all scenarios and seeds. "Moves that kept their word": the task was completed no later than was
    expected when it was moved. A task is put back when it is submitted again with a later completion than it
    had; five times or more is called starving.
""")
EQUAL = (
    "![Equal speeds, dedicated](reallocation-equal-dedicated.svg)\n\n"
    "*Relative mean response, dedicated clusters of equal speed.*\n\n"
    "![Equal speeds, not dedicated](reallocation-equal-shared.svg)\n\n"
    "*The same, not dedicated.*"
)
GIVEN_LOADS = joined(f"""
    What is offered to the clusters, over the days of a scenario. The load of a generated site on its own
    cluster is meant to be {LOAD:g} and is less where a site has few jobs; moldable tasks that are given more
    processors than in the log add work, and faster clusters take it away.
""")
TRANSFERS = joined("""
    A task that moves takes its data along: it cannot start on the new cluster before they have come, and the
    agent knows that when it compares completions (`transfer`; with `link` the input file of the task counts
    too). The first submission is free, and so is staying where one is.
""")
THRESHOLD = joined("""
    The paper simulates no transfers: its threshold of a minute stands for small ones. A longer threshold is
    the other way to pay for them: a task moves only if it is completed earlier by at least so much.
""")
AUTOMATIC = joined("""
    The paper's servers set the walltime, and its introduction names estimates by data mining. Here a
    middleware that knows its services asks for the run time and a margin (`--apply 'walltimes(margin=1.2)'`).
""")
RESERVED = joined("""
    The paper's last sentence: a set of reserved resources on a site under an embedded batch scheduler. A
    third of the jobs are grid tasks here and the others local. Where something is reserved, grid tasks have
    only that, and local jobs only the rest (`reserved`).
""")
EXAMPLES = (
    "![Figure 1](reallocation-figure-1.svg)\n\n"
    "*Figure 1: who asks whom when a task is submitted (1 to 7) and moved (8).*\n\n"
    "![Figure 2](reallocation-figure-2.svg)\n\n"
    "*Figure 2: completions of one task on 1, 5, 3 and 2 processors, which the binary search asks about, and "
    "on 4, which it does not; the load is ours, chosen so that the completions are the paper's.*\n\n"
    "![Figure 3](reallocation-figure-3.svg)\n\n"
    "*Figure 3: job 2 ends early, and at minute 30 jobs 4 and 5 move to its cluster one by one.*\n\n"
    "![Figure 5](reallocation-figure-5.svg)\n\n"
    "*Figure 5: job 4 moves to cluster 1 at minute 60, on two processors instead of one; because job 6 then "
    "ends early, the large job 8 is delayed by it, while job 5 moves up.*\n\n"
    "![Figure 4](reallocation-figure-4.svg)\n\n"
    "*Figure 4: Amdahl's law for the four types; dots are their limits.*"
)
BEYOND = joined("""
    The second scenario, dedicated, the mean of a few seeds; relative response is over all tasks here,
    impacted or not.
""")
MOLDING = joined("""
    The same jobs with a size that the servers choose, and with the size of the log. Relative response is
    against the reference of the same kind.
""")
CLUSTERS = joined("""
    The processors of the grid in equal clusters of speed 1. Sequential jobs fit everywhere, and moldable ones
    shrink.
""")
LOCAL = joined("""
    FCFS starts no job before the one ahead of it; scratch places all waiting jobs anew when one ends early,
    and may delay some; fixpoint moves jobs up until nothing moves; open holes are Simbatch's. EASY promises
    nothing, so that completions are estimates there, which the paper warns of.
""")
LOADS = "How much of a verdict is the load: the same counts with longer and shorter jobs."
