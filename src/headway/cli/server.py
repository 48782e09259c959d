"""``headway server``: stand in front of one cluster of a grid."""

from __future__ import annotations

from typing import Annotated

from headway.cli import options
from headway.cli.frame import command
from headway.cli.grids import Control, GridFile
from headway.plain import counted


@command("server", example="headway server grid.toml bordeaux --control")
def server(
    grid: GridFile,
    cluster: Annotated[str, options.argument("CLUSTER", "Which cluster of the grid.")],
    control: Control = False,
) -> None:
    """Serve one cluster of a grid: estimate, submit, cancel.

    Slurm runs the cluster, or it is this machine with so many slots, or a simulation, as GRID.toml says. The
    server listens on a Unix socket that only you can open, unless the file says otherwise.
    """
    from headway.live.grid_file import load_grid
    from headway.live.server import log
    from headway.live.serving import alone, serve, server_of

    of = load_grid(grid)
    site = of.site(cluster)
    with alone(of.folder, site.name):
        tended = server_of(of, site, control)
        size = counted(site.cluster.procs, "processor")
        log(f"{site.name}: {site.kind}, {size}, {site.policy.brief}, at {site.listen}")
        serve(of, tended, [site.listen], log)
