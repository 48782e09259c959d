"""``headway simulate``: one policy on one log."""

from __future__ import annotations

from headway.cli import options
from headway.cli.display import output, print_json
from headway.cli.frame import command
from headway.policies.spec import by_site_rules, parse_spec


@command("simulate", example="headway simulate log.swf.gz --policy 'easy(backfill=sjf)' --out result")
def simulate(
    trace: options.Trace,
    policy: options.Policy,
    procs: options.Procs = None,
    platform: options.PlatformFile = None,
    site: options.SiteFolder = None,
    annotations: options.Annotations = None,
    rule: options.Rules = None,
    events: options.Events = None,
    failures: options.Failures = None,
    on_failure: options.OnFailure = None,
    feedback: options.Feedback = None,
    seed: options.Seed = 0,
    out: options.Out = None,
    force: options.Force = False,
    spreadsheet: options.Spreadsheet = False,
    stream: options.Stream = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Simulate one policy on a log.

    Prints the ledger (what was odd in the log and what was done about it) and the summary with units.
    A log larger than memory: headway simulate huge.swf.gz --policy easy --stream --out result
    """
    from headway.cli.inputs import check_choices, parse_rules
    from headway.cli.outages import WantedOutages
    from headway.schedule.folder import refuse_occupied

    check_choices(procs, platform, json, quiet, site)
    spec, rules = parse_spec(policy), parse_rules(rule)
    outages = WantedOutages.parse(events, failures, on_failure)
    if out is not None:
        refuse_occupied(out, force)
    if stream:
        from headway.cli.streams import check_whole_machine, simulate_as_it_goes

        check_whole_machine(trace, site=site, annotations=annotations, outages=outages, feedback=feedback)
        simulate_as_it_goes(trace, spec, procs, platform, rules, seed, out, force, spreadsheet, json, quiet)
        return

    from headway.cli.runs import Inputs
    from headway.schedule.files import save

    inputs = Inputs.read(
        trace, procs, platform, annotations, rules, quiet=quiet, site=site, outages=outages, feedback=feedback
    )
    schedule = inputs.run(spec, seed)
    summary = schedule.summary()
    if out is not None:
        save(schedule, out, summary, force=force, spreadsheet=spreadsheet)
    if json:
        print_json(summary | {"policy": schedule.policy, "ledger": schedule.workload.ledger.rows()})
    elif not quiet:
        from headway.cli.tables import ledger_table, not_modelled_table, summary_table

        console = output()
        ledger_table(console, schedule.workload.ledger)
        not_modelled_table(console, schedule.workload.source, by_site_rules(schedule.policy))
        summary_table(console, schedule, summary)
        if out is not None:
            console.print(f"\nwritten to {out}")
