"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from headway.errors import UsageError


def whole_number(option: str, low: int, high: int = 2**63 - 1) -> Callable[[str], int]:
    """A parser of an option's value that says in one sentence what it takes."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise UsageError(f"{option} must be a whole number, not {text!r}") from None
        if not low <= value <= high:
            limit = f"at least {low}" if value < low else f"at most {high}"
            raise UsageError(f"{option} must be {limit}, not {value}")
        return value

    return parse


Trace: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="TRACE",
        help="Job log: SWF, sacct's text or JSON, Batsim's JSON, plain or .gz, - for standard input, the "
        "name of a registered dataset, or a site's folder.",
        show_default=False,
    ),
]


def policy_names(incomplete: str) -> list[str]:
    """Policies whose names begin as typed, for the shell's completion."""
    from headway.policies.catalogue import POLICIES

    return [name for name in POLICIES if name.startswith(incomplete)]


Policy: TypeAlias = Annotated[
    str,
    typer.Option(
        "--policy",
        metavar="SPEC",
        help="Policy; see headway policies.",
        show_default=False,
        autocompletion=policy_names,
    ),
]
Procs: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--procs",
        metavar="N",
        help="Processors of the machine; by default those in the log's header.",
        parser=whole_number("--procs", 1, 2**31 - 1),
    ),
]
PlatformFile: TypeAlias = Annotated[
    str | None,
    typer.Option("--platform", metavar="FILE", help="Platform file (TOML), or the name of a known platform."),
]
SiteFolder: TypeAlias = Annotated[
    Path | None,
    typer.Option("--site", metavar="DIR", help="Folder with a Slurm site's configuration; see headway site."),
]
Annotations: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--annotations", metavar="FILE", help="CSV with further columns for the jobs, such as deadlines."
    ),
]
Rules: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--rule", metavar="KEY=VALUE", help="Reading rule, such as overrun=trust; may be repeated."),
]
Events: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--events",
        metavar="FILE",
        help="Maintenance, failures and drains: a CSV, or what Slurm shows of events or reservations.",
    ),
]
Failures: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--failures",
        metavar="MODEL",
        help="Draw failures of nodes, as in 'mtbf=30d, repair=4h, seed=1, procs_per_node=16'.",
    ),
]
OnFailure: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--on-failure",
        metavar="RULE",
        help="What becomes of a job that loses its processors: requeue (the default) or lost.",
    ),
]
Feedback: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--feedback",
        metavar="RULE",
        help="Submit jobs after the simulated end of the job that their user waited for: sessions, "
        "'sessions(think=10min)' or fields.",
    ),
]
PolicyInForce: TypeAlias = Annotated[
    str,
    typer.Option("--policy", metavar="SPEC", help="Policy in force; slurm(seed=1) for a site, else easy."),
]
Simulated: TypeAlias = Annotated[
    bool, typer.Option("--simulated", help="Take the log as simulated under the policy, not as recorded.")
]
Draws: TypeAlias = Annotated[
    int,
    typer.Option(
        "--draws",
        metavar="N",
        help="Simulated futures of a job.",
        parser=whole_number("--draws", 10, 10_000),
    ),
]
Seed: TypeAlias = Annotated[
    int,
    typer.Option(
        "--seed",
        metavar="N",
        help="Seed of the random numbers.",
        parser=whole_number("--seed", 0),
    ),
]
Seeds: TypeAlias = Annotated[
    int,
    typer.Option(
        "--seeds",
        metavar="N",
        help="Phases of the controller's clocks that slurm is run with.",
        parser=whole_number("--seeds", 1, 100),
    ),
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Write schedule, summary and provenance into this folder."),
]
Force: TypeAlias = Annotated[
    bool, typer.Option("--force", help="Replace files in a folder that is not empty.")
]
Stream: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--stream",
        help="Read, simulate and write as it goes, for an SWF log larger than memory; for strict orders, "
        "easy and conservative. Quantiles of the summary are then estimates with a stated error.",
    ),
]
Spreadsheet: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--spreadsheet", help="In CSV files, quote names that a spreadsheet would take for formulas."
    ),
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]
