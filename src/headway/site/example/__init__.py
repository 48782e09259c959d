"""A small site to try things with: 20 nodes, three partitions, 26 weeks of jobs.

It is no recorded cluster: the jobs are drawn, and their recorded starts are those of a simulation with other
delays of the controller than the defaults. ``docs/_site/example_site.py`` made it.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from headway.errors import UsageError

FILES = ("slurm.conf", "qos.txt", "associations.cfg", "jobs.txt.gz")


def write_example(folder: Path) -> None:
    """Write the site's folder; one that is there and not empty is refused."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty; give the name of a folder to make")
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (folder / name).write_bytes((files("headway.site.example") / name).read_bytes())
