"""``headway agent``: map tasks to the clusters of a grid, and move waiting ones."""

from __future__ import annotations

from typing import Annotated

from headway.cli import options
from headway.cli.frame import command
from headway.cli.grids import Control, GridFile
from headway.plain import counted


@command("agent", example="headway agent grid.toml --servers --control")
def agent(
    grid: GridFile,
    control: Control = False,
    servers: Annotated[
        bool, options.flag("--servers", "Start the servers of all clusters too, as child processes.")
    ] = False,
    dry_run: Annotated[
        bool, options.flag("--dry-run", "Say what would be done with each task, and do nothing.")
    ] = False,
) -> None:
    """Give tasks to the best clusters, and move waiting ones.

    Everything is journalled before it is done: an agent that was killed goes on where it was. Clients are
    `headway submit`, `status`, `queue` and `cancel`; the page is at the address `page` of GRID.toml.
    """
    from headway.live.agent import LiveAgent
    from headway.live.grid_file import load_grid
    from headway.live.launch import end, start_servers, tell_of_ends
    from headway.live.page import pages_of
    from headway.live.server import log
    from headway.live.serving import alone, serve

    of = load_grid(grid)
    with alone(of.folder, "agent"):
        live = LiveAgent(of, control and not dry_run, log, dry_run)
        started = start_servers(of, control) if servers else []
        addresses = [of.listen, *([of.page] if of.page else [])]
        page = f", page at {of.page}" if of.page else ""
        log(f"agent of {counted(len(of.sites), 'cluster')} at {of.listen}{page}")
        if not live.guard.control:
            log("read-only: nothing is submitted, cancelled or moved; --control lets it act")
        try:
            tell_of_ends(started, of, log)
            serve(of, live, addresses, log, pages_of(live.on_state))
        finally:
            end(started)
