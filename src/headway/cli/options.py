"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from headway.errors import UsageError
from headway.policies.catalogue import POLICIES
from headway.units import LONGEST, microseconds


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


DURATION_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def microseconds_of(text: str, option: str) -> int:
    """A duration such as 90, 10m or 1.5h in µs."""
    factor = DURATION_UNITS.get(text[-1:])
    try:
        found = microseconds(text[:-1] if factor else text) * (factor or 1)
    except ValueError:
        raise UsageError(f"{option} must be a time such as 90, 10m, 2h or 1d, not {text!r}") from None
    if found < 0:
        raise UsageError(f"{option} must not be negative, not {text}")
    if found > LONGEST:
        raise UsageError(f"{option} is longer than can be kept: {text[:40]}")
    return found


def argument(metavar: str, help: str, **more: Any) -> Any:
    """What a command takes without a name."""
    return typer.Argument(metavar=metavar, help=help, show_default=False, **more)


def flag(name: str, help: str) -> Any:
    """An option that is given or not."""
    return typer.Option(name, help=help)


def value(name: str, metavar: str, help: str, **more: Any) -> Any:
    """An option with a value, called ``metavar`` in the help."""
    return typer.Option(name, metavar=metavar, help=help, **more)


def number(
    name: str, metavar: str, help: str, low: int, high: int = 2**63 - 1, *, old: str | None = None
) -> Any:
    """An option with a whole number from ``low`` to ``high``; ``old`` is another name, which goes on."""
    names = (name,) if old is None else (name, old)
    return typer.Option(*names, metavar=metavar, help=help, parser=whole_number(name, low, high))


SPEC = "a name, perhaps with parameters, such as easy or 'easy(backfill=sjf)'; headway policies lists them."
"""What a policy spec is."""


Trace: TypeAlias = Annotated[
    str,
    argument(
        "TRACE",
        "Job log: SWF, sacct's text or JSON, Batsim's JSON, plain or .gz, - for standard input, the "
        "name of a registered dataset, or a site's folder.",
    ),
]


def policy_names(incomplete: str) -> list[str]:
    """Policies whose names begin as typed, for the shell's completion."""

    return [name for name in POLICIES if name.startswith(incomplete)]


Policy: TypeAlias = Annotated[
    str,
    value("--policy", "SPEC", f"Policy: {SPEC}", show_default=False, autocompletion=policy_names),
]
Procs: TypeAlias = Annotated[
    int | None,
    number("--procs", "N", "Processors of the machine; by default those in the log's header.", 1, 2**31 - 1),
]
PlatformFile: TypeAlias = Annotated[
    str | None,
    value("--platform", "FILE", "Platform file (TOML), or the name of a known platform."),
]
SiteFolder: TypeAlias = Annotated[
    Path | None,
    value("--site", "DIR", "Folder with a Slurm site's configuration; see headway site."),
]
Annotations: TypeAlias = Annotated[
    Path | None,
    value("--annotations", "FILE", "CSV with further columns for the jobs, such as deadlines."),
]
Rules: TypeAlias = Annotated[
    list[str] | None,
    value("--rule", "KEY=VALUE", "Reading rule, such as overrun=trust; may be repeated."),
]
Events: TypeAlias = Annotated[
    list[Path] | None,
    value(
        "--events",
        "FILE",
        "Maintenance, failures and drains: a CSV, or what Slurm shows of events or reservations.",
    ),
]
Failures: TypeAlias = Annotated[
    str | None,
    value(
        "--failures",
        "MODEL",
        "Draw failures of nodes, as in 'mtbf=30d, repair=4h, seed=1, procs_per_node=16'.",
    ),
]
OnFailure: TypeAlias = Annotated[
    str | None,
    value(
        "--on-failure",
        "RULE",
        "What becomes of a job that loses its processors: requeue (the default) or lost.",
    ),
]
Feedback: TypeAlias = Annotated[
    str | None,
    value(
        "--feedback",
        "RULE",
        "Submit jobs after the simulated end of the job that their user waited for: sessions, "
        "'sessions(think=10min)' or fields.",
    ),
]
PolicyInForce: TypeAlias = Annotated[
    str,
    value("--policy", "SPEC", f"Policy in force, by default slurm(seed=1) for a site, else easy: {SPEC}"),
]
Simulated: TypeAlias = Annotated[
    bool, flag("--simulated", "Take the log as simulated under the policy, not as recorded.")
]
Draws: TypeAlias = Annotated[int, number("--draws", "N", "Simulated futures of a job.", 10, 10_000)]
Seed: TypeAlias = Annotated[int, number("--seed", "N", "Seed of the random numbers.", 0)]
Seeds: TypeAlias = Annotated[
    int,
    number("--seeds", "N", "Phases of the controller's clocks that slurm is run with.", 1, 100),
]
Out: TypeAlias = Annotated[
    Path | None,
    value("--out", "DIR", "Write schedule, summary and provenance into this folder."),
]
Force: TypeAlias = Annotated[bool, flag("--force", "Replace files in a folder that is not empty.")]
ReplaceFile: TypeAlias = Annotated[bool, flag("--force", "Replace FILE where it exists.")]
ReplaceOut: TypeAlias = Annotated[bool, flag("--force", "Replace OUT where it exists.")]
Apply: TypeAlias = Annotated[
    list[str] | None,
    value("--apply", "TRANSFORMATION", "Change the jobs; may be repeated, and is applied in this order."),
]
Stream: TypeAlias = Annotated[
    bool,
    flag(
        "--stream",
        "Read, simulate and write as it goes, for an SWF log larger than memory; for strict orders, "
        "easy and conservative. Quantiles of the summary are then estimates with a stated error.",
    ),
]
Spreadsheet: TypeAlias = Annotated[
    bool,
    flag("--spreadsheet", "In CSV files, quote names that a spreadsheet would take for formulas."),
]
Json: TypeAlias = Annotated[bool, flag("--json", "Print one JSON document instead of tables.")]
Quiet: TypeAlias = Annotated[bool, flag("--quiet", "Print nothing but errors.")]
