"""``headway simulate --stream``: a log larger than memory."""

from __future__ import annotations

from pathlib import Path

from headway.cli.display import Display, output, print_json
from headway.cli.frame import Interrupted, this_command
from headway.cli.inputs import chosen_platform
from headway.cli.outages import WantedOutages
from headway.errors import UsageError
from headway.plain import counted
from headway.policies.spec import Spec
from headway.site.folder import names_site


def check_whole_machine(
    trace: str,
    *,
    site: Path | None,
    annotations: Path | None,
    outages: WantedOutages,
    feedback: str | None = None,
) -> None:
    """Complain about what a stream cannot take into account."""
    if site is not None or names_site(trace):
        raise UsageError("a site is not simulated as a stream; leave out --stream, or give an SWF log alone")
    if annotations is not None:
        raise UsageError("--annotations may name jobs anywhere in the log; leave them out, or --stream")
    if outages.files or outages.failures is not None:
        raise UsageError("a stream knows no processors that come and go; leave out --stream or the events")
    if feedback is not None:
        raise UsageError("--feedback looks for a user's jobs in the whole log; leave it out, or --stream")


def simulate_as_it_goes(
    trace: str,
    spec: Spec,
    procs: int | None,
    platform: str | None,
    rules: dict[str, str],
    seed: int,
    out: Path | None,
    force: bool,
    spreadsheet: bool,
    json: bool,
    quiet: bool,
) -> None:
    """Run, then print what is known at the end."""
    from headway.schedule.folder import ON_COMMAND_LINE
    from headway.streams import simulate_stream

    display = Display(quiet)
    with display.working(f"{spec.brief}, {trace} as it is read") as progress:
        result = simulate_stream(
            trace,
            chosen_platform(procs, platform),
            spec,
            rules=rules,
            out=out,
            force=force,
            spreadsheet=spreadsheet,
            progress=progress,
            provenance={"seed": seed, "command": this_command()},
            remedy=ON_COMMAND_LINE,
        )
    if json:
        print_json(result.summary | {"policy": result.policy, "ledger": result.ledger.rows()})
    elif not quiet:
        from headway.cli.tables import ledger_table, summary_table

        console = output()
        ledger_table(console, result.ledger)
        summary_table(console, result, result.summary)
        estimates = ", ".join(result.summary["sketched"])
        console.print(f"\nestimates, from a histogram with an error below 0.01 %: {estimates}")
        if out is not None:
            console.print(f"\nwritten to {out}")
    if result.interrupted:
        kept = "summed up" if out is None else f"in {out}"
        raise Interrupted(f"what had ended is {kept}: {counted(result.jobs, 'job')}")
