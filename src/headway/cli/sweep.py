"""``headway sweep``: a campaign from a file, resumable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from headway.cli import options
from headway.cli.display import Display, output, table_of
from headway.cli.frame import FAULT, Interrupted, command
from headway.errors import UsageError
from headway.plain import counted, signed_percent
from headway.writing import refuse_existing, write_text

if TYPE_CHECKING:
    from rich.console import Console

    from headway.campaign import Progress, Results

JUDGED = ("mean_bsld", "mean_wait", "mean_response")
"""Metrics that policies are judged by: the first of them that the campaign has."""

LISTED = 20
"""How many failed cells are listed; all of them stand in results.parquet."""


COLUMNS = ("blocks", "base", "value", "change", "change_low", "change_high", "verdict")
"""What a table for a paper says of a policy against its baseline."""


@command("sweep", example="headway sweep weeks.toml --workers 8 --out results --table table1.tex")
def sweep(
    spec: Annotated[Path, options.argument("SPEC.toml", "Sweep file.")],
    workers: Annotated[
        int | None,
        options.number("--workers", "N", "Worker processes; all cores by default.", 1, 4096),
    ] = None,
    dask: Annotated[
        str | None,
        options.value("--dask", "ADDRESS", "Work on this Dask cluster, as in tcp://host:8786."),
    ] = None,
    out: Annotated[
        Path | None,
        options.value("--out", "DIR", "Folder of the results; by default named after the file."),
    ] = None,
    retry_failed: Annotated[bool, options.flag("--retry-failed", "Run failed cells again.")] = False,
    fresh: Annotated[bool, options.flag("--fresh", "Run all cells again.")] = False,
    metric: Annotated[
        str | None,
        options.value("--metric", "NAME", "Judge policies by this metric; mean_bsld by default."),
    ] = None,
    table: Annotated[
        Path | None,
        options.value("--table", "FILE", "Write the comparison with the baseline: .tex, .csv or .txt."),
    ] = None,
    force: Annotated[bool, options.flag("--force", "Replace the FILE of --table where it exists.")] = False,
    quiet: options.Quiet = False,
) -> int | None:
    """Run a campaign: policies x parameters x workloads x seeds.

    Only cells that are not in the folder yet are run, so an interrupted sweep continues where it stopped. A
    cell is run again when its log, its policy, or a file that a policy of your own imports has changed. What
    such a policy reads while it runs, and the versions of installed packages, are not looked at: --fresh
    runs all cells again.
    """
    if workers is not None and dask is not None:
        raise UsageError("give either --workers or --dask, not both")
    from headway.campaign import Campaign
    from headway.cli.sweep_progress import shown

    if table is not None:
        _check_table(table, force)
    campaign = Campaign.from_toml(spec)
    wanted = campaign.settings
    if metric is not None and not wanted.measures and metric not in wanted.metrics:
        raise UsageError(f"the campaign does not measure {metric!r}; it has {', '.join(wanted.metrics)}")
    if table is not None and all(variant.baseline is None for variant in campaign.variants):
        raise UsageError(f"{spec}: --table compares with a baseline; give one, as in baseline = 'easy'")
    folder = out or Path(f"{spec.stem}-results")
    if not quiet and not fresh and (places := campaign.unseen()):
        Display().say(
            f"{', '.join(places[:3])}: what is read or imported there is not part of a cell's identity; "
            "when it has changed, give --fresh"
        )
    again = {"retry_failed": retry_failed, "fresh": fresh}
    with _kept_in(folder), shown(quiet) as show:
        if dask is None:
            results = campaign.run(folder, workers=workers, progress=show, **again)
        else:
            from headway.campaign.on_dask import connected

            with connected(dask) as client:
                results = campaign.run(folder, client=client, progress=show, **again)
    failed = results.failed.height
    judged = metric or next((name for name in JUDGED if name in results.frame.columns), None)
    if not quiet:
        _report(results, folder, judged)
    elif failed:
        _list_failed(results)
    if table is not None:
        _write_table(results, judged or JUDGED[0], table)
        Display(quiet).say(f"table of {judged} written to {table}")
    return FAULT if failed else None


@contextmanager
def _kept_in(folder: Path) -> Iterator[None]:
    """Say of an interrupted campaign what is left of it."""
    try:
        yield
    except KeyboardInterrupt as stop:
        if not any((folder / "cells").glob("*.parquet")):
            raise
        kept = f"finished cells are kept in {folder}, and the same command continues from there"
        raise Interrupted(kept) from stop


def _check_table(file: Path, force: bool) -> None:
    """Complain before the campaign runs about a table that could not be written after it."""
    if file.suffix not in (".tex", ".csv", ".txt"):
        raise UsageError(f"{file}: a table is written as .tex, .csv or .txt")
    if not file.parent.is_dir():
        raise UsageError(f"{file}: there is no folder {file.parent}; make it, or choose another place")
    refuse_existing(file, force)


def _write_table(results: Results, metric: str, file: Path) -> None:
    """What each policy changes against its baseline, a line for each workload where there are several."""
    from headway.campaign import tables
    from headway.campaign.judging import apart

    by = [*apart(results.frame), "label"]
    judged = results.verdicts(metric).select(*by, *COLUMNS).rename({"label": "policy"})
    if file.suffix == ".tex":
        words = f"{with_unit(metric, results.tau)} against the baseline, intervals of 95 %"
        text = tables.latex(judged, caption=words)
    else:
        text = tables.csv(judged) if file.suffix == ".csv" else tables.text(judged)
    write_text(file, text)


def _report(results: Results, folder: Path, metric: str | None) -> None:
    console = output()
    progress: Progress | None = results.progress
    if progress is not None:
        line = f"{counted(progress.done, 'cell')} run, {progress.skipped:,} were there, "
        line += f"{results.failed.height:,} failed"
        if progress.done:
            line += f"; {progress.seconds:.1f} s, {progress.rate:.1f} cells/s"
        console.print(line)
        for name, first in progress.repeated.items():
            console.print(f"{name}: the same jobs on the same machine as {first}; counted once, as {first}")
    if results.frame.height:
        names, rows = overview(results)
        table = table_of(f"~{names[0]}", *(f"~>{name}" for name in names[1:]), fold=True)
        for row in rows:
            table.add_row(*row)
        console.print(table)
        _verdicts(console, results, metric)
    console.print(f"\nwritten to {folder}")
    _list_failed(results)


def _verdicts(console: Console, results: Results, metric: str | None) -> None:
    """Who leads, and how each policy differs from its baseline: on each workload, with intervals."""
    from headway.campaign.judging import apart
    from headway.cli.tables import number
    from headway.metrics.catalogue import BY_NAME

    if metric is None:
        return
    words, several = with_unit(metric, results.tau), apart(results.frame)
    if metric in BY_NAME and BY_NAME[metric].better:
        policies = results.frame["label"].n_unique()
        for workload, lead in results.leads(metric).items():
            if lead is not None and lead.compared > 1:
                told = lead.sentence(metric, number(lead.mean), policies, str)
                console.print(f"{workload}: {told}" if several else told)
    if not results.frame["baseline"].is_not_null().any():
        return
    try:
        lines = results.verdicts(metric).to_dicts()
    except UsageError:
        return  # no cell has another one as its baseline
    heads = (
        *(f"~{name}" for name in several),
        "~policy",
        "~>blocks",
        "~>change",
        "~95 % interval",
        "~verdict",
    )
    table = table_of(*heads, title=f"\n{words} against the baseline", fold=True)
    for line in lines:
        low, high = line["change_low"], line["change_high"]
        interval = (
            "-" if low is None or high is None else f"{signed_percent(low, 1)} to {signed_percent(high, 1)}"
        )
        change = "-" if line["change"] is None else signed_percent(line["change"], 1)
        cells = (str(line["blocks"]), change, interval, line["verdict"])
        table.add_row(*(line[name] for name in several), line["label"], *cells)
    console.print(table)


def overview(results: Results) -> tuple[list[str], list[list[str]]]:
    """Means over the blocks of each policy, as texts: the first look at a campaign.

    A policy that ran on machines of several sizes, as baselines of redirection do, or on several workloads,
    has a row for each. Of redirection all processors count, as in comparisons.
    """
    from headway.campaign.judging import apart, means
    from headway.cli.tables import number

    frame = results.frame
    wanted = [name for name in ("mean_wait", "mean_bsld", "max_bsld", "utilization") if name in frame.columns]
    keys = [*apart(frame), "label", *(["capacity"] if frame["capacity"].n_unique() > 1 else [])]
    titles = {"label": "policy", "capacity": "processors"}
    names = [*(titles.get(key, key) for key in keys), "cells"]
    names += [f"mean of {with_unit(name, results.tau)}" for name in wanted]
    told = len(keys) + 1
    rows = [
        [*(str(value) for value in row[:told]), *(number(value) for value in row[told:])]
        for row in means(frame, keys, wanted).iter_rows()
    ]
    return names, rows


def with_unit(name: str, tau: float | None) -> str:
    """A metric with its unit, or with the constant that it depends on.

    >>> with_unit("mean_wait", 10), with_unit("mean_bsld", 60), with_unit("utilization", 10)
    ('mean_wait (s)', 'mean_bsld (tau 60 s)', 'utilization (ratio)')
    """
    from headway.metrics.catalogue import unit_of, unit_text

    if "bsld" in name and tau is not None:
        return f"{name} (tau {tau:g} s)"
    return f"{name} ({unit_text(unit_of(name))})"


def _list_failed(results: Results) -> None:
    failed = results.failed
    if not failed.height:
        return
    say = Display().say
    say(f"{counted(failed.height, 'cell')} failed; --retry-failed runs them again:")
    for row in failed.head(LISTED).iter_rows(named=True):
        say(f"  {row['workload']} part {row['part']} seed {row['seed']} {row['label']}: {row['error']}")
    if failed.height > LISTED:
        say(f"  ... and {failed.height - LISTED} more in results.parquet")
