"""``headway reproduce``: the campaigns of papers, with what each paper says next to what we get."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from headway.cli import options
from headway.cli.display import Display, output, table_of
from headway.cli.frame import Interrupted, command
from headway.errors import UsageError
from headway.plain import close

if TYPE_CHECKING:
    from rich.console import Console

    from headway.papers import Reproduction, Request


@command("reproduce", example="headway reproduce redirection --trace curie=curie.swf.gz --out redirection")
def reproduce(
    paper: Annotated[
        str,
        options.argument("PAPER", "redirection, locality, urgent, deadline, reallocation, or all."),
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
        Path | None,
        options.value("--out", "DIR", "Folder of the results; by default named after the paper."),
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
    from headway.cli.sweep_progress import shown

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
            raise UsageError(f"--trace {name}: there is no file {path!r}")
        traces[name] = path
    return traces
