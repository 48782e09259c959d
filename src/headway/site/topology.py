"""The network of a site: switches with nodes below them, from topology.conf (TopologyPlugin=topology/tree).

    SwitchName=leaf1 Nodes=n[1-16]
    SwitchName=leaf2 Nodes=n[17-32]
    SwitchName=spine Switches=leaf[1-2]

What `scontrol show topology` prints says the same in the same words and is read as well.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headway.errors import InputError
from headway.site.config import Config
from headway.site.entries import Entry, configuration
from headway.site.model import Node, Switch
from headway.site.node_names import expanded

if TYPE_CHECKING:
    from headway.site.site import Site

FILE = "topology.conf"
MANY = 10_000
"""Switches beyond which a file is taken for a mistake."""


def is_tree(config: Config) -> bool:
    """Whether the nodes of jobs are chosen by the tree of switches."""
    plugin = config.get("TopologyPlugin").lower().removeprefix("topology/")
    return plugin == "tree" and "dragonfly" not in config.get("TopologyParam").lower()


def is_optional(config: Config) -> bool:
    """Whether the tree counts only for jobs that ask for a number of switches (TopoOptional)."""
    return "topooptional" in config.get("TopologyParam").lower()


def read_switches(folder: Path, config: Config, nodes: tuple[Node, ...]) -> tuple[Switch, ...]:
    """The switches of a site's folder in the order of the file, which decides among equals."""
    file = folder / FILE
    if not is_tree(config) or not file.is_file():
        return ()
    entries = [entry for entry in configuration(file) if "SwitchName" in entry]
    if not entries:
        raise InputError(f"defines no switch; write it again: scontrol show topology > {FILE}", file=file)
    names = [entry.get("SwitchName") for entry in entries]
    for place, entry in enumerate(entries):
        if names[place] in names[:place]:
            raise entry.error(f"defines the switch {names[place]} a second time", "SwitchName")
    if len(entries) > MANY:
        raise InputError(f"defines more than {MANY:,} switches", file=file)
    return _joined(entries, {name: place for place, name in enumerate(names)}, nodes)


def _joined(entries: list[Entry], place_of: dict[str, int], nodes: tuple[Node, ...]) -> tuple[Switch, ...]:
    """Switches with their levels, and the nodes that are below them at any depth."""
    places = {node.name: place for place, node in enumerate(nodes)}
    below: dict[int, tuple[int, set[int]]] = {}
    children: dict[int, list[int]] = {}
    parents = list(range(len(entries)))
    for k, entry in enumerate(entries):
        if (entry.get("Nodes") and "Level" not in entry) or entry.get("Level") == "0":
            names = places if entry.get("Nodes").upper() == "ALL" else entry.listed("Nodes", expanded)
            below[k] = 0, {places[name] for name in names if name in places}
            continue
        children[k] = []
        for name in entry.listed("Switches", expanded):
            if name not in place_of or place_of[name] == k:
                raise entry.error(f"names {name}, which is not another switch of this file", "Switches")
            children[k].append(place_of[name])
            parents[place_of[name]] = k
        if not children[k]:
            raise entry.error("has neither Nodes nor Switches")
    waiting = [k for k in range(len(entries)) if k not in below]
    while waiting:
        known = [k for k in waiting if all(child in below for child in children[k])]
        if not known:
            raise entries[waiting[0]].error("is below itself: the switches are not a tree", "Switches")
        for k in known:
            level = 1 + max(below[child][0] for child in children[k])
            below[k] = level, set().union(*(below[child][1] for child in children[k]))
        waiting = [k for k in waiting if k not in below]
    return tuple(
        Switch(name, below[k][0], parents[k], tuple(sorted(below[k][1]))) for name, k in place_of.items()
    )


def is_one_network(site: Site, nodes: tuple[int, ...]) -> bool:
    """Whether the highest switches above some nodes are above all of them, or there are none."""
    above = [switch for switch in site.switches if not set(nodes).isdisjoint(switch.nodes)]
    highest = max((switch.level for switch in above), default=0)
    known = not site.switches or bool(above)
    return known and all(set(nodes) <= set(one.nodes) for one in above if one.level == highest)


def steps_between(switches: tuple[Switch, ...]) -> list[list[int]]:
    """How many links lead from each switch to each other one; -1 where none do."""
    links: list[list[int]] = [[] for _ in switches]
    for place, switch in enumerate(switches):
        if switch.parent != place:
            links[place].append(switch.parent)
            links[switch.parent].append(place)
    found = []
    for first in range(len(switches)):
        steps = [-1] * len(switches)
        steps[first], ahead = 0, [first]
        for here in ahead:  # grows as it goes
            for other in links[here]:
                if steps[other] < 0:
                    steps[other] = steps[here] + 1
                    ahead.append(other)
        found.append(steps)
    return found
