"""The write-up as a page of Markdown, with its figures beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headway.papers.redirection.grid import PAPER_ALPHA, PAPER_THETA, Grid
from headway.papers.redirection.logs import Log
from headway.papers.verdicts import RULE, Reproduction, claims_table, joined, markdown_table, write_page

NAME = "redirection.md"


def write(result: Reproduction, folder: Path, logs: Sequence[Log], grid: Grid) -> Path:
    """Write the page; it names the figures that are in the same folder."""
    tables = {name: markdown_table(rows) for name, rows in result.tables.items()}
    parts = [
        f"# Redirection: what the paper says, what we get\n\n{_abstract(result, logs, grid)}",
        "\n".join(f"- {note}" for note in result.notes),
        "## Verdicts\n\n" + VERDICTS + "\n\n" + markdown_table(claims_table(result.claims), 9),
        "## The campaign\n\n" + CAMPAIGN,
        "![Figure 1](redirection-figure-1.svg)\n\n" + FIGURE_1,
        "![Figure 2](redirection-figure-2.svg)\n\n" + FIGURE_2,
        "### Best parameters\n\n" + BEST + "\n\n" + tables["Best parameters"],
        "### Mean response and mean wait\n\n![Mean response and mean wait](redirection-mean-response.svg)\n\n"
        + MEAN,
        "### The largest response time\n\n![Largest response time](redirection-response.svg)\n\n" + FLOW,
        "## For which logs it works\n\n" + WHICH + "\n\n" + tables["Which logs"],
        "## Readings\n\n" + READINGS + "\n\n" + tables["Readings"],
        "### Which weeks\n\n" + WEEKS + "\n\n" + tables["Which weeks"],
        "## Beyond the paper\n\n" + BEYOND,
        "![Beyond the paper](redirection-beyond.svg)\n\n" + CURVES,
        "### Chosen on half of the weeks\n\n" + HALVES + "\n\n" + tables["Chosen on half of the weeks"],
        "### Who pays\n\n" + COSTS + "\n\n" + tables["Who pays"],
    ]
    return write_page(folder / NAME, parts)


def _first(result: Reproduction) -> str:
    """What a reader should know before all else: what it does to the slowdown and to the mean response."""
    slowdowns, responses = (
        {claim.claim.partition(":")[0]: claim.ours.partition(";")[0] for claim in result.claims
         if name in claim.claim} for name in (": mean bounded slowdown with", ": mean response time with")
    )  # fmt: skip
    said = [f"{log} {gain} (mean response {responses[log]})" for log, gain in slowdowns.items()]
    return (
        "What it does to the mean bounded slowdown, and to the mean response time, which the paper does not "
        f"show, with / without redirection at the best point of each log: {'; '.join(said)}."
    )


def _abstract(result: Reproduction, logs: Sequence[Log], grid: Grid) -> str:
    named = ", ".join(f"{log.cluster.title} ({log.procs:,} processors)" for log in logs)
    thetas, alphas = ", ".join(map(str, grid.thetas)), ", ".join(f"{alpha:g}" for alpha in grid.alphas)
    return joined(f"""
        A. Faure, G. Lucarelli, O. Richard and D. Trystram, *Online Scheduling with Redirection for Parallel
        Jobs*, IPDPSW 2020. A running job that holds up many newcomers is killed and restarted in a group of
        processors of its own. {_first(result)} Logs: {named}. Theta in {{{thetas}}}, alpha in
        {{{alphas}}}. This page and its figures were written by `headway reproduce redirection`, which takes
        logs of your own with `--trace NAME=FILE`.
    """)


VERDICTS = joined(f"""
    {RULE} All ratios are with / without redirection, so that less than 1 is better; the paper's text gives
    the ratio the other way round and says that below 1 is better, which cannot both hold. "Average" and
    "median" are over the weeks; the paper's gains are averages, as it says of the one point it names. The
    best theta is the one with the smallest median ratio of mean bounded slowdowns, on all of this page.
""")
CAMPAIGN = joined("""
    Weeks of 168 hours in which the log used at least 70 % of the machine, the first 20 of them, each
    simulated from an empty machine; estimates are the exact run times; the bounded slowdown (BSLD) has
    tau = 60 s; a
    redirected job's lost time counts as waiting. The principal group has the machine's m processors and the
    redirection group floor(alpha m) more. The baseline is EASY on all m + floor(alpha m) processors in one
    pool.
""")
FIGURE_1 = joined("""
    *Figure 1 of the paper: the mean bounded slowdown of each week. Box: quartiles, black line: median, red
    square: mean. Note the logarithmic axes.*
""")
FIGURE_2 = (
    "*Figure 2 of the paper: ratios with / without redirection, week by week; below the line is better.*"
)
BEST = joined("""
    For each alpha, the best theta. Mean response and mean wait: medians of the ratios with / without. "Lost
    work" is what killed runs had done, as a share of processors x time.
""")
MEAN = joined(f"""
    *Medians over the weeks at alpha = {PAPER_ALPHA:g}; above the line is worse. The paper shows neither: it
    judges by the bounded slowdown alone, in which a short job that waits less weighs more than a long one
    that runs twice.*
""")
WHICH = joined(f"""
    The paper ends on it: "some workloads are more responsive to the redirection; further investigations are
    needed". Each log at its best point, from the largest gain (average) to the smallest. "Newcomers while one
    runs": jobs that arrive during the run of a job that fits into a group of {PAPER_ALPHA:g} m, weighted by
    the work of that job; it is what counters can count.
""")
FLOW = "*The paper says that alpha is very important for it, and does not show it.*"
READINGS = joined(f"""
    What the paper leaves open, one change at a time, alpha = {PAPER_ALPHA:g}. Ratios are medians over the
    weeks of mean bounded slowdowns with / without redirection. With a group that is part of the machine,
    jobs wider
    than the principal group are refused, and the baseline has the same jobs and the same machine.
""")
WEEKS = joined(f"""
    Which 20 weeks the paper took is not known, and at its named point (theta {PAPER_THETA}, alpha
    {PAPER_ALPHA:g}) much depends on it: the same log and the same rule, with the first, the last or all of
    the weeks of at least 70 %.
""")
BEYOND = joined("""
    Questions the paper does not ask: what users' own estimates do to it, what a checkpoint would be worth,
    whether its parameters carry over to other weeks, and who pays. A redirected job that restarts from a
    checkpoint goes on where it was stopped, at no cost: a bound on what saving its memory could be worth
    (`restart=checkpoint`, an option of ours).
""")
CURVES = f"*Median ratio of mean bounded slowdowns against theta, alpha = {PAPER_ALPHA:g}.*"
HALVES = joined("""
    The paper chooses its parameters on the weeks it reports. Here they are chosen on every other week and
    judged on the weeks between.
""")
COSTS = joined("""
    At the best point of each log: the same jobs with redirection, and under EASY on as many processors; all
    weeks together. A job is worse off if it ends later with redirection. A user counts once for each week,
    and is worse off if the mean BSLD of the user's jobs of that week is larger with redirection.
""")
