"""``headway when``: when a job will start, as chances, and what would help."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from headway.cli import options
from headway.cli.display import output, print_json, table_of
from headway.cli.frame import command
from headway.cli.inputs import check_choices
from headway.cli.outlooks import live_outlook, outlook_of, past_of, policy_of
from headway.errors import UsageError
from headway.plain import counted
from headway.units import LONGEST, NEVER, SECOND, date_text, duration, microseconds, seconds_text

if TYPE_CHECKING:
    from headway.forecast import Record
    from headway.forecast.answer import Answer, Effect, Question, Told

SHOWN = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95)
"""Chances that are printed; the JSON document has all."""


@command("when", example="headway when log.swf.gz --job-procs 512 --walltime 6h")
def when(
    trace: options.Trace,
    procs: Annotated[
        int | None,
        options.number(
            "--job-procs", "N", "Processors of the job; --procs is the old name.", 1, old="--procs"
        ),
    ] = None,
    walltime: Annotated[
        str, options.value("--walltime", "TIME", "Walltime of the job: 90, 10m, 6h or 2d.")
    ] = "",
    job: Annotated[
        int | None,
        options.number("--job", "N", "A job of the log instead of a new one.", 0),
    ] = None,
    at: Annotated[
        str,
        options.value(
            "--at",
            "TIME",
            "Instant: seconds on the log's clock, or a date such as 1998-05-04T12:00 (UTC); by default "
            "when the log was taken, where jobs still ran or waited, else its last submission, or the job's.",
        ),
    ] = "",
    user: Annotated[str, options.value("--user", "NAME", "Who submits the job.")] = "",
    partition: Annotated[str, options.value("--partition", "P", "The partition it is submitted to.")] = "",
    within: Annotated[
        str, options.value("--within", "TIME", "Give the chance of a start within this time.")
    ] = "1h",
    policy: options.PolicyInForce = "",
    simulated: options.Simulated = False,
    draws: options.Draws = 200,
    teachers: Annotated[
        int | None,
        options.number(
            "--teachers",
            "N",
            "Past forecasts that teach the correction; by default 60, with --simulated none.",
            0,
            2000,
        ),
    ] = None,
    alone: Annotated[bool, options.flag("--alone", "Leave out what would help.")] = False,
    machine: Annotated[
        int | None,
        options.number(
            "--machine", "N", "Processors of the machine; by default those in the log's header.", 1, 2**31 - 1
        ),
    ] = None,
    live: Annotated[
        Path | None,
        options.value(
            "--live",
            "GRID.toml",
            "Begin with the present queue of a Slurm cluster of this grid; the log is its past.",
        ),
    ] = None,
    cluster: Annotated[
        str, options.value("--cluster", "NAME", "Which cluster of the grid, with --live.")
    ] = "",
    site: options.SiteFolder = None,
    rule: options.Rules = None,
    seed: options.Seed = 0,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show when a job will start, as chances.

    The chances come from some hundred simulated futures. They know only what was known at the instant: who
    runs and waits, how long jobs ran that have ended, how many came at such hours. The policy in force
    continues from there. The errors of past forecasts correct the answer.
    """
    check_choices(machine, None, json, quiet, site)
    if (job is None) == (procs is None) or (job is None) == (not walltime):
        raise UsageError("give either --job-procs and --walltime of a new job, or --job of the log")
    asked = None if procs is None else (procs, options.microseconds_of(walltime, "--walltime"))
    if asked is not None and not asked[1]:
        raise UsageError("--walltime must be above 0")
    chances = options.microseconds_of(within, "--within")
    if (live is None) != (not cluster):
        raise UsageError("--live GRID.toml and --cluster NAME belong together: a cluster of that grid")

    inputs = past_of(trace, machine, site, rule, simulated, sizes="--machine N", quiet=quiet or json)
    spec = policy or policy_of(inputs)
    if live is None:
        outlook = outlook_of(inputs, spec, simulated)
    else:
        if job is not None or at or simulated:
            raise UsageError("--live asks about a new job and now: leave out --job, --at and --simulated")
        outlook, at = live_outlook(inputs, spec, live, cluster, procs or 0)
    now, question = _question(outlook.record, asked, job, at, {"user": user, "partition": partition})
    if live is None:
        _check_instant(outlook.record, now)

    from headway.forecast.answer import TEACHERS, alternatives, answer

    if teachers is None:
        teachers = 0 if simulated else TEACHERS
    others = [] if alone or job is not None else alternatives(question, _partitions(outlook.record, question))
    with inputs.display.working(f"forecasting under {spec}") as progress:
        found = answer(
            outlook,
            now,
            question,
            draws=draws,
            seed=seed,
            teachers=teachers,
            others=others,
            progress=progress,
        )
    ledger = (outlook.record if live is None else inputs).workload.ledger
    if json:
        told = described(outlook.record, found, chances, str(outlook.forward.policy.spec))
        print_json(told | {"ledger": ledger.rows()})
    elif not quiet:
        from headway.cli.tables import ledger_table

        if any(word.partition("=")[0] == "--procs" for word in sys.argv):
            inputs.display.say("--procs is the job's here and the machine's elsewhere; write --job-procs")
        ledger_table(output(), ledger)
        _show(outlook.record, found, chances, str(outlook.forward.policy.spec.brief))


def _question(
    record: Record, asked: tuple[int, int] | None, job: int | None, at: str, names: dict[str, str]
) -> tuple[int, Question]:
    """The instant and the job."""
    from headway.forecast.answer import Question

    if asked is None:
        assert job is not None
        row = record.row_of(job)
        work = record.workload
        waits_on = record.is_open and record.start[row] == record.end[row] == NEVER
        now = _instant(record, at) if at else record.last if waits_on else int(work.submit[row])
        return now, Question(int(work.procs[row]), int(work.walltime[row]), row=row)
    codes = {column: record.code(column, name) for column, name in names.items() if name}
    if "partition" not in codes:
        codes |= _default_partition(record)
    if "user" in codes:
        codes |= _as_before(record, codes["user"], set(codes))
    latest = record.last if record.is_open else int(record.submits[-1])
    now = _instant(record, at) if at else latest
    return now, Question(*asked, codes)


def _default_partition(record: Record) -> dict[str, int]:
    """Where a site puts a job that asks for no partition."""
    site = record.platform.site
    default = None if site is None else site.default_partition
    if default is None or default.name not in record.workload.labels.get("partition", []):
        return {}
    return {"partition": record.code("partition", default.name)}


def _as_before(record: Record, user: int, given: set[str]) -> dict[str, int]:
    """Account, group and QOS as in the user's last job."""
    import numpy as np

    rows = np.flatnonzero(record.column("user") == user)
    names = [name for name in ("account", "group", "qos", "partition") if name in record.workload]
    return {name: int(record.column(name)[rows[-1]]) for name in names if name not in given and len(rows)}


def _clock(record: Record, t: int) -> str:
    """An instant as a date, or in seconds where the log does not say when it begins."""
    whole, begin = t - t % 1_000_000, record.workload.header.unix_start
    return f"{seconds_text(whole)} s" if begin is None else date_text(whole, begin)


def _check_instant(record: Record, now: int) -> None:
    """Refuse an instant of which the log knows nothing: an empty machine would be taken for granted."""
    first, last = int(record.submits[0]), record.last
    if not first <= now <= last:
        where = "before the log begins" if now < first else "after the log ends"
        raise UsageError(
            f"--at is {where}: it knows what ran and waited from {_clock(record, first)} to "
            f"{_clock(record, last)}"
        )


def _instant(record: Record, text: str) -> int:
    """µs on the log's clock of seconds or a date."""
    begin = record.workload.header.unix_start
    try:
        found = microseconds(text)
    except ValueError:
        pass
    else:
        if abs(found) > LONGEST:
            raise UsageError(f"--at is beyond the range of times: {text[:40]}")
        return found
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--at must be seconds or a date such as 1998-05-04T12:00, not {text!r}") from None
    if begin is None:
        raise UsageError("the log does not say when its clock was 0 (UnixStartTime); give --at in seconds")
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return round((date.timestamp() - begin) * SECOND)


def _partitions(record: Record, question: Question) -> list[tuple[str, int]]:
    """Other partitions of a site, by name and code."""
    labels = record.workload.labels.get("partition", [])
    if record.platform.site is None:
        return []
    known = {partition.name for partition in record.platform.site.partitions}
    mine = question.codes.get("partition")
    return [(name, code) for code, name in enumerate(labels) if name in known and code != mine][:4]


def described(record: Record, found: Answer, within: int, policy: str) -> dict[str, Any]:
    """Everything as plain data; times in seconds."""
    from headway.forecast import LEVELS
    from headway.forecast.forecast import quantile

    def one(told: Told) -> dict[str, Any]:
        of, plan = told.forecast, told.forecast.plan
        return {
            "name": told.name,
            "procs": told.question.procs,
            "walltime": told.question.walltime / SECOND,
            "submit": of.submit / SECOND,
            "since": of.since / SECOND,
            "chance": told.chance(within),
            "plan_wait": None if plan == NEVER else (plan - of.since) / SECOND,
            "levels": LEVELS.tolist(),
            "wait": (told.quantiles / SECOND).tolist(),
            "simulated_wait": (of.at_levels() / SECOND).tolist(),
            "end": [told.end(level) / SECOND for level in LEVELS],
        }

    def effect(other: Effect) -> dict[str, Any]:
        of = other.forecast
        return {
            "name": other.name,
            "procs": other.question.procs,
            "walltime": other.question.walltime / SECOND,
            "submit": of.submit / SECOND,
            "levels": LEVELS.tolist(),
            "simulated_wait": (of.at_levels() / SECOND).tolist(),
            "starts_later": [quantile(other.starts, level) / SECOND for level in LEVELS],
            "waits_longer": [quantile(other.waits, level) / SECOND for level in LEVELS],
        }

    main = found.main.forecast
    return {
        "log": record.workload.source.name,
        "policy": policy,
        "at": main.now / SECOND,
        "running": main.running,
        "waiting": main.waiting,
        "within": within / SECOND,
        "draws": len(main.starts),
        "teachers": found.taught,
        "job": one(found.main),
        "history_weight": found.history,
        "what_would_help": [effect(other) for other in found.others],
        "never": found.never,
    }


def _show(record: Record, found: Answer, within: int, policy: str) -> None:
    console, main = output(), found.main
    of, clock = main.forecast, partial(_clock, record)

    def wait(us: int) -> str:
        return "at once" if us <= 0 else duration(us - us % 1_000_000)

    if found.history >= 0.5:
        alone = "history alone" if found.history == 1 else "mostly history"
        console.print(
            f"This answer is {alone} (weight {found.history:.0%}): what like jobs waited foretold the last "
            f"{counted(found.taught, 'job')} better than the simulated queue did",
            style="bold",
        )
    console.print(
        f"{counted(main.question.procs, 'processor')} for {duration(main.question.walltime)} under {policy}, "
        f"asked at {clock(of.now)}: {counted(of.running, 'job')} running, {of.waiting:,} waiting\n"
    )
    table = table_of(">chance", ">starts within", ">start by", ">end by")
    for level in SHOWN:
        us = main.wait(level)
        table.add_row(f"{level:.0%}", wait(us), clock(of.since + us), clock(main.end(level)))
    console.print(table)
    plan = "it plans none" if of.plan == NEVER else wait(of.plan - of.since)
    console.print(
        f"\nchance to start within {duration(within)}: {share(main, within)}; the policy's own plan, "
        f"by requested times: {plan}",
        style="bold",
    )
    said = (
        f"corrected by {counted(found.taught, 'past forecast')}; history weighs {found.history:.0%}"
        if found.taught
        else "not corrected by past forecasts"
    )
    console.print(f"{counted(len(of.starts), 'draw')}, {said}", style="dim")
    if found.others:
        console.print("\nWhat would help", style="bold")
        _others(console, found, wait)
    for name in found.never:
        console.print(f"{name}: such a job could never start there")


def share(of: Told, within: int) -> str:
    """The chance to start within so long (µs), for people."""
    return chance_text(of.chance(within), len(of.forecast.starts))


def chance_text(chance: float, draws: int) -> str:
    """A chance that so many draws tell, no nearer to certainty than they can.

    >>> chance_text(0.0, 200), chance_text(0.7, 200), chance_text(1.0, 200), chance_text(1.0, 20)
    ('under 5%', '70%', 'over 99%', 'over 95%')
    """
    most = min(99, int(100 - 100 / draws))
    return "under 5%" if chance < 0.05 else f"over {most}%" if chance >= 0.99 else f"{chance:.0%}"


def _others(console: Any, found: Answer, wait: Any) -> None:
    """Differences in the simulation, on the same draws."""
    from headway.forecast.forecast import quantile

    def by(us: int, less: str, more: str) -> str:
        return "no difference" if abs(us) < SECOND else f"{wait(abs(us))} {less if us < 0 else more}"

    table = table_of("change", ">starts", ">in 9 of 10 futures between", ">waits")
    for one in found.others:
        low, middle, high = (
            by(quantile(one.starts, level), "earlier", "later") for level in (0.05, 0.5, 0.95)
        )
        waits = by(quantile(one.waits, 0.5), "less", "more")
        table.add_row(one.name, middle, low if low == high else f"{low} and {high}", waits)
    console.print(table)
    console.print("by the simulation alone, in the same futures with and without the change", style="dim")
