"""``headway convert``: a log with its oddities settled, perhaps transformed, in another file or format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from headway.cli import options
from headway.cli.display import Display, output
from headway.cli.frame import command
from headway.cli.writing import check_target, parts_table, several, write_each, write_one
from headway.errors import UsageError
from headway.plain import counted
from headway.writing import refuse_existing

if TYPE_CHECKING:
    from headway.workload import Workload


@command("convert", example="headway convert log.swf.gz week.swf --apply 'window(from=0, to=604800)'")
def convert(
    source: Annotated[
        str,
        options.argument(
            "IN", "Job log, - for standard input, a site's folder, or a folder of simulate --out."
        ),
    ],
    target: Annotated[
        Path,
        options.argument(
            "OUT",
            "SWF to write (.gz packs it, - prints it), Batsim's .json, or ..._jobs.csv from a folder; "
            "a folder where there are several workloads.",
        ),
    ],
    apply: options.Apply = None,
    annotations: options.Annotations = None,
    rule: options.Rules = None,
    force: options.ReplaceOut = False,
    quiet: options.Quiet = False,
) -> None:
    """Convert a log to another format, or transform it.

    What SWF cannot hold, such as deadlines, goes into OUT.annotations.csv next to it.
    """
    from headway.cli.inputs import parse_rules

    rules = parse_rules(rule)
    if (Path(source) / "run.json").is_file() or target.name.endswith("_jobs.csv"):
        if apply or rules or annotations is not None:
            raise UsageError("a schedule is written as it is; --apply, --rule and --annotations are for logs")
        _schedule(Path(source), target, force, quiet)
        return

    from headway.cli.inputs import read_workload

    many = several(apply or [])
    check_target(target, many, force)
    display = Display(quiet or str(target) == "-")
    with display.working(f"reading {source}"):
        workload = read_workload(source, rules, annotations)

    from headway.workload.cancelled import as_written
    from headway.workload.transform import apply_each

    workloads = apply_each(as_written(workload), *(apply or ()))
    with display.working(f"writing {target}"):
        written = write_each(workloads, target, force) if many else write_one(workloads[0], target)
    if not display.quiet:
        _report(workload if many else workloads[0], workloads if many else [], written)


def _report(workload: Workload, parts: list[Workload], written: list[str]) -> None:
    from headway.cli.tables import ledger_table, not_modelled_table

    console = output()
    ledger_table(console, workload.ledger)
    not_modelled_table(console, workload.source)
    if parts:
        console.print(parts_table(parts))
    for sentence in written:
        console.print(sentence)


def _schedule(folder: Path, target: Path, force: bool, quiet: bool) -> None:
    """Write a saved schedule as Batsim does."""
    if not folder.is_dir():
        raise UsageError(
            f"{target.name} holds a schedule, and {folder} is not a folder that 'simulate --out' wrote"
        )
    if not target.name.endswith("_jobs.csv"):
        raise UsageError(f"{folder} is a folder with a schedule; it can be written as ..._jobs.csv")
    refuse_existing(target, force)
    from headway.export import write_batsim_jobs
    from headway.result import Result

    schedule = Result.load(folder)
    write_batsim_jobs(schedule, target)
    if not quiet:
        output().print(f"{counted(len(schedule), 'job')} written to {target}")
