"""From options to what a run needs: rules, workload, platform."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from headway.errors import UsageError
from headway.grammar import parse_call
from headway.plain import one_line
from headway.platform import Platform

if TYPE_CHECKING:
    from headway.grammar import Call
    from headway.site import Site
    from headway.workload import Workload

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
    procs: int | None,
    platform: str | None,
    json: bool = False,
    quiet: bool = False,
    site: Path | None = None,
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
        seen = workload.header.get("Note") or "its records do not tell"
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
    from headway.site.folder import names_site

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
    from headway.site.folder import names_site
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
