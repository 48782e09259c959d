"""Reading platform files (TOML), the named ones of the package included.

[[cluster]]
name = "rackham"
speed = 1                    # optional
policy = "dbf"               # optional: the cluster's own policy in a grid
procs = 640                  # either this ...

[[cluster.nodes]]            # ... or groups of equal nodes
count = 450
cores = 20
memory_gb = 128              # optional
bandwidth_gb_s = 0.1         # optional
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from headway.documents import parse_toml, read_text
from headway.errors import InputError, UsageError
from headway.platform.cluster import Cluster, NodeGroup
from headway.values import fits

CLUSTER_KEYS = ("name", "speed", "procs", "nodes", "policy")
NODE_KEYS = ("count", "cores", "memory_gb", "bandwidth_gb_s")

_NAMED = files("headway.platform") / "named"
_TABLE = re.compile(r"\s*\[\[\s*cluster\s*(\.\s*nodes\s*)?\]\]")


def named_platforms() -> list[str]:
    """Names of the platforms that come with the package."""
    return sorted(file.name.removesuffix(".toml") for file in _NAMED.iterdir() if file.name.endswith(".toml"))


def read_clusters(source: str | Path) -> tuple[tuple[Cluster, ...], str]:
    """The clusters of a TOML file or of a name, with what errors call it; a file of that name goes first."""
    path = Path(source)
    if path.exists() and not path.is_dir():  # a pipe will do
        return _PlatformFile(read_text(path, "TOML"), str(path)).clusters(), str(path)
    if str(source) in named_platforms():
        text = (_NAMED / f"{source}.toml").read_text("utf-8")
        return _PlatformFile(text, str(source)).clusters(), str(source)
    wrong = "is a folder, not a platform file" if path.is_dir() else "there is no such platform file"
    raise InputError(f"{wrong}, and the named platforms are {', '.join(named_platforms())}", file=path)


class _PlatformFile:
    """The text of one file, and where in it a mistake is. Clusters and node groups are counted from 1."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name

    def clusters(self) -> tuple[Cluster, ...]:
        document = parse_toml(self.text, self.name, finite=False)
        for key in document:
            if key != "cluster":
                raise self.error("unknown key; a platform file holds [[cluster]] tables only", key)
        tables = self.tables(document.get("cluster", []), "cluster")
        if not tables:
            raise InputError("has no cluster; add a [[cluster]] table with name and procs", file=self.name)
        return tuple(self.cluster(table, number) for number, table in enumerate(tables, 1))

    def cluster(self, table: Mapping[str, Any], number: int) -> Cluster:
        self.check_keys(table, CLUSTER_KEYS, ("name",), number)
        if ("procs" in table) == ("nodes" in table):
            raise self.error("needs either procs or [[cluster.nodes]], and not both", "", number)
        groups = [
            self.nodes(group, number, at)
            for at, group in enumerate(self.tables(table.get("nodes", []), "nodes", number), 1)
        ]
        if "nodes" in table and not groups:
            raise self.error("is empty; add a group with count and cores", "nodes", number)
        try:
            return Cluster(**{**table, "nodes": tuple(groups)})
        except UsageError as error:
            raise self.error(str(error), self.culprit(error, CLUSTER_KEYS), number) from None

    def nodes(self, table: Mapping[str, Any], cluster: int, number: int) -> NodeGroup:
        self.check_keys(table, NODE_KEYS, ("count", "cores"), cluster, number)
        try:
            return NodeGroup(**table)
        except UsageError as error:
            raise self.error(str(error), self.culprit(error, NODE_KEYS), cluster, number) from None

    def tables(self, value: Any, key: str, cluster: int = 0) -> list[dict[str, Any]]:
        if fits(value, [dict]):
            return list(value)
        header = "[[cluster.nodes]]" if cluster else "[[cluster]]"
        raise self.error(f"must be written as a list of tables, {header}", key, cluster)

    def check_keys(
        self,
        table: Mapping[str, Any],
        known: tuple[str, ...],
        required: tuple[str, ...],
        cluster: int,
        group: int = 0,
    ) -> None:
        for key in table:
            if key not in known:
                raise self.error(f"unknown key; known are {', '.join(known)}", key, cluster, group)
        for key in required:
            if key not in table:
                raise self.error(f"{key} is missing", "", cluster, group)

    @staticmethod
    def culprit(error: UsageError, keys: tuple[str, ...]) -> str:
        """The key that a message about a value begins with, to find its line."""
        first = str(error).split(" ", 1)[0]
        return first if first in keys else ""

    def error(self, message: str, key: str, cluster: int = 0, group: int = 0) -> InputError:
        table = f"cluster {cluster}" + (f" nodes {group}" if group else "") if cluster else ""
        named = key and not message.startswith(f"{key} ")
        field = ": ".join(part for part in (table, key if named else "") if part)
        return InputError(message, file=self.name, line=self.line(key, cluster, group), field=field or None)

    def line(self, key: str, cluster: int, group: int) -> int | None:
        """The line of a key in the n-th table, or of the table's header; None if written otherwise."""
        at_cluster = at_group = 0
        header = None
        for number, line in enumerate(self.text.splitlines(), 1):
            opened = _TABLE.match(line)
            if opened:
                at_cluster, at_group = (at_cluster, at_group + 1) if opened.group(1) else (at_cluster + 1, 0)
            if (at_cluster, at_group) == (cluster, group):
                header = number if opened else header
                if key and re.match(rf'\s*\[*\s*"?{re.escape(key)}"?\s*[=.\]]', line):
                    return number
        return header
