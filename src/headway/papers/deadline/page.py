"""The write-up as a page of Markdown, with its figures beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headway.papers.deadline.logs import Log
from headway.papers.verdicts import RULE, Reproduction, claims_table, joined, markdown_table, write_page

NAME = "deadline.md"


def write(result: Reproduction, folder: Path, logs: Sequence[Log]) -> Path:
    """Write the page; it names the figures that are in the same folder."""
    tables = {name: markdown_table(rows) for name, rows in result.tables.items()}
    dated = len(result.tables["Calendar"]) > 1
    parts = [
        f"# Deadlines: what the paper says, what we get\n\n{_abstract(logs)}",
        "\n".join(f"- {note}" for note in result.notes),
        "## The algorithm\n\n![Figure 1](deadline-figure-1.svg)\n\n" + FIGURE_1,
        "## Verdicts\n\n" + VERDICTS + "\n\n" + markdown_table(claims_table(result.claims), 9),
        "## Table 1: priority tasks\n\n" + TABLES + "\n\n" + tables["Table 1"],
        "## Table 2: all tasks\n\n" + tables["Table 2"],
        "## Flexible tasks\n\n" + FLEXIBLE + "\n\n" + tables["Flexible tasks"],
        "## Readings\n\n" + READINGS + "\n\n" + tables["Readings"],
        "## The share of flexible tasks\n\n![The share of flexible tasks](deadline-share.svg)\n\n" + SHARE,
        "## The length of the deadline\n\n![The length of the deadline](deadline-length.svg)\n\n" + LENGTH,
        *(["## Deadlines of the calendar\n\n" + CALENDAR + "\n\n" + tables["Calendar"]] if dated else []),
        "## Who pays, who gains\n\n" + PAYS + "\n\n" + tables["Who pays"],
    ]
    return write_page(folder / NAME, parts)


def _abstract(logs: Sequence[Log]) -> str:
    named = ", ".join(f"{log.title} ({len(log.workload):,} jobs, {log.procs:,} processors)" for log in logs)
    return joined(f"""
        T. N'takpé and F. Suter, *Prise en compte de tâches non-prioritaires dans l'ordonnancement batch*,
        Compas 2016. One task in three is flexible: it only has a deadline, submission + max(24 h, twice its
        time) in case a and 72 h in case b, and makes room for the others (priority tasks) as long as it can.
        The paper compares its algorithm DBF with conservative backfilling (CBF). Logs: {named}. This page and
        its figures were written by `headway reproduce deadline`, which takes logs of your own with
        `--trace NAME=FILE`.
    """)


FIGURE_1 = joined("""
    *Figure 1 of the paper, as an instance that was simulated: jobs 1 and 3 are flexible, 2 and 4 have
    priority, and each takes the whole machine; job 1 has until hour 8. Job 2 goes before job 1, which can
    wait; job 4 comes too late for that, so job 1 is placed for good (it moves from the list of provisional
    tasks to that of definitive ones), and job 3 makes room for both.*
""")
VERDICTS = joined(f"""
    {RULE} Numbers of CBF are compared in percent, changes in percentage points.
""")
CALENDAR = joined("""
    The paper's users come back in the morning, or after the weekend. Changes of DBF against CBF where every
    third task is due at a time of the calendar (`deadlines(until=morning)` and so on, in the log's time zone)
    instead of a number of hours; exact times.
""")
TABLES = joined("""
    Waits in hours; the slowdown is the paper's, (wait + time) / time, over jobs whose time is not 0.
    Every third task in order of submission is flexible. The scheduler is given the exact run times. (a),
    (b): change of DBF against CBF over the same tasks, by the label they had on submission.
""")
FLEXIBLE = joined("""
    The paper shows priority tasks and all tasks. What happens to the flexible third follows from the two,
    since all = 2/3 priority + 1/3 flexible.
""")
READINGS = joined("""
    What the paper leaves open, one change at a time; priority tasks. With exact times no task ends early,
    so that nothing is ever compressed, and the ways of compression are compared with requested times.
    "Missed" counts tasks that ended after the latest end they were told. The simulator of the paper,
    Simbatch, refuses a hole exactly as long as a task and compresses from scratch. Exact times of a job that
    ran past its request: its whole run (`exact`, as in the tables), or killed at the request before
    (`exact(kills=before)`); on SDSC-DS, in
    an earlier run with that log, 1.43 h or 1.32 h for CBF (the paper: 1.40 h).
""")
SHARE = joined("""
    *Deadlines of case a; the flexible tasks are drawn with this probability. With all tasks flexible DBF
    still differs from CBF, because tasks late on arrival go before the others.*
""")
LENGTH = "*Every third task is flexible; deadlines are submission + max(length, twice the time).*"
PAYS = joined("""
    Every third task is flexible. Gain: hours that a priority task waits less than under CBF; loss: hours
    that a flexible task waits more. "Gain per loss" counts both over all tasks, two priority tasks to
    each flexible one: above 1 the mean wait of all falls.
""")
