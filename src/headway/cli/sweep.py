"""``sweep`` and ``reproduce``: campaigns from a file, and those of papers, with their progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from headway.cli import options
from headway.cli.application import FAULT, Interrupted, command
from headway.cli.display import Display, output, table_of
from headway.errors import UsageError
from headway.plain import close, counted, signed_percent
from headway.writing import refuse_existing, write_text

if TYPE_CHECKING:
    from rich.console import Console

    from headway.campaign import Progress, Results
    from headway.papers import Reproduction, Request

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
        int | None, options.number("--workers", "N", "Worker processes; all cores by default.", 1, 4096)
    ] = None,
    dask: Annotated[
        str | None, options.value("--dask", "ADDRESS", "Work on this Dask cluster, as in tcp://host:8786.")
    ] = None,
    device: Annotated[
        str,
        options.value("--device", "DEVICE", "Run cells on the cpu, or thousands at once on a GPU: cuda."),
    ] = "cpu",
    out: Annotated[
        Path | None, options.value("--out", "DIR", "Folder of the results; by default named after the file.")
    ] = None,
    retry_failed: Annotated[bool, options.flag("--retry-failed", "Run failed cells again.")] = False,
    fresh: Annotated[bool, options.flag("--fresh", "Run all cells again.")] = False,
    metric: Annotated[
        str | None, options.value("--metric", "NAME", "Judge policies by this metric; mean_bsld by default.")
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
    if (workers is not None) + (dask is not None) + (device == "cuda") > 1:
        raise UsageError("give one of --workers, --dask and --device cuda")
    if device not in ("cpu", "cuda"):
        raise UsageError(f"--device must be cpu or cuda, not {device!r}")
    from headway.campaign import Campaign

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
    again: dict[str, Any] = {"retry_failed": retry_failed, "fresh": fresh}
    with _kept_in(folder), shown(quiet) as show:
        if dask is None:
            results = campaign.run(folder, workers=workers, progress=show, device=device, **again)
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


Tell = Callable[["Progress"], None]

LINE_EVERY = 30.0
"""Seconds between two lines where standard error is a file."""


@contextmanager
def shown(quiet: bool) -> Iterator[Tell]:
    """A bar on a terminal, a line now and then in a file, nothing when quiet."""
    if quiet:
        yield lambda progress: None
    elif sys.stderr.isatty():
        with _bar() as tell:
            yield tell
    else:
        last = time.monotonic()

        def line(progress: Progress) -> None:
            nonlocal last
            if time.monotonic() - last >= LINE_EVERY:
                last = time.monotonic()
                sys.stderr.write(words(progress) + "\n")
                sys.stderr.flush()

        yield line


def words(progress: Progress) -> str:
    """How far it is, in one line."""
    about = "" if progress.exact else "about "
    finished = progress.done + progress.skipped
    text = f"{finished} of {about}{progress.total} cells, {pace(progress.rate)}"
    left = progress.total - finished
    if progress.rate and left > 0:
        text += f", {clock(left / progress.rate)} left"
    return text + (f", {progress.failed} failed" if progress.failed else "")


def pace(rate: float) -> str:
    """Cells a second, or a minute where they are few.

    >>> pace(12.34), pace(0.02)
    ('12.3 a second', '1.2 a minute')
    """
    return f"{rate:.1f} a second" if rate >= 1 else f"{60 * rate:.1f} a minute"


def clock(seconds: float) -> str:
    """A duration as hours, minutes and seconds.

    >>> clock(75), clock(3700)
    ('1:15', '1:01:40')
    """
    whole = round(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


@contextmanager
def _bar() -> Iterator[Tell]:
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        SpinnerColumn(),
        BarColumn(),
        TextColumn("{task.description}"),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("opening the workloads", total=None)

    def update(progress: Progress) -> None:
        if progress.total:
            finished = progress.done + progress.skipped
            bar.update(task, total=progress.total, completed=finished, description=words(progress))

    with bar:
        yield update


@command("reproduce", example="headway reproduce redirection --trace curie=curie.swf.gz --out redirection")
def reproduce(
    paper: Annotated[
        str, options.argument("PAPER", "redirection, locality, urgent, deadline, reallocation, or all.")
    ],
    trace: Annotated[
        list[str] | None,
        options.value("--trace", "NAME=FILE", "A log of the paper, by its name; may be repeated."),
    ] = None,
    quick: Annotated[
        bool, options.flag("--quick", "Run a small version, which takes about a minute.")
    ] = False,
    sizes: Annotated[
        str | None,
        options.value(
            "--sizes",
            "table|log",
            "urgent: what is swapped, sizes of the paper's table (default) or the log's memory column.",
            show_default=False,
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        options.value(
            "--seeds",
            "N",
            "urgent: number of random draws for the intervals (5; with --quick 2).",
            min=1,
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, options.value("--out", "DIR", "Folder of the results; by default named after the paper.")
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Reproduce a paper, with a verdict on each of its claims.

    Without logs it runs on generated ones. Each paper knows the logs that it used by their names: redirection
    curie, intrepid and ricc; deadline hpc2n, sdsc-blue and sdsc-ds; urgent sdsc-blue and lanl; reallocation
    bordeaux, lyon, toulouse, ctc and sdsc. All papers but reallocation take other logs too, and measure them
    next to the paper's claims.

    The folder holds a page in Markdown, its figures and the campaigns; an interrupted run continues where it
    stopped.
    """
    from headway.papers import PAPERS, Request

    chosen = list(PAPERS) if paper == "all" else [paper]
    if paper not in (*PAPERS, "all"):
        known = f"there are {', '.join(PAPERS)}, and all"
        raise UsageError(f"there is no paper {paper!r}{close(paper, PAPERS)}; {known}")
    traces = parse_traces(trace or [])
    for option, given in (("--sizes", sizes), ("--seeds", seeds)):
        if given is not None and paper not in ("urgent", "all"):
            raise UsageError(f"{option} is for the paper urgent, not for {paper}")
    if sizes not in (None, "table", "log"):
        raise UsageError(f"--sizes must be table or log, not {sizes!r}")
    for name in chosen:
        folder = (
            (out or Path("reproductions")) / name if paper == "all" else out or Path(f"{name}-reproduction")
        )
        say = Display(quiet).say
        _reproduce(name, Request(traces, quick, folder, say, sizes=sizes or "table", seeds=seeds), quiet)


def _reproduce(name: str, asked: Request, quiet: bool) -> None:
    from headway import papers

    folder = asked.folder
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with shown(quiet) as tell:
            result = papers.reproduce(name, replace(asked, progress=tell))
    except KeyboardInterrupt as stop:
        remedy = "nothing was finished yet"
        if any(folder.iterdir()):
            remedy = f"finished parts are kept in {folder}, and the same command continues from there"
        raise Interrupted(remedy) from stop
    finally:
        with suppress(OSError):
            folder.rmdir()  # nothing is left of a run that came to nothing
    if not quiet:
        _show(output(), result, folder)


def _show(console: Console, result: Reproduction, folder: Path) -> None:
    console.print(f"\n{result.title}\n")
    table = table_of("~claim", "~paper says", "~we get", "~verdict", fold=True)
    for claim in result.claims:
        table.add_row(claim.claim, claim.paper, claim.ours, claim.verdict)
    console.print(table)
    for path in result.files:
        console.print(f"written {path}")
    console.print(f"\nwritten to {folder}")


def parse_traces(given: list[str]) -> dict[str, str]:
    """NAME=FILE, each name once; names are compared without regard to case."""
    traces: dict[str, str] = {}
    for text in given:
        name, equals, path = text.partition("=")
        name = name.strip().lower()
        if not equals or not name or not path:
            raise UsageError(f"--trace {text!r} must be written NAME=FILE, as in --trace curie=curie.swf.gz")
        if name in traces:
            raise UsageError(f"--trace: {name!r} is given twice; give each log once")
        if not Path(path).is_file():
            wrong = "is a folder" if Path(path).is_dir() else "there is no such file"
            raise UsageError(f"--trace {name}={path}: {wrong}; give the log's file")
        traces[name] = path
    return traces
