"""Slurm's nodes as they are now: which are down or drained, and how many CPUs are left."""

from __future__ import annotations

from dataclasses import dataclass, replace

from headway.live import outside
from headway.live.slurm.commands import Slurm
from headway.live.slurm.queue import whole
from headway.live.wire import NoAnswer
from headway.plain import cut
from headway.site import Site
from headway.site.model import NodeEvent, outage_of

LOOK = ("sinfo", "--noheader", "--all", "--Node", "--format=%N|%P|%a|%T|%C")
"""Node, partition, the partition's state, the node's state, CPUs as allocated/idle/other/all."""
FRESH = 5.0
"""Seconds for which a look is used again."""


@dataclass(frozen=True)
class Node:
    """A node in one of its partitions."""

    name: str
    partition: str
    opened: str
    """The partition's state."""
    state: str
    cpus: int
    """Those that have a job or may get one."""


class Nodes:
    """The nodes of a cluster, looked at now and then."""

    def __init__(self, slurm: Slurm) -> None:
        self.slurm = slurm
        self._looked, self._found = -FRESH, list[Node]()

    def look(self) -> list[Node]:
        """Each node in each of its partitions."""
        if outside.steady() - self._looked > FRESH:
            self._found = parse_nodes(self.slurm.run(*LOOK))
            self._looked = outside.steady()
        return self._found

    def usable(self, procs: int, partition: str = "") -> int:
        """How many of so many processors the nodes of a partition, or all, can have jobs on now."""
        cpus = {node.name: node.cpus for node in self.look() if partition in ("", node.partition)}
        return min(procs, sum(cpus.values()))

    def at(self, site: Site) -> Site:
        """A site with its nodes and partitions in the states of now."""
        nodes = {node.name: _state(node.state) for node in self.look()}
        partitions = {node.partition: node.opened.upper() for node in self.look()}
        return replace(
            site,
            nodes=tuple(replace(each, state=nodes.get(each.name, each.state)) for each in site.nodes),
            partitions=tuple(
                replace(each, state=partitions.get(each.name, each.state)) for each in site.partitions
            ),
        )

    def since(self, site: Site, last: int) -> Site:
        """A site of which all is known up to ``last`` (s since 1970), with events that tell what is away now.

        What is away by neither went away then, at the earliest; what is not away any more came back then.
        """
        away = {(node.name, ""): node.state for node in self.look() if outage_of(node.state)}
        away |= {("", node.partition): node.opened for node in self.look() if node.opened.upper() != "UP"}
        events = []
        for event in site.events:
            is_over = event.end is not None or away.pop((event.node, event.partition), None) is None
            ended = max(event.start, last) if is_over and event.end is None else event.end
            events.append(replace(event, end=ended))
        events += [NodeEvent(node, last, None, state, "", part) for (node, part), state in away.items()]
        return replace(all_up(site), events=tuple(events))


def all_up(site: Site) -> Site:
    """A site with every node and partition in use."""
    return replace(
        site,
        nodes=tuple(replace(each, state="IDLE") for each in site.nodes),
        partitions=tuple(replace(each, state="UP") for each in site.partitions),
    )


def parse_nodes(text: str) -> list[Node]:
    """The nodes of sinfo's output; if a line of it cannot be read, it is unknown which there are."""
    found = []
    for line in filter(str.strip, text.splitlines()):
        try:
            found.append(parse_line(line))
        except ValueError:
            raise NoAnswer(f"sinfo prints a line that is not a node's: {cut(line, 100)}") from None
    return found


def parse_line(line: str) -> Node:
    """One line of sinfo.

    >>> parse_line("n1|main*|up|drained|0/0/4/4").cpus
    0
    """
    name, partition, opened, state, cpus = line.split("|")
    allocated, idle, *_ = map(whole, cpus.split("/"))
    return Node(name, partition.removesuffix("*"), opened, state, allocated + idle)


def _state(shown: str) -> str:
    """The state of a node in the word of Slurm's rules: sinfo marks those that do not answer, as in down*."""
    return (outage_of(shown) or "idle").upper()
