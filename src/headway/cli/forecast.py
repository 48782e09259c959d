"""``headway forecast check``: whether forecasts of starts keep what they promise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from headway.cli import options
from headway.cli.display import output, print_json, table_of
from headway.cli.frame import command, group
from headway.cli.outlooks import outlook_of, past_of, policy_of
from headway.plain import counted
from headway.writing import replacing

if TYPE_CHECKING:
    from rich.console import Console


forecast = group("forecast", "Judge forecasts of starts; headway when makes one.")


@command("check", example="headway forecast check log.swf.gz --jobs 200", of=forecast)
def check(
    trace: options.Trace,
    policy: options.PolicyInForce = "",
    simulated: options.Simulated = False,
    jobs: Annotated[int, options.number("--jobs", "N", "Jobs that are judged.", 10)] = 400,
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
    from headway.cli.inputs import check_choices
    from headway.schedule.folder import refuse_occupied

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
    with inputs.display.working("holding advice against simulated truth") as progress:
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
        _show(console, document)
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


def _show(console: Console, document: dict[str, Any]) -> None:
    from headway.metrics.comparison import brief

    told = "simulated under it" if document["truth"] == "simulated" else "as the log recorded them"
    policy = brief(document["policy"])
    console.print(f"{policy}; waits {told}; {counted(document['draws'], 'draw')}\n")
    for key, title in (
        ("all", "All judged jobs"),
        ("unsure", "Jobs whose start at once was not certain"),
    ):
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
    console.print("\nWould a change help? The sign, held against simulated truth", style="bold")
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
