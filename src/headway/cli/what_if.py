"""``headway what-if``: a change of the site, the machine, the policy or the jobs, over the same log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from headway.cli import options
from headway.cli.display import output, print_json, table_of
from headway.cli.frame import command, this_command
from headway.cli.report import check_report
from headway.errors import UsageError
from headway.plain import counted

if TYPE_CHECKING:
    from rich.console import Console

    from headway.changes import Case
    from headway.cli.runs import Inputs
    from headway.what_if import Answer


@command("what-if", example="headway what-if log.swf.gz nodes=+10%")
def what_if(
    trace: Annotated[str, options.argument("SITE|LOG", "A site's folder, or a job log.")] = "",
    change: Annotated[
        list[str] | None,
        options.argument("CHANGE...", "Changes made together; --list shows them all."),
    ] = None,
    against: Annotated[
        list[str] | None,
        options.value("--against", "CHANGES", "Another variant: its changes between blanks."),
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
        Path | None,
        options.value("--report", "FILE", "Write a report for decision makers: .html."),
    ] = None,
    force: options.ReplaceFile = False,
    list_changes: Annotated[bool, options.flag("--list", "Show every change with an example.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show what a change of nodes, limits, policy or jobs would do.

    Base and variants run over the same log. Says who gains and who loses by how much, and how sure that is:
    over weeks, over phases of the controller's clocks, and by how close the base comes to the log.
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
    from headway.cli.inputs import check_choices, parse_rules
    from headway.cli.runs import Inputs

    check_choices(procs, None, json, quiet, site)
    rules, sizes = parse_rules(rule), "--procs N or --site DIR"
    inputs = Inputs.read(trace, procs, None, None, rules, quiet=quiet, site=site, sizes=sizes)
    base = Case.of(inputs.workload, inputs.platform, policy)
    cases = {}
    for texts in wanted:
        case = base
        for text in texts:
            case = changed(case, text)
        cases[" ".join(texts)] = case
    answers = _answers(inputs, base, cases, seeds)
    if report is not None:
        _report(answers, report)
    if json:
        print_json([found.describe() for found in answers])
    elif not quiet:
        from headway.cli.tables import ledger_table

        ledger_table(output(), answers[0].base.workload.ledger)
        for found in answers:
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
    return [words for words in found if words]


def _answers(inputs: Inputs, base: Case, cases: dict[str, Case], seeds: int) -> list[Answer]:
    """Base and variants, each under its seeds, as many runs at a time as there are cores."""
    from headway.what_if import answer, with_seeds
    from headway.what_if.runs import simulate_each

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
    from headway.report.assembly import write
    from headway.report.what_if import what_if_page

    write(what_if_page(answers, this_command()), file)


def _show(console: Console, found: Answer) -> None:
    from rich.text import Text

    from headway.what_if.answer import SURE
    from headway.what_if.sentences import findings

    console.print(f"\n{found.name}", style="bold")
    for sentence in findings(found):
        console.print(sentence)
    waits = (">wait now (s)", ">with the change (s)", ">difference (s)")
    table = table_of("", "", ">jobs", *waits, ">between", ">sure")
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
