"""Options that several commands share, and what they become: rules, workload, machine, outages, runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from headway.cli.application import this_command
from headway.cli.display import Display
from headway.errors import UsageError
from headway.grammar import parse_call
from headway.plain import one_line
from headway.platform import Platform
from headway.policies.catalogue import POLICIES
from headway.policies.spec import Spec
from headway.units import LONGEST, microseconds

if TYPE_CHECKING:
    from headway.grammar import Call
    from headway.result import Result
    from headway.site import Site
    from headway.workload import Workload


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
    str, value("--policy", "SPEC", f"Policy: {SPEC}", show_default=False, autocompletion=policy_names)
]
Procs: TypeAlias = Annotated[
    int | None,
    number("--procs", "N", "Processors of the machine; by default those in the log's header.", 1, 2**31 - 1),
]
PlatformFile: TypeAlias = Annotated[
    str | None, value("--platform", "FILE", "Platform file (TOML), or the name of a known platform.")
]
SiteFolder: TypeAlias = Annotated[
    Path | None, value("--site", "DIR", "Folder with a Slurm site's configuration; see headway site.")
]
Annotations: TypeAlias = Annotated[
    Path | None, value("--annotations", "FILE", "CSV with further columns for the jobs, such as deadlines.")
]
Rules: TypeAlias = Annotated[
    list[str] | None, value("--rule", "KEY=VALUE", "Reading rule, such as overrun=trust; may be repeated.")
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
    str, value("--policy", "SPEC", f"Policy in force, by default slurm(seed=1) for a site, else easy: {SPEC}")
]
Simulated: TypeAlias = Annotated[
    bool, flag("--simulated", "Take the log as simulated under the policy, not as recorded.")
]
Draws: TypeAlias = Annotated[int, number("--draws", "N", "Number of simulated futures.", 10, 10_000)]
Seed: TypeAlias = Annotated[int, number("--seed", "N", "Seed of the random numbers.", 0)]
Seeds: TypeAlias = Annotated[
    int, number("--seeds", "N", "Number of phases of the controller's clocks to simulate.", 1, 100)
]
Out: TypeAlias = Annotated[
    Path | None, value("--out", "DIR", "Write schedule, summary and provenance into this folder.")
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
    bool, flag("--spreadsheet", "In CSV files, quote names that a spreadsheet would take for formulas.")
]
Json: TypeAlias = Annotated[bool, flag("--json", "Print one JSON document instead of tables.")]
Quiet: TypeAlias = Annotated[bool, flag("--quiet", "Print nothing but errors.")]


FEEDBACK = ("sessions", "fields")
"""How --feedback finds the job that a user waited for."""


def parse_rules(given: Sequence[str] | None) -> dict[str, str]:
    """``KEY=VALUE`` texts as a dictionary; what the keys mean is the reader's business."""
    rules: dict[str, str] = {}
    for text in given or ():
        key, equals, value = (part.strip() for part in text.partition("="))
        if not (key and equals and value):
            raise UsageError(f"--rule {text!r} must be written KEY=VALUE, as in --rule overrun=trust")
        if rules.get(key, value) != value:
            raise UsageError(f"--rule {key} is given twice, as {rules[key]} and as {value}")
        rules[key] = value
    return rules


def check_choices(
    procs: int | None, platform: str | None, json: bool = False, quiet: bool = False, site: Path | None = None
) -> None:
    """Refuse options that contradict each other before anything is read."""
    if site is not None and (procs is not None or platform is not None):
        raise UsageError("give either --site or --procs or --platform: a site says what its machine is")
    if procs is not None and platform is not None:
        raise UsageError("give either --procs or --platform, not both")
    if json and quiet:
        raise UsageError("give either --json or --quiet, not both")


def chosen_platform(procs: int | None, platform: str | None) -> Platform | None:
    """The machine the options ask for, or None where the log has to say."""
    if procs is not None:
        return Platform.procs(procs)
    return None if platform is None else Platform.load(platform)


def log_platform(workload: Workload, options: str = "--procs N or --platform FILE") -> Platform:
    """The machine the log's header describes; else an error that names the command's options for one."""
    procs = workload.header.max_procs
    if procs is None and workload.source.format.startswith("sacct"):
        seen = workload.header.get("Note") or "its records do not say"
        raise UsageError(
            f"{workload.source.name}: Slurm's records do not say how large the machine is; give "
            f"{options} ({seen})"
        )
    if procs is None:
        raise UsageError(
            f"{workload.source.name}: the header has {workload.header.without_procs}, so the machine's size "
            f"is not known; give {options}"
        )
    return Platform.procs(procs)


def feedback_call(text: str) -> Call:
    """What --feedback asks for, as the transformation of that name."""

    call = parse_call(text)
    if call.name not in FEEDBACK or call.args or set(call.kwargs) - {"think"}:
        raise UsageError(
            f"--feedback must be {' or '.join(FEEDBACK)}, or say how long users think at most, as in "
            f"'sessions(think=10min)', not {one_line(text, 60)!r}"
        )
    return replace(call, name="feedback", kwargs={"by": call.name, **call.kwargs})


def site_of(trace: str, rules: dict[str, str], given: Path | None = None) -> Site | None:
    """The site that --site names, or that the log is: a folder with a site's configuration.

    The rule `zone` is for the clock times of all its files.
    """
    from headway.site import names_site

    if given is None and not names_site(trace):
        return None
    from headway.site import Site

    if given is not None and names_site(trace):
        raise UsageError(f"{trace} is a site itself; give a log with --site, or the folder alone")
    return Site.load(trace if given is None else given, rules.get("zone", "UTC"))


def read_workload(
    trace: str,
    rules: dict[str, str],
    annotations: Path | None = None,
    site: Site | None = None,
    *,
    cancelled: bool = False,
    unread: Collection[str] = (),
) -> Workload:
    """The workload of a log, or of a site's folder, with its annotations.

    With ``cancelled`` also those jobs of a site that were cancelled while they waited. Only rules among
    ``unread`` may be about what the log's format does not have.
    """
    from headway.site import names_site
    from headway.workload import read, read_annotations
    from headway.workload.cancelled import ran_only
    from headway.workload.rules import choose, refuse_unread

    choose(rules)  # `read` has other keywords too, which are not rules
    site = site or site_of(trace, rules)
    if site is None:
        workload = read(trace, format=None, compiled=None, **rules)
    else:
        workload = site.read_jobs(None if names_site(trace) else trace, **rules)
        workload = workload if cancelled else ran_only(workload)
    events = () if site is None else ("zone",)  # whose clock times are in it too
    refuse_unread(rules, workload.source.format, trace, but=(*unread, *events))
    return workload if annotations is None else read_annotations(workload, annotations)


@dataclass(frozen=True)
class WantedOutages:
    """Files of events, a model of failures, and what becomes of jobs that lose their processors."""

    files: tuple[Path, ...] = ()
    failures: str | None = None
    on_failure: str = "requeue"

    @classmethod
    def parse(
        cls, events: Sequence[Path] | None, failures: str | None, on_failure: str | None
    ) -> WantedOutages:
        """What the options say, checked as far as that can be done before anything is read."""
        from headway.platform.outages import ON_FAILURE

        if on_failure is not None and on_failure not in ON_FAILURE:
            raise UsageError(f"--on-failure must be {' or '.join(ON_FAILURE)}, not {on_failure!r}")
        if on_failure is not None and not events and failures is None:
            raise UsageError(
                "--on-failure says what becomes of jobs that fail; give --events or --failures too"
            )
        for path in events or ():
            if not path.exists() or path.is_dir():
                wrong = "is a folder" if path.is_dir() else "there is no such file"
                raise UsageError(f"--events {path}: {wrong}; give a CSV of events")
        if failures is not None:
            from headway.platform.failures import parse_failures

            parse_failures(failures)
        return cls(tuple(events or ()), failures, on_failure or "requeue")

    def caution(self, procs: int, workload: Workload) -> str:
        """What to say beforehand of jobs that can hardly end; mostly nothing."""
        if self.failures is None or self.on_failure != "requeue":
            return ""
        from headway.platform.failures import parse_failures

        return parse_failures(self.failures).caution(procs, workload)

    def on(self, platform: Platform, workload: Workload) -> Platform:
        """The machine with these outages; the same machine where none are asked for."""
        if not self.files and self.failures is None:
            return platform
        from headway.platform.outages import Outages
        from headway.site.outages import load_outages

        found = Outages((), self.on_failure)
        for path in self.files:
            zone = workload.rules.get("zone", "UTC")
            found += load_outages(path, platform, workload.header.unix_start, self.on_failure, zone)
        if self.failures is not None:
            procs = platform.total_procs
            found += Outages.failures(self.failures, procs, workload, on_failure=self.on_failure)
        return platform.with_outages(found)


NO_OUTAGES = WantedOutages()


@dataclass(frozen=True)
class Inputs:
    """What every run of one command shares."""

    workload: Workload
    platform: Platform
    display: Display
    outages: WantedOutages = NO_OUTAGES

    @classmethod
    def read(
        cls,
        trace: str,
        procs: int | None,
        platform: str | None,
        annotations: Path | None,
        rules: dict[str, str],
        quiet: bool,
        site: Path | None = None,
        outages: WantedOutages = NO_OUTAGES,
        feedback: str | None = None,
        sizes: str = "--procs N or --platform FILE",
        defaults: dict[str, str] | None = None,
    ) -> Inputs:
        """Read the log; the machine is the one asked for, else the site's or the one in the log's header.

        `sizes` are the options of the command that say how large the machine is, `defaults` reading rules of
        its own.
        """
        machine = chosen_platform(procs, platform)
        wanted = None if feedback is None else feedback_call(feedback)
        display = Display(quiet)
        with display.working(f"reading {trace}"):
            found = site_of(trace, rules, site)
            chosen = (defaults or {}) | rules
            unread = (*(defaults or ()), *(("zone",) if outages.files else ()))  # events have clock times too
            workload = read_workload(
                trace, chosen, annotations, found, cancelled=wanted is None, unread=unread
            )
            if wanted is not None:
                from headway.workload.transform import apply

                workload = apply(workload, wanted)
        if machine is None:
            machine = log_platform(workload, sizes) if found is None else found.platform()
        if said := outages.caution(machine.total_procs, workload):
            display.say(said)
        return cls(workload, machine, display, outages)

    def fitted(self, procs: int) -> Inputs:
        """The same without jobs of more than `procs` processors, which the ledger then names."""
        return replace(self, workload=self.workload.fit_to(procs))

    def changed(self, transformation: str) -> Inputs:
        """The same with a transformation of the log, which must keep its jobs one to one."""
        from headway.workload.transform import apply

        return replace(self, workload=apply(self.workload, transformation))

    def run(self, spec: Spec, seed: int, platform: Platform | None = None) -> Result:
        """Simulate one policy, on the common machine or another."""
        from headway import simulate

        with self.display.working(spec.brief) as progress:
            schedule: Result = simulate(
                self.workload,
                self.outages.on(platform or self.platform, self.workload),
                spec,
                progress=progress,
                notify=self.display.say,
                seed=seed,
            )
        schedule.provenance["command"] = this_command()
        return schedule
