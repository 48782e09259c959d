"""``what-if`` and ``replay``: a change over a log, and how near a simulation comes to its log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headway.cli import options
from headway.cli.application import command, this_command
from headway.cli.display import output, print_json, table_of
from headway.cli.options import Inputs, check_choices, parse_rules
from headway.cli.results import check_report
from headway.errors import UsageError
from headway.plain import counted
from headway.policies.spec import by_site_rules, parse_spec
from headway.writing import check_replaceable, refuse_existing, replacing

if TYPE_CHECKING:
    from rich.console import Console

    from headway.changes import Case
    from headway.replay import Fidelity
    from headway.schedule import Schedule
    from headway.what_if import Answer
    from headway.what_if.causes import Cause


@command("what-if", example="headway what-if log.swf.gz nodes=+10%")
def what_if(
    trace: Annotated[str, options.argument("SITE|LOG", "A site's folder, or a job log.")] = "",
    change: Annotated[
        list[str] | None, options.argument("CHANGE...", "Changes made together; --list shows them all.")
    ] = None,
    against: Annotated[
        list[str] | None,
        options.value("--against", "CHANGES", "Another variant: its changes, separated by blanks."),
    ] = None,
    variants: Annotated[
        Path | None, options.value("--variants", "FILE", "File with a variant in each line.")
    ] = None,
    policy: Annotated[
        str,
        options.value("--policy", "SPEC", f"Policy, by default slurm for a site, else easy: {options.SPEC}"),
    ] = "",
    seeds: options.Seeds = 3,
    procs: options.Procs = None,
    site: options.SiteFolder = None,
    rule: options.Rules = None,
    report: Annotated[
        Path | None, options.value("--report", "FILE", "Write a report for decision makers: .html.")
    ] = None,
    force: options.ReplaceFile = False,
    list_changes: Annotated[bool, options.flag("--list", "Show every change with an example.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show what a change of nodes, limits, policy or jobs would do.

    Simulates the same log with and without the change. The answer says which groups gain or lose, how
    much, and how certain that is: over weeks, over phases of the controller's clocks, and given how close the
    simulation comes to the log.
    """
    if list_changes:
        _list()
        return
    wanted = _variants(change, against, variants)
    if not trace or not wanted:
        raise UsageError("give a site or log and a change, as in nodes=+10%; --list shows every change")
    if report is not None:
        check_report(report, force)

    from headway.changes import Case, changed

    check_choices(procs, None, json, quiet, site)
    rules, sizes = parse_rules(rule), "--procs N or --site DIR"
    inputs = Inputs.read(trace, procs, None, None, rules, quiet=quiet, site=site, sizes=sizes)
    base = Case.of(inputs.workload, inputs.platform, policy)
    cases = {}
    for texts in wanted:
        case = base
        for text in texts:
            try:
                case = changed(case, text)
            except UsageError as error:
                of = "" if texts in _variants(change, against, None) else f"{variants}: "
                raise UsageError(f"{of}{error}") from None
        cases[" ".join(texts)] = case
    answers = _answers(inputs, base, cases, seeds)
    if report is not None:
        _report(answers, report)
    if json:
        print_json([found.describe() for found in answers])
    elif not quiet:
        from headway.cli.tables import ledger_table

        ledger_table(output(), answers[0].base.workload.ledger)
        for place, found in enumerate(answers):
            if place:
                output().print()
            _show(output(), found)
        _care(output(), answers[0])
        if report is not None:
            output().print(f"\nwritten to {report}")


def _variants(change: list[str] | None, against: list[str] | None, file: Path | None) -> list[list[str]]:
    from headway.changes import changes_of

    found = [list(change)] if change else []
    found += [changes_of(text) for text in against or ()]
    if file is not None:
        from headway.documents import read_text

        lines = read_text(file, "text with a variant in each line").splitlines()
        found += [changes_of(line) for line in lines if line.strip() and not line.startswith("#")]
        if not any(found):
            raise UsageError(f"{file} holds no variant; write one in each line, such as nodes=+10%")
    return [words for words in found if words]


def _answers(inputs: Inputs, base: Case, cases: dict[str, Case], seeds: int) -> list[Answer]:
    """Base and variants, each under its seeds, as many runs at a time as there are cores."""
    from headway.what_if import answer, with_seeds
    from headway.what_if.answer import simulate_each

    runs = [with_seeds(case, seeds) for case in (base, *cases.values())]
    count = sum(map(len, runs))
    with inputs.display.working(counted(count, "run")) as progress:
        before, *others = simulate_each(runs, progress, inputs.display.say)
    for schedule in (one for run in (before, *others) for one in run):
        schedule.provenance.pop("timing", None)  # the same question gives the same report, byte for byte
    for schedule in before[:1]:
        schedule.provenance["command"] = this_command()
    return [answer(name, before, after) for name, after in zip(cases, others, strict=True)]


def _report(answers: list[Answer], file: Path) -> None:
    from headway.report.answers import what_if_page
    from headway.report.page import write

    write(what_if_page(answers, this_command()), file)


def _show(console: Console, found: Answer) -> None:
    from rich.text import Text

    from headway.what_if.answer import SURE
    from headway.what_if.sentences import findings

    console.print(found.name, style="bold")
    for sentence in findings(found):
        console.print(sentence)
    waits = (">wait now (s)", ">with the change (s)", ">difference (s)")
    table = table_of("", "", ">jobs", *waits, ">between", ">clear")
    for one in found.classes:
        bounds = "-" if one.bounds is None else " and ".join(f"{round(bound):+,}" for bound in one.bounds)
        waits = (f"{one.base:,.0f}", f"{one.value:,.0f}", f"{round(one.difference):+,}")
        cells = (f"{one.jobs:,}", *waits, bounds)
        table.add_row(one.kind, Text(one.name), *cells, SURE[one.sure])
    console.print()
    console.print(table)


def _care(console: Console, found: Answer) -> None:
    """What holds for every answer of the same base."""
    from headway.what_if.sentences import cautions

    console.print()
    for sentence in cautions(found):
        console.print(sentence)


def _list() -> None:
    from headway.changes import CHANGES

    table = table_of("~change, as an example", "~what it does", "~for")
    for example, what, whom in CHANGES:
        table.add_row(example, what, {"both": "a site or any log", "site": "a site"}[whom])
    output().print(table)


FEW = 20_000
"""Jobs of a log up to which the causes are sought without being asked for: it takes a run for each rule."""


@command("replay", example="headway replay log.swf.gz --policy easy")
def replay(
    trace: options.Trace,
    policy: Annotated[
        str,
        options.value("--policy", "SPEC", f"Policy, by default slurm for a site, else easy: {options.SPEC}"),
    ] = "",
    seeds: options.Seeds = 5,
    causes: Annotated[
        bool | None,
        typer.Option(
            "--causes/--no-causes",
            help=f"Switch rules off one by one; by default up to {FEW:,} jobs.",
            show_default=False,
        ),
    ] = None,
    procs: options.Procs = None,
    platform: options.PlatformFile = None,
    site: options.SiteFolder = None,
    annotations: options.Annotations = None,
    rule: options.Rules = None,
    seed: options.Seed = 0,
    out: Annotated[
        Path | None, options.value("--out", "FILE", "Write everything into this JSON file.")
    ] = None,
    report: Annotated[Path | None, options.value("--report", "FILE", "Write a report: .html.")] = None,
    force: options.ReplaceFile = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare simulated waits with those that the log recorded.

    Prints the mean absolute error, and tables by size, partition, account, QOS, queue, user and week. A site
    runs by Slurm's own rules, under several phases of its controller's clocks. Rules are switched off one by
    one to show where the remaining error comes from. The last sentence says whether to trust the simulation,
    and for what.
    """

    check_choices(procs, platform, json, quiet, site)
    rules = parse_rules(rule)
    if policy:
        parse_spec(policy)  # complain before the log is read
    if out is not None:
        refuse_existing(out, force)
        check_replaceable(out)
    if report is not None:
        check_report(report, force)

    from headway.changes import Case
    from headway.replay import recorded_waits

    inputs = Inputs.read(trace, procs, platform, annotations, rules, quiet=quiet, site=site)
    recorded_waits(inputs.workload)  # complain before a long run, not after it
    base = Case.of(inputs.workload, inputs.platform, policy)
    wanted = len(inputs.workload) <= FEW if causes is None else causes
    found, ranked, first = _score(inputs, base, seeds, seed, wanted)
    left_out = first.workload.ledger
    document = found.describe() | {"causes": [one.describe() for one in ranked]} | {"ledger": left_out.rows()}
    if report is not None:
        from headway.report.answers import replay_page
        from headway.report.page import write

        write(replay_page(found, ranked, first, this_command()), report)
    if out is not None:
        from headway.schedule.files import write_json

        with replacing(out) as draft:
            write_json(draft, document)
    if json:
        print_json(document)
    elif not quiet:
        from headway.cli.tables import ledger_table, not_modelled_table

        console = output()
        ledger_table(console, left_out)
        not_modelled_table(console, inputs.workload.source, by_site_rules(found.policy))
        show(console, found, ranked)
        if not wanted:
            jobs = len(inputs.workload)
            hint = f"\nWith {jobs:,} jobs, causes of the error are looked for only with --causes."
            console.print(hint if causes is None else "", style="dim")
        console.print(f"\n{found.verdict}", style="bold")
        if written := [str(place) for place in (out, report) if place is not None]:
            console.print(f"\nwritten to {' and '.join(written)}")


def _score(
    inputs: Inputs, base: Case, seeds: int, seed: int, wanted: bool
) -> tuple[Fidelity, list[Cause], Schedule]:
    """The fidelity of the base over its seeds, the causes where they are wanted, and the first run."""
    from headway.replay import fidelity
    from headway.what_if.answer import simulate_each, with_seeds
    from headway.what_if.causes import causes, possible, rules_off

    variants = possible(rules_off(base)) if wanted else {}
    runs = [with_seeds(case, seeds) for case in (base, *variants.values())]
    count = sum(map(len, runs))
    what = f"{base.policy}, {count} runs" if count > 1 else base.policy
    with inputs.display.working(what) as progress:
        schedules = simulate_each(runs, progress, inputs.display.say, seed)
    found, *others = (fidelity(*run) for run in schedules)
    ranked = causes(found, dict(zip(variants, others, strict=True)))
    return found, ranked, schedules[0][0]


SHOWN = 12
"""Lines of a table that are printed; the JSON document has them all."""


def show(console: Console, found: Fidelity, ranked: Sequence[Cause]) -> None:
    """The score, the tables, why waits may differ, and the causes of what is left."""
    from headway.cli.tables import in_words, number
    from headway.replay.sentences import score

    words = f" ({in_words(found.error)})" if in_words(found.error) else ""
    share = "" if found.relative is None else f", {found.relative:.0%} of the mean recorded wait"
    console.print(f"mean absolute error {number(found.error)} s{words}{share}", style="bold")
    seeds = f" under {len(found.seeds)} phases of the clocks" if len(found.seeds) > 1 else ""
    console.print(f"{found.policy}, {counted(found.overall['jobs'], 'job')} compared{seeds}")
    for line in score(found):
        console.print(line)
    console.print(
        "\nMean waits and their error, how far median and p90 of the waits are off, and the starts within a "
        "minute and ten of the recorded ones\n",
        style="dim",
    )
    band = len(found.seeds) > 1
    _table(console, "all", [found.overall | {"all": "all jobs"}], band)
    tables = {"size": found.by_size, **found.by_division, "user": found.by_user, "week": found.by_week}
    for key, rows in tables.items():
        console.print()
        _table(console, key, rows, band)
    console.print("\nWhy they may differ", style="bold")
    for reason in found.reasons:
        console.print(f"- {reason}")
    if ranked:
        _causes(console, found, ranked)


def _table(console: Console, key: str, rows: list[dict[str, Any]], band: bool) -> None:
    from headway.cli.tables import number

    means = (">jobs", ">recorded (s)", ">simulated (s)", *([">least - most"] if band else []))
    errors = (">abs. error (s)", ">median (s)", ">p90 (s)", "><= 1 min", "><= 10 min")
    table = table_of("" if key == "all" else key, *means, *errors)
    for row in rows[:SHOWN]:
        spread = [f"{number(row['least_simulated'])} - {number(row['most_simulated'])}"] if band else []
        table.add_row(
            "-" if row[key] is None else str(row[key]),
            *(number(row[column]) for column in ("jobs", "mean_recorded", "mean_simulated")),
            *spread,
            *(number(row[column]) for column in ("mean_absolute_error", "p50_error", "p90_error")),
            *("-" if row[share] is None else f"{row[share]:.0%}" for share in ("within_60", "within_600")),
        )
    console.print(table)
    if len(rows) > SHOWN:
        console.print(f"and {len(rows) - SHOWN:,} more (--json lists all)", style="dim")


def _causes(console: Console, found: Fidelity, ranked: Sequence[Cause]) -> None:
    from headway.what_if.causes import told

    console.print("\nWhere the remaining error comes from: each rule switched off in turn", style="bold")
    table = table_of("without", ">mean wait (s)", ">abs. error (s)", ">change (s)", "><= 10 min", "")
    for one in ranked:
        sure = "" if one.spread is None else f" +- {one.spread:,.0f}"
        change = f"{one.change:+,.0f}{sure}"
        cells = (f"{one.mean_wait:,.0f}", f"{one.error:,.0f}", change, f"{one.minutes:.0%}")
        table.add_row(one.rule, *cells, one.verdict)
    console.print(table)
    for sentence in told(found, ranked):
        console.print(f"- {sentence}")
