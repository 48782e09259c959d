"""A Slurm site: its nodes, partitions, QOS, accounts and parameters, and the jobs that ran there."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway.site.model import (
        PARENT,
        Association,
        Limits,
        Node,
        NodeEvent,
        NotModelled,
        Partition,
        Qos,
        Reservation,
    )
    from headway.site.site import Site

__all__ = [
    "PARENT",
    "Association",
    "Limits",
    "Node",
    "NodeEvent",
    "NotModelled",
    "Partition",
    "Qos",
    "Reservation",
    "Site",
    "names_site",
]


def names_site(name: str | Path) -> bool:
    """Whether what is given for a log is a site: a folder, or a file written by hand."""
    return Path(name).is_dir() or str(name).endswith(".toml")


def __getattr__(name: str) -> Any:
    """Load what is asked for: most runs have no site."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{'site' if name == 'Site' else 'model'}"), name)
