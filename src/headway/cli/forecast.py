"""``when`` and ``forecast check``: when a job will start, and whether such forecasts hold."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from headway.cli import options
from headway.cli.application import command, group
from headway.cli.display import output, print_json, table_of
from headway.cli.options import Inputs, check_choices, parse_rules
from headway.errors import UsageError
from headway.plain import counted
from headway.policies.spec import parse_spec
from headway.units import LONGEST, NEVER, SECOND, date_text, duration, microseconds, seconds_text
from headway.writing import replacing

if TYPE_CHECKING:
    from rich.console import Console

    from headway.forecast import Outlook, Record
    from headway.forecast.answer import Answer, Effect, Question, Told
    from headway.platform import Platform
    from headway.workload import Workload

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
        int | None, options.number("--job", "N", "A job of the log instead of a new one.", 0)
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
            "Past forecasts used for the correction; by default 60, with --simulated none.",
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
    """Show when a job will start, with its chances.

    The chances come from some hundred simulated futures. They use only what was known then: running and
    waiting jobs, past run times, and how many jobs arrive at such hours. The errors of past forecasts correct
    the answer.
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
            "draws": len(of.starts),
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
            f"This answer is {alone} (weight {found.history:.0%}): the waits of similar jobs "
            f"predicted the last "
            f"{counted(found.taught, 'job')} better than the simulated queue did",
            style="bold",
        )
    console.print(
        f"{counted(main.question.procs, 'processor')} for {duration(main.question.walltime)} under {policy}, "
        f"asked at {clock(of.now)}: {counted(of.running, 'job')} running, {of.waiting:,} waiting"
    )
    console.print(f"{_odds(main.wait(0.5), main.wait(0.9), wait)}\n", style="bold")
    table = table_of(">chance", ">starts within", ">start by", ">end by")
    for level in SHOWN:
        us = main.wait(level)
        table.add_row(f"{level:.0%}", wait(us), clock(of.since + us), clock(main.end(level)))
    console.print(table)
    plan = "none" if of.plan == NEVER else wait(of.plan - of.since)
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


def _odds(half: int, most: int, wait: Callable[[int], str]) -> str:
    """When the job starts with a chance of a half and of nine in ten (µs), in a sentence."""
    if most <= 0:
        return "It should start at once."
    first = "start at once" if half <= 0 else f"have started within {wait(half)}"
    return f"With a chance of 50% it will {first}, with 90% within {wait(most)}."


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


def past_of(
    trace: str,
    procs: int | None,
    site: Path | None,
    rule: list[str] | None,
    simulated: bool,
    *,
    sizes: str,
    quiet: bool,
) -> Inputs:
    """The log that forecasts are made from: who still ran or waited when it was taken does so in them."""

    rules, defaults = parse_rules(rule), {} if simulated else {"unfinished": "open"}
    sizes = f"{sizes} or --site DIR"
    return Inputs.read(
        trace, procs, None, None, rules, quiet=quiet, site=site, sizes=sizes, defaults=defaults
    )


def policy_of(inputs: Inputs) -> str:
    """The policy that is taken to be in force where none is named."""
    return "easy" if inputs.platform.site is None else "slurm(seed=1)"


def outlook_of(inputs: Inputs, policy: str, simulated: bool) -> Outlook:
    """What happened, as the log recorded it or as the policy would have had it, and the policy."""
    from headway.forecast import Outlook, Record

    spec = parse_spec(policy)
    if simulated:
        record = Record.of(inputs.run(spec, 0))
    else:
        record = Record.recorded(with_partitions(inputs.workload, inputs.platform), inputs.platform)
    return Outlook(record, spec)


def with_partitions(workload: Workload, platform: Platform) -> Workload:
    """The same jobs, with codes for the partitions of a site that none of them asked for."""
    if platform.site is None or "partition" not in workload.labels:
        return workload
    labels = list(workload.labels["partition"])
    names = (partition.name for partition in platform.site.partitions)
    return workload.with_labels(partition=[*labels, *(name for name in names if name not in labels)])


def live_outlook(inputs: Inputs, policy: str, grid: Path, cluster: str, asked: int) -> tuple[Outlook, str]:
    """The present queue of a cluster behind the log, and now in seconds on the log's clock.

    Without a site's nodes the machine is as many processors as there are on nodes that are up. Nobody knows
    when the others come back, nor so when those may start who wait for them. A site has its nodes and
    partitions in the states of now.
    """
    from headway.forecast import Outlook, Record, present
    from headway.live.grid_file import load_grid
    from headway.live.queue_now import queue_now, room_now, site_now
    from headway.platform import Platform

    of = load_grid(grid)
    site = of.site(cluster)
    if site.kind != "slurm":
        raise UsageError(f"{cluster} is a {site.kind} cluster; --live looks at Slurm")
    jobs, now = queue_now(of, site)
    past = Record.recorded(with_partitions(inputs.workload, inputs.platform), inputs.platform)
    machine = inputs.platform
    if machine.site:
        last = min(past.last // SECOND + (past.workload.header.unix_start or 0), now // SECOND)
        machine = replace(machine, site=site_now(of, site, machine.site, last))
    else:
        room = room_now(of, site, jobs)
        if room < asked:
            have = f"{cluster} has {counted(room, 'processor')} on nodes that are up"
            raise UsageError(
                f"{have}; a job of {asked} must wait for others, and it is not known when they come back"
            )
        machine = Platform.procs(room)
        jobs = [job for job in jobs if job.start is not None or job.procs <= room]
    record, at = present(jobs, now, machine, past)
    return Outlook(record, policy), seconds_text(at)


forecast = group("forecast", "Judge forecasts of starts; headway when makes one.")


@command("check", example="headway forecast check log.swf.gz --jobs 200", of=forecast)
def check(
    trace: options.Trace,
    policy: options.PolicyInForce = "",
    simulated: options.Simulated = False,
    jobs: Annotated[int, options.number("--jobs", "N", "Number of jobs to judge.", 10)] = 400,
    draws: options.Draws = 100,
    procs: options.Procs = None,
    site: options.SiteFolder = None,
    rule: options.Rules = None,
    seed: options.Seed = 0,
    out: Annotated[
        Path | None,
        options.value("--out", "DIR", "Write scores, the sample and the figures into this folder."),
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Check forecasts of starts against what a log recorded.

    Walks through the log and forecasts a sample of its jobs at their submission. Shows how often the 50 % and
    90 % intervals held, pinball loss and errors of the median, next to those of the policy's own plan, of the
    recent median wait of similar jobs, and of QBETS.
    """
    from headway.schedule.files import refuse_occupied

    check_choices(procs, None, json, quiet, site)
    if out is not None:
        refuse_occupied(out, force)

    from headway.forecast.advice import JOBS, advice
    from headway.forecast.check import check as checked

    inputs = past_of(trace, procs, site, rule, simulated, sizes="--procs N", quiet=quiet or json)
    spec = policy or policy_of(inputs)
    outlook = outlook_of(inputs, spec, simulated)
    with inputs.display.working("forecasting") as progress:
        sample = checked(outlook.record, spec, jobs, draws, seed, progress)
    with inputs.display.working("checking advice against simulated truth") as progress:
        advised = advice(outlook.record, spec, min(jobs, JOBS), min(draws, JOBS), seed, progress)
    document = {
        "log": inputs.workload.source.name,
        "policy": str(outlook.forward.policy.spec),
        "truth": "simulated" if simulated else "recorded",
        "draws": draws,
        "seed": seed,
        "ledger": outlook.record.workload.ledger.rows(),
        "advice": [one.describe() for one in advised],
    } | report(sample)
    if out is not None:
        write(out, document, sample)
    if json:
        print_json(document)
    elif not quiet:
        from headway.cli.tables import ledger_table

        console = output()
        ledger_table(console, outlook.record.workload.ledger)
        _show_check(console, document)
        if out is not None:
            console.print(f"\nwritten to {out}")


def report(sample: Any) -> dict[str, Any]:
    """Scores of all jobs, of those with something to forecast, and errors by lead time."""
    from headway.forecast.figures import by_lead
    from headway.forecast.scores import scores, unsure

    return {"all": scores(sample), "unsure": scores(unsure(sample)), "by_lead": by_lead(sample)}


def write(folder: Path, document: dict[str, Any], sample: Any) -> None:
    """The scores as JSON, the sample as CSV, three figures."""
    from headway.figures.style import save
    from headway.forecast.figures import FIGURES
    from headway.forecast.levels import LEVELS
    from headway.schedule.files import write_json
    from headway.units import NEVER, seconds_text

    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "forecast.json", document)
    one = ("job", "submit", "procs", "wait", "plan", "recent", "bound", "waiting")
    with replacing(folder / "sample.csv") as draft, open(draft, "w", encoding="utf-8") as file:
        levels = [f"{kind}_{level:g}" for kind in ("simulated", "corrected") for level in LEVELS]
        file.write(",".join((*one, *levels)) + "\n")
        for row in range(len(sample.job)):
            cells = [
                str(value)
                if name in ("job", "procs", "waiting")
                else ""
                if value >= NEVER
                else seconds_text(value)
                for name, value in ((name, int(getattr(sample, name)[row])) for name in one)
            ]
            cells += [seconds_text(int(us)) for us in (*sample.simulated[row], *sample.corrected[row])]
            file.write(",".join(cells) + "\n")
    for name, draw in FIGURES.items():
        save(draw(sample), folder / f"{name}.svg")


def _show_check(console: Console, document: dict[str, Any]) -> None:
    from headway.metrics.comparison import brief

    told = "simulated under it" if document["truth"] == "simulated" else "as the log recorded them"
    policy = brief(document["policy"])
    console.print(f"{policy}; waits {told}; {counted(document['draws'], 'draw')}\n")
    for key, title in (("all", "All judged jobs"), ("unsure", "Jobs whose start at once was not certain")):
        scores = document[key]
        console.print(f"{title}: {scores['jobs']:,}", style="bold")
        if scores["jobs"]:
            _scores(console, scores)
        console.print()
    _leads(console, document["by_lead"])
    _advice(console, document["advice"])


def _scores(console: Console, scores: dict[str, Any]) -> None:
    from headway.cli.tables import number

    columns = (
        ("coverage_50", "in 50% interval"), ("coverage_90", "in 90% interval"),
        ("shared_coverage_90", "ties shared"), ("median_width_90", "median 90% width (s)"),
        ("pinball", "pinball loss (s)"),
        ("median_error", "median error (s)"), ("mean_error", "mean error (s)"),
    )  # fmt: skip
    table = table_of("", *(f"~>{title}" for _, title in columns))
    for key, name in (
        ("corrected", "forecast"), ("simulated", "not corrected"), ("plan", "policy's own plan"),
        ("recent", "recent median wait"),
    ):  # fmt: skip
        cells = []
        for column, _ in columns:
            value = scores[key].get(column)
            is_share = "coverage" in column and value is not None
            cells.append(f"{value:.1%}" if is_share else number(value))
        table.add_row(name, *cells)
    console.print(table)
    bound = scores["qbets"]
    if bound is None:
        console.print("QBETS has no bound yet: it needs 59 waits of a size")
        return
    console.print(
        f"QBETS' 95% bounds held for {bound['coverage']:.1%}, mean {number(bound['mean_bound'])} s, median "
        f"{number(bound['median_bound'])} s; ours that held as often ({bound['our_coverage']:.1%}): mean "
        f"{number(bound['our_mean_bound'])} s, median {number(bound['our_median_bound'])} s"
    )


def _leads(console: Console, rows: list[dict[str, Any]]) -> None:
    from headway.cli.tables import number

    console.print("Median error by the forecast median wait", style="bold")
    errors = (">forecast error (s)", ">plan's error (s)", ">recent median's error (s)")
    table = table_of("forecast wait", ">jobs", *errors)
    for row in rows:
        told = (number(row[name]) for name in ("forecast", "plan", "recent"))
        table.add_row(row["lead"], f"{row['jobs']:,}", *told)
    console.print(table)


def _advice(console: Console, rows: list[dict[str, Any]]) -> None:
    """How often the sign of a change's effect is right, of jobs that waited."""
    console.print("\nWould a change help? The predicted sign against simulated truth", style="bold")
    table = table_of(
        "change",
        ">jobs",
        ">truly helps",
        ">truly harms",
        ">sign right",
        ">advised, harms",
        ">by like jobs: right",
    )
    for row in rows:
        told, history = row["simulated"], row["history"]
        harms = f"{told['advised_harms']} of {told['advised']}"
        counts = (f"{row['jobs']:,}", f"{row['better']:,}", f"{row['worse']:,}")
        table.add_row(row["change"], *counts, f"{told['right']:.0%}", harms, f"{history['right']:.0%}")
    console.print(table)
