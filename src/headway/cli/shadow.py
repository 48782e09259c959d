"""``headway shadow``: what a policy would do on a Slurm cluster, beside what Slurm does."""

from __future__ import annotations

import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from headway.cli import options
from headway.cli.display import Display, output, print_json, table_of
from headway.cli.frame import command
from headway.errors import InputError, UsageError
from headway.plain import counted
from headway.policies.spec import parse_spec
from headway.units import SECOND

LONGEST_PAUSE = 86_400
"""Seconds between two looks: a day."""


@command("shadow", example="headway shadow grid.toml bordeaux --policy easy --log week.jsonl")
def shadow(
    grid: Annotated[Path, options.argument("GRID.toml|LOG.jsonl", "The grid's file; or a log, to compare.")],
    cluster: Annotated[str, options.argument("CLUSTER", "Which Slurm cluster of the grid.")] = "",
    policy: Annotated[
        list[str] | None,
        options.value("--policy", "SPEC", "Policy; see headway policies.", show_default=False),
    ] = None,
    log: Annotated[
        Path, options.value("--log", "FILE", "Where each look is added as a line of JSON.")
    ] = Path("shadow.jsonl"),
    every: Annotated[float, options.value("--every", "SECONDS", "Time between two looks.")] = 30,
    looks: Annotated[
        int,
        options.number("--looks", "N", "Stop after N looks at the queue; 0 runs until interrupted.", 0),
    ] = 0,
    json: options.Json = False,
) -> None:
    """Watch a Slurm cluster, and ask policies what they would do.

    It changes nothing on the cluster. Each look is added to a log: what waits, what Slurm started since the
    last look, and what each policy would start now if these jobs were still waiting. `headway shadow
    LOG.jsonl` compares the two afterwards.
    """
    if grid.suffix == ".jsonl":
        return _compare(grid, json)
    if not cluster or not policy:
        raise UsageError(
            "shadow needs a cluster and a policy: headway shadow GRID.toml CLUSTER --policy SPEC"
        )
    if not 0.1 <= every <= LONGEST_PAUSE:
        raise UsageError(f"--every must be from 0.1 to {LONGEST_PAUSE:,} seconds, not {every}")
    import json as text

    from headway.live.grid_file import load_grid
    from headway.live.shadow import Shadow
    from headway.live.wire import NoAnswer

    of, display = load_grid(grid), Display()
    site = of.site(cluster)
    if site.kind != "slurm":
        raise UsageError(f"{cluster} is a {site.kind} cluster; shadow watches Slurm")
    with display.working(f"getting {counted(len(policy), 'policy')} ready"):
        watching = Shadow(of, site, [parse_spec(each) for each in policy])
    tried = made = 0
    with log.open("a", encoding="utf-8") as file:
        try:
            while not looks or tried < looks:
                try:
                    seen = watching.look()
                    file.write(text.dumps(seen) + "\n")
                    file.flush()
                    made += 1
                    display.say(_told(seen))
                except NoAnswer as error:  # unknown is not empty: nothing is written
                    display.say(str(error))
                tried += 1
                if not looks or tried < looks:
                    time.sleep(every)
        finally:
            if made:
                display.say(f"{counted(made, 'look')} added to {log}; headway shadow {log} compares them")
    if not made:
        raise NoAnswer(f"{cluster} did not answer at {counted(tried, 'look')}; nothing was added to {log}")


def _told(seen: dict[str, Any]) -> str:
    """A look in a sentence."""
    would = [f"{policy} would start {len(asked['start'])}" for policy, asked in seen["policies"].items()]
    at = time.strftime("%H:%M:%S", time.localtime(seen["time"] / SECOND))
    return (
        f"{at} {counted(len(seen['waiting']), 'job')} waiting, {seen['running']:,} running; "
        f"Slurm started {len(seen['slurm']):,}; {', '.join(would)}"
    )


LONGEST_LINE = 64 << 20
"""Characters of a line; one that is longer is cut, and is no record then."""


def _compare(file: Path, json: bool) -> None:
    from headway.live.shadow import compare

    try:
        with file.open(encoding="utf-8") as lines:
            found = compare(iter(partial(lines.readline, LONGEST_LINE), ""), file)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=file) from None
    except UnicodeDecodeError:
        raise InputError("is not text in UTF-8; headway shadow writes JSON lines", file=file) from None
    if json:
        print_json([asdict(each) for each in found])
        return
    counts = ("~>jobs that Slurm started", "~>it earlier", "~>at the same look", "~>it later")
    table = table_of("~policy", *counts, "~>mean lead (s)")
    for each in found:
        numbers = (each.jobs, each.earlier, each.same, each.later)
        table.add_row(each.policy, *map(str, numbers), f"{each.mean_lead:.1f}")
    output().print(table)
