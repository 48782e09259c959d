"""Which grid a command is about, and the words its options share."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from headway.cli import options
from headway.errors import UsageError
from headway.units import LONGEST, microseconds

if TYPE_CHECKING:
    from headway.live.grid_file import Grid
    from headway.live.wire import Remote

GridFile: TypeAlias = Annotated[Path, options.argument("GRID.toml", "The grid's file.")]
OfGrid: TypeAlias = Annotated[
    Path | None,
    options.value("--grid", "GRID.toml", "The grid's file; else $HEADWAY_GRID, else grid.toml here."),
]
Control: TypeAlias = Annotated[
    bool, options.flag("--control", "Act on the clusters; without it nothing is changed anywhere.")
]
Timeout: TypeAlias = Annotated[
    str, options.value("--timeout", "TIME", "Longest wait: seconds, or 10m, 2h, 1d.")
]
task_number = options.whole_number("TASK", 0)
Number: TypeAlias = Annotated[int, options.argument("TASK", "The task's number.", parser=task_number)]
LOOK_FIRST = "so look with headway queue before you ask again"
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def chosen(file: Path | None) -> Grid:
    """The grid of a client's command."""
    from headway.live.grid_file import load_grid

    named = file or Path(os.environ.get("HEADWAY_GRID", "grid.toml"))
    if file is None and not named.exists():
        raise UsageError("no grid is given; name its file with --grid GRID.toml or in $HEADWAY_GRID")
    return load_grid(named)


def agent_of(grid: Grid, seconds: float = float("inf")) -> Remote:
    """The agent of a grid, which may itself have to wait for each of its servers; for so long at most."""
    from headway.live.clients import TellingAgent

    patience = max(0.1, min(seconds, grid.timeout * (len(grid.sites) + 1)))
    return TellingAgent(grid.listen, token=grid.secret(), ca=grid.tls_ca, timeout=patience)


def ask(grid: Grid, request: str, **data: Any) -> dict[str, Any]:
    """The agent's answer to a client."""
    from headway.live.wire import BrokenOff, NoAnswer, TooSlow, Untrusted

    agent = agent_of(grid)
    try:
        return agent.ask(request, **data)
    except TooSlow as error:
        remedy = f"it may still do what it was asked for, {LOOK_FIRST}"
        raise UsageError(f"the agent is busy or hangs: {error}; {remedy}") from None
    except BrokenOff as error:
        remedy = f"it may have done what it was asked for, {LOOK_FIRST}"
        raise UsageError(f"the agent does not answer: {error}; {remedy}") from None
    except Untrusted as error:
        raise UsageError(f"the agent was not asked: {error}") from None
    except NoAnswer as error:
        remedy = f"start it with headway agent {grid.file}"
        raise UsageError(f"the agent does not answer: {error}; {remedy}") from None
    finally:
        agent.close()


def clock(us: int | None) -> str:
    """A time of day, or an instant of a simulation in seconds."""
    if us is None or us > 1 << 60:
        return ""
    if us < 1 << 50:
        return f"{us / 1e6:g} s"
    stamp = time.localtime(us / 1e6)
    day = "" if time.strftime("%F", stamp) == time.strftime("%F") else time.strftime("%F ", stamp)
    return day + time.strftime("%H:%M:%S", stamp)


def microseconds_of(text: str, option: str) -> int:
    """A duration such as 90, 10m or 1.5h in µs."""
    number, factor = (text[:-1], UNITS[text[-1]]) if text and text[-1] in UNITS else (text, 1)
    try:
        found = microseconds(number) * factor
    except ValueError:
        raise UsageError(f"{option} must be a time such as 90, 10m, 2h or 1d, not {text!r}") from None
    if found < 0:
        raise UsageError(f"{option} must not be negative, not {text}")
    if found > LONGEST:
        raise UsageError(f"{option} is longer than can be kept: {text[:40]}")
    return found
