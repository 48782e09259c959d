"""``headway replay``: a simulated schedule compared with the waits recorded in the log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli import options
from headway.cli.display import output, print_json
from headway.cli.frame import command, this_command
from headway.cli.report import check_report
from headway.policies.spec import by_site_rules, parse_spec
from headway.writing import check_replaceable, refuse_existing, replacing

if TYPE_CHECKING:
    from headway.changes import Case
    from headway.cli.runs import Inputs
    from headway.replay import Fidelity
    from headway.schedule import Schedule
    from headway.what_if.causes import Cause

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

    Behind the ledger stands the mean absolute error. The tables show waits and shares of near starts by size,
    partition, account, QOS, queue, user and week. A site runs by Slurm's own rules, under several phases of
    its controller's clocks. Rules are switched off one by one to rank the causes of what is left. The last
    sentence says whether to trust the simulation, and for what.
    """
    from headway.cli.inputs import check_choices, parse_rules

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
    from headway.cli.runs import Inputs
    from headway.replay import recorded_waits

    inputs = Inputs.read(trace, procs, platform, annotations, rules, quiet=quiet, site=site)
    recorded_waits(inputs.workload)  # complain before a long run, not after it
    base = Case.of(inputs.workload, inputs.platform, policy)
    wanted = len(inputs.workload) <= FEW if causes is None else causes
    found, ranked, first = _score(inputs, base, seeds, seed, wanted)
    left_out = first.workload.ledger
    document = found.describe() | {"causes": [one.describe() for one in ranked]} | {"ledger": left_out.rows()}
    if report is not None:
        from headway.report.assembly import write
        from headway.report.replay import replay_page

        write(replay_page(found, ranked, first, this_command()), report)
    if out is not None:
        from headway.schedule.files import write_json

        with replacing(out) as draft:
            write_json(draft, document)
    if json:
        print_json(document)
    elif not quiet:
        from headway.cli.fidelity_tables import show
        from headway.cli.tables import ledger_table, not_modelled_table

        console = output()
        ledger_table(console, left_out)
        not_modelled_table(console, inputs.workload.source, by_site_rules(found.policy))
        show(console, found, ranked)
        if not wanted:
            told = (
                f"The causes of what is left were not sought in {len(inputs.workload):,} jobs; --causes does."
            )
            console.print(f"\n{told}" if causes is None else "", style="dim")
        console.print(f"\n{found.verdict}", style="bold")
        if written := [str(place) for place in (out, report) if place is not None]:
            console.print(f"\nwritten to {' and '.join(written)}")


def _score(
    inputs: Inputs, base: Case, seeds: int, seed: int, wanted: bool
) -> tuple[Fidelity, list[Cause], Schedule]:
    """The fidelity of the base over its seeds, the causes where they are wanted, and the first run."""
    from headway.replay import fidelity
    from headway.what_if.causes import causes, possible, rules_off
    from headway.what_if.runs import simulate_each, with_seeds

    variants = possible(rules_off(base)) if wanted else {}
    runs = [with_seeds(case, seeds) for case in (base, *variants.values())]
    count = sum(map(len, runs))
    what = f"{base.policy}, {count} runs" if count > 1 else base.policy
    with inputs.display.working(what) as progress:
        schedules = simulate_each(runs, progress, inputs.display.say, seed)
    found, *others = (fidelity(*run) for run in schedules)
    ranked = causes(found, dict(zip(variants, others, strict=True)))
    return found, ranked, schedules[0][0]
