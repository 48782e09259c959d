"""Commands on logs: ``inspect``, ``weeks``, ``generate``, ``convert`` and ``anonymise``."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Sequence
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headway.cli import options
from headway.cli.application import command
from headway.cli.display import Display, output, print_json, table_of
from headway.cli.options import chosen_platform, parse_rules, read_workload
from headway.errors import UsageError
from headway.grammar import Call, parse_call
from headway.plain import counted
from headway.units import date_text
from headway.writing import refuse_existing

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from headway.workload import Workload

HEADER_KEYS = (
    "Computer", "Installation", "MaxProcs", "MaxNodes", "MaxJobs", "StartTime", "EndTime", "TimeZoneString",
)  # fmt: skip
LABEL = 14
"""Characters of a class at the beginning of a line; one with a longer name widens the column."""

TEXT = 54 - LABEL
"""Characters of a line with two bars that are neither bar nor class."""


@command("inspect", example="headway inspect log.swf.gz")
def inspect(
    trace: options.Trace,
    procs: options.Procs = None,
    annotations: options.Annotations = None,
    rule: options.Rules = None,
    json: options.Json = False,
) -> None:
    """Show what is in a log.

    The tables have the header, jobs and users, the offered load over time, sizes, lengths, how good the
    estimates are, and the ledger: what was odd in the log and what was done about it.
    """
    from headway.site import names_site
    from headway.workload.cancelled import ended_only
    from headway.workload.slurm.not_modelled import left_unmodelled

    rules = parse_rules(rule)
    machine = chosen_platform(procs, None)
    with Display(quiet=json).working(f"reading {trace}"):
        workload = ended_only(read_workload(trace, rules, annotations))

    from headway.workload.statistics import describe

    by_rules = names_site(trace)  # they model most of what jobs of a site had
    size = machine.total_procs if machine else workload.header.max_procs
    described = describe(workload, size)
    if json:
        header = {key: value for key in HEADER_KEYS if (value := workload.header.get(key))}
        left = left_unmodelled(workload.source.not_modelled, by_rules)
        odd = {"ledger": workload.ledger.rows(), "not_modelled": left}
        print_json({"header": header} | described | odd)
        return
    console = output()
    _header(console, workload)
    _facts(console, described)
    if len(workload):
        _load(console, described)
        _divided(console, "Jobs and work by processors", described["sizes"], described["work_by_size"])
        _divided(console, "Jobs and work by run time", described["lengths"], described["work_by_length"])
        _estimates(console, described)
        _busiest(console, "user", described["users"])
        for name, busiest in described["divisions"].items():
            _busiest(console, name, busiest)
    console.print()
    from headway.cli.tables import ledger_table, not_modelled_table

    ledger_table(console, workload.ledger)
    not_modelled_table(console, workload.source, by_rules)


def _header(console: Console, workload: Workload) -> None:
    console.print(workload.source.name, style="bold")
    for key in HEADER_KEYS:
        if value := workload.header.get(key):
            console.print(f"  {key}: {value}")
    if workload.source.format.startswith("sacct") and (note := workload.header.get("Note")):
        console.print(f"  {note}")
    console.print()


def _facts(console: Console, described: dict[str, Any]) -> None:
    from headway.cli.tables import in_words, number

    table = table_of("", ">", "~", show_header=False)
    table.columns[-1].style = "dim"
    for name, (value, unit) in described["facts"].items():
        table.add_row(name, number(value), f"s  {in_words(value)}" if unit == "s" else unit)
    console.print(table)


def _load(console: Console, described: dict[str, Any]) -> None:
    """Offered load as a curve, with the line at which the machine is full."""
    from headway.cli.display import curve, labelled

    load = described["load_over_time"]
    if not load["values"]:
        return
    top = max(load["values"])
    hours = load["step"] / 3600
    width = (
        f"{hours / 24:.1f} days"
        if hours >= 48
        else f"{hours:.1f} hours"
        if hours >= 1
        else f"{hours * 60:.1f} min"
    )
    console.print(f"\nOffered load over time, each column {width}", style="bold")
    lines = curve(load["values"], top, height=5)
    levels = [f"{top * (len(lines) - row) / len(lines):.2f}" for row in range(len(lines))]
    wide = max(6, len(levels[0]))
    for level, line in zip(levels, lines, strict=True):
        console.print(labelled(f"{level:>{wide}}", line, width=wide))
    over = sum(value > 1 for value in load["values"]) / len(load["values"])
    console.print(f"more than the machine can do in {over:.0%} of the columns")


def _divided(
    console: Console, title: str, jobs: Sequence[tuple[str, int]], work: Sequence[tuple[str, float]]
) -> None:
    """Two bars a line: the share of the jobs, and of the processor-seconds."""
    from headway.cli.display import bar, labelled

    console.print(f"\n{title}", style="bold")
    total = sum(count for _, count in jobs)
    top = max((count for _, count in jobs), default=0) / total
    most = max((share for _, share in work), default=0.0)
    label = max(LABEL, *(len(name) for name, _ in jobs))
    wide = min(24, max(console.width - TEXT - label, 2) // 2)
    for (name, count), (_, share) in zip(jobs, work, strict=True):
        text = labelled(
            name,
            f"{bar(count / total, top, wide):<{wide}}",
            f"{count:>9,} {count / total:>4.0%} of jobs",
            label,
        )
        text.append("   ")
        text.append(f"{bar(share, most, wide):<{wide}}", style="magenta")
        text.append(f" {share:>4.0%} of work", style="dim")
        console.print(text)


def _estimates(console: Console, described: dict[str, Any]) -> None:
    from headway.cli.display import bar, labelled
    from headway.units import span_text

    classes = described["accuracy"]
    top = max((count for _, count in classes), default=0)
    if not top:
        return
    total = sum(count for _, count in classes)
    console.print("\nRun time as a share of the request", style="bold")
    for name, count in classes:
        console.print(
            labelled(name, f"{bar(count, top):<30}", f"{count:>9,} {count / total:>4.0%} of jobs", LABEL)
        )
    named = ", ".join(
        f"{span_text(seconds)} ({count / total:.0%})" for seconds, count in described["requests"]
    )
    console.print(f"most frequent requests: {named}")


def _busiest(console: Console, what: str, rows: Sequence[tuple[str, int, float]]) -> None:
    from rich.text import Text

    from headway.cli.display import bar

    if len(rows) < 2:
        return
    title = "\nBusiest QOS" if what == "qos" else f"\nBusiest {what}s"
    table = table_of(what, ">jobs", "share of the work", title=title, title_style="bold")
    for name, jobs, share in rows:
        shown = Text(f"{bar(share, rows[0][2], 24):<24}", style="magenta")
        table.add_row(Text(name), f"{jobs:,}", shown.append(f" {share:.1%}", style="dim"))
    console.print(table)


@command("weeks", example="headway weeks curie.swf.gz ricc.swf.gz --procs 80640 --procs 8192")
def weeks(
    traces: Annotated[list[str], options.argument("TRACE...", "Job logs, or names of registered datasets.")],
    procs: Annotated[
        list[int] | None,
        options.number(
            "--procs",
            "N",
            "Processors of the machine: once for all logs, or once for each in order.",
            1,
            2**31 - 1,
        ),
    ] = None,
    least: Annotated[float, options.value("--at-least", "U", "Smallest utilization, from 0 to 1.")] = 0.7,
    utilization: Annotated[
        str,
        options.value(
            "--utilization",
            "recorded|submitted",
            "Measure the work that ran, or the work that was submitted.",
        ),
    ] = "recorded",
    placing: Annotated[
        str,
        options.value(
            "--placing", "aligned|sliding", "Cut weeks one after the other, or wherever a busy one begins."
        ),
    ] = "aligned",
    count: Annotated[
        int | None, options.number("--count", "N", "Number of weeks; all by default.", 0)
    ] = None,
    draw: Annotated[
        int | None, options.number("--draw", "SEED", "Draw them at random instead of taking the first.", 0)
    ] = None,
    rule: options.Rules = None,
    json: options.Json = False,
) -> None:
    """List the busy weeks of logs.

    To write them out: headway convert LOG FOLDER --apply 'weeks(at_least=0.7)'.
    """

    rules = parse_rules(rule)
    sizes: list[int | None] = list(procs) if procs else [None]
    if len(sizes) == 1:
        sizes *= len(traces)
    if len(sizes) != len(traces):
        raise UsageError(
            f"--procs is given {counted(len(sizes), 'time')} for {counted(len(traces), 'log')}; "
            "give it once, or once for each"
        )
    for name, value, known in (
        ("--utilization", utilization, ("recorded", "submitted")),
        ("--placing", placing, ("aligned", "sliding")),
    ):
        if value not in known:
            raise UsageError(f"{name} must be {' or '.join(known)}, not {value}")

    from headway.workload.transform import weeks as busy_weeks
    from headway.workload.transform.weeks import busiest_week

    documents: list[dict[str, Any]] = []
    for trace, size in zip(traces, sizes, strict=True):
        with Display(quiet=json).working(f"reading {trace}"):
            workload = read_workload(trace, rules)
        found = busy_weeks(workload, least, size, placing, utilization, count, draw)  # type: ignore[arg-type]
        machine = size or workload.header.max_procs or 0
        listed = [
            {"week": week.number, "start": week.start / 1e6, "jobs": len(week.workload),
             "utilization": week.utilization} | dated(int(week.start), workload.header.unix_start)
            for week in found
        ]  # fmt: skip
        rows = workload.ledger.rows()
        documents.append(
            {"trace": trace, "processors": machine, "at_least": least, "weeks": listed, "ledger": rows}
        )
        if json:
            continue
        from headway.cli.tables import ledger_table

        console = output()
        ledger_table(console, workload.ledger)
        told = f"{counted(len(found), 'week')} of at least {least:.0%} on {counted(machine, 'processor')}"
        console.print(f"{trace}: {told}", style="bold")
        if found:
            console.print(parts_table([week.workload for week in found], workload.header.unix_start))
        elif count != 0:
            console.print(_busiest_week(busiest_week(workload, size, utilization)))  # type: ignore[arg-type]
    if json:
        print_json(documents)


def _busiest_week(most: float | None) -> str:
    """What to say where no week is busy enough; of weeks that follow each other from the first submission."""
    if most is None:
        return "The log has no jobs."
    lower = floor(most * 100) / 100
    return f"The busiest week has a utilization of {most:.1%}; --at-least {lower:g} lists it."


def dated(us: int, unix_start: int | None) -> dict[str, str]:
    """The date of an instant of the log's clock, where the log has dates."""
    return {} if unix_start is None else {"date": date_text(us, unix_start)}


@command("generate", example="headway generate lublin jobs=10000 procs=256 load=0.8 -o lublin.swf")
def generate(
    model: Annotated[
        list[str],
        options.argument(
            "MODEL [KEY=VALUE]...", "Model with its parameters, as words or as 'lublin(jobs=1000, procs=64)'."
        ),
    ],
    target: Annotated[
        Path,
        typer.Option(
            "-o",
            "--out",
            "--output",
            metavar="OUT",
            help="SWF (.gz packs it, - prints it) or Batsim's .json.",
        ),
    ],
    seed: Annotated[int | None, options.number("--seed", "N", "Seed of the model.", 0)] = None,
    apply: options.Apply = None,
    force: options.ReplaceOut = False,
    quiet: options.Quiet = False,
) -> None:
    """Draw a workload from a model.

    lublin is the model of Lublin and Feitelson; poisson draws the workloads of queueing theory.
    """
    from headway.workload.models import generate as draw

    spec = _spec(model, seed)
    many = several(apply or [])
    check_target(target, many, force)
    display = Display(quiet or str(target) == "-")
    from headway.workload.transform import apply_each

    with display.working(spec):
        workloads = apply_each(draw(spec), *(apply or ()))
        written = write_each(workloads, target, force) if many else write_one(workloads[0], target)
    if not display.quiet:
        console = output()
        for done in workloads[0].transformations:
            console.print(done)
        for sentence in written:
            console.print(sentence)


def _spec(words: list[str], seed: int | None) -> str:
    """The model as one spec.

    >>> _spec(["lublin", "jobs=10", "procs=4"], 3)
    'lublin(jobs=10, procs=4, seed=3)'
    """

    first, *rest = words
    call = parse_call(f"{first}({', '.join(rest)})" if rest and "(" not in first else first)
    if rest and "(" in first:
        raise UsageError(f"give parameters of {call.name} inside its parentheses or as KEY=VALUE, not both")
    if seed is None:
        return str(call)
    if "seed" in call.kwargs:
        raise UsageError("the seed is given twice; use either --seed or seed=")
    return str(Call(call.name, call.args, call.kwargs | {"seed": seed}))


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

    rules = parse_rules(rule)
    if (Path(source) / "run.json").is_file() or target.name.endswith("_jobs.csv"):
        if apply or rules or annotations is not None:
            raise UsageError("a schedule is written as it is; --apply, --rule and --annotations are for logs")
        _schedule(Path(source), target, force, quiet)
        return

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
        _show_written(workload if many else workloads[0], workloads if many else [], written)


def _show_written(workload: Workload, parts: list[Workload], written: list[str]) -> None:
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


KEY_VARIABLE = "HEADWAY_KEY"
"""Environment variable with the secret; a secret on the command line is seen by everybody on the machine."""


@command("anonymise", example="headway anonymise jobs.txt anonymous.txt")
def anonymise(
    source: Annotated[
        str,
        options.argument(
            "IN", "SWF log, sacct's text or JSON, - for standard input, or a site's folder or archive."
        ),
    ],
    target: Annotated[
        Path,
        options.argument(
            "OUT", "File to write; .gz packs it, - prints it. For a site a folder or a .tar.gz."
        ),
    ],
    key_file: Annotated[
        Path | None,
        options.value(
            "--key-file",
            "FILE",
            f"File with a secret that gives the same names in several files; else ${KEY_VARIABLE}.",
        ),
    ] = None,
    force: options.ReplaceOut = False,
    quiet: options.Quiet = False,
) -> None:
    """Replace every name in a log or in a whole site.

    Users, accounts, partitions, QOS, nodes, features, licences, reasons, job names and paths are numbered as
    they appear, or hashed with a secret key. Comments and columns that are not known to be harmless are left
    out. What is kept, and why, is listed.
    """
    printed = str(target) == "-"
    refuse_existing(target, force or printed)
    key = _key(key_file)

    from headway.site.archive import is_archive
    from headway.workload.anonymise import anonymise as replace_names

    place = Path(source)
    quiet = quiet or printed
    with Display(quiet).working(f"reading {source}"):
        if place.is_dir() or is_archive(place):
            if printed:
                raise UsageError("a site has several files; give a folder or a .tar.gz in place of -")
            from headway.site.anonymise import anonymise_site

            done = anonymise_site(place, target, key)
        else:
            done = replace_names(source, target, key)
    if quiet:
        return
    console = output()
    replaced = ", ".join(f"{count:,} {kind.lstrip('/')}" for kind, count in done.replaced.items() if count)
    console.print(f"{counted(done.lines, 'line')} written to {target}")
    console.print(f"replaced: {replaced or 'nothing'}")
    by_reason: dict[str, list[str]] = {}
    for what, why in done.kept.items():
        by_reason.setdefault(why, []).append(what)
    for why, listed in by_reason.items():
        console.print(f"kept: {', '.join(listed)} ({why})")
    if done.left_out:
        names = ", ".join(dict.fromkeys(done.left_out))
        console.print(f"left out, because these may contain anything: {names}")
    if done.blanked:
        values = ", ".join(f"{count:,} {kind}" for kind, count in done.blanked.items())
        console.print(f"emptied, because they are not valid values of their fields: {values}")


def _key(file: Path | None) -> str | None:
    """The secret of a file, else of the environment; None where there is neither."""
    if file is not None:
        try:
            key = file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise UsageError(f"--key-file {file}: the key cannot be read: {why}") from None
        where = str(file)
    else:
        key, where = os.environ.get(KEY_VARIABLE, "").strip(), f"${KEY_VARIABLE}"
        if not key:
            return None
    if len(key) < 8:
        raise UsageError(
            f"{where}: a key must have at least 8 characters, or names could be guessed by trying"
        )
    return key


FOREIGN = {
    *(".csv", ".tsv", ".parquet", ".feather", ".arrow", ".xls", ".xlsx", ".ods", ".html", ".xml", ".toml"),
    *(".bz2", ".xz", ".zst", ".zip", ".tar", ".tgz", ".7z"),
}
"""Ends of names that promise a format in which no workload is written."""

_WEEK = re.compile(r"week\(number=(\d+), start=([\d.]+), utilization=([\d.]+)\)")


def several(specs: Sequence[str]) -> bool:
    """Whether transformations give several workloads."""
    from headway.workload.transform import TRANSFORMATIONS

    names = [parse_call(spec).name for spec in specs]
    return any(TRANSFORMATIONS[name].many for name in names if name in TRANSFORMATIONS)


def check_target(target: Path, many: bool, force: bool) -> None:
    """Complain now about a target that cannot be written later."""
    if many:
        from headway.schedule.files import refuse_occupied

        if str(target) == "-" or target.suffix in (".swf", ".gz", ".json"):
            raise UsageError(f"{target}: there are several workloads to write; name a folder for them")
        refuse_occupied(target, force)
        return
    packed = ".gz" if target.suffix.lower() == ".gz" else ""
    end = (target.with_suffix("") if packed else target).suffix.lower()
    if end in FOREIGN or end + packed == ".json.gz":
        raise UsageError(
            f"{target}: a workload is written as SWF (.swf or .swf.gz) or as Batsim's .json, not as "
            f"{end}{packed}; give a name that ends so"
        )
    refuse_existing(target, force or str(target) == "-")


def write_one(workload: Workload, target: Path) -> list[str]:
    """Write a workload and, where SWF cannot hold all of it, its annotations; says what was written."""
    from headway.workload import write_annotations, write_swf
    from headway.workload.annotations import annotated, beside

    if target.suffix.lower() == ".json":
        from headway.workload.batsim import write_batsim

        write_batsim(workload, target)
        return [f"{counted(len(workload), 'job')} written to {target}"]
    write_swf(workload, target)
    written = [f"{counted(len(workload), 'job')} written to {target}"]
    columns = annotated(workload)
    if columns and str(target) != "-":
        sheet = beside(target)
        write_annotations(workload, sheet)
        written.append(f"{', '.join(columns)} written to {sheet}; give it with --annotations")
    return written


def write_each(workloads: Sequence[Workload], folder: Path, force: bool) -> list[str]:
    """Write workloads into a folder that appears whole or not at all, with parts.csv, a table of them."""
    from headway.schedule.files import whole_folder

    with whole_folder(folder, force) as draft:
        rows: list[list[object]] = []
        for place, workload in enumerate(workloads):
            number, start, used = part_of(workload) or (place, 0.0, None)
            name = f"week-{number:03d}.swf" if used is not None else f"part-{place:03d}.swf"
            if any(row[0] == name for row in rows):
                name = f"{name.removesuffix('.swf')}-{place:03d}.swf"
            write_one(workload, draft / name)
            rows.append([name, number, f"{start:g}", len(workload), "" if used is None else f"{used:.6f}"])
        with (draft / "parts.csv").open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["file", "number", "start", "jobs", "utilization"])
            table.writerows(rows)
    return [f"{counted(len(workloads), 'workload')} and parts.csv written to {folder}"]


def part_of(workload: Workload) -> tuple[int, float, float | None] | None:
    """Number, start (s) and utilization of a week, from its provenance; None for other workloads."""
    for done in reversed(workload.transformations):
        if found := _WEEK.fullmatch(done):
            return int(found[1]), float(found[2]), float(found[3])
    return None


def parts_table(workloads: Sequence[Workload], unix_start: int | None = None) -> Table:
    """Number, start, jobs and utilization of each workload.

    `unix_start` is when the clock of their log was 0, in seconds since 1970, where the log says so.
    """
    from headway.units import date_text

    begins = ">start (s)" if unix_start is None else ">start"
    table = table_of(">week", begins, ">jobs", ">utilization")
    for place, workload in enumerate(workloads):
        number, start, used = part_of(workload) or (place, 0.0, None)
        share = "" if used is None else f"{used:.2%}"
        begin = f"{start:.0f}" if unix_start is None else date_text(round(start * 1e6), unix_start)
        table.add_row(str(number), begin, f"{len(workload):,}", share)
    return table
