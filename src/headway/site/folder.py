"""A folder with what a site has: which file is what, and a site from all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from headway.errors import InputError
from headway.site import values
from headway.site.access import read_groups
from headway.site.accounts import dumped_qos, qos_of, read_associations, read_qos, table, tree
from headway.site.config import Config, scheduler_parameters
from headway.site.diagnosis import read_diagnosis
from headway.site.entries import Entry, Lines, blocks_shown, configuration, parameters_shown
from headway.site.happenings import read_events, read_reservations
from headway.site.machine import (
    is_future,
    lines_of,
    names_of,
    node_sets,
    nodes,
    partitions,
    unknown_keys,
)
from headway.site.model import Association, NotModelled, Qos
from headway.site.modelled import parameters_not_modelled
from headway.site.topology import FILE as TOPOLOGY
from headway.site.topology import is_tree, read_switches
from headway.site.version import with_version

JOBS = ("jobs.txt", "jobs.txt.gz", "jobs.json", "jobs.json.gz", "jobs.swf", "jobs.swf.gz")
CONFIGURATION = ("slurm.conf", "config.txt")
_OBJECTS = ("nodename", "partitionname", "nodeset", "downnodes", "frontendname", "switchname")


def is_site(path: str | Path) -> bool:
    """Whether a path is a folder that holds a site."""
    folder = Path(path)
    return folder.is_dir() and any((folder / name).is_file() for name in (*CONFIGURATION, "site.toml"))


def read(folder: Path, zone: str) -> Parts:
    """The parts of a site in a folder, or in a file written by hand; its clocks show the time of `zone`."""
    if folder.suffix == ".toml" and folder.is_file():
        return read_toml(folder, zone)
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "there is no such folder"
        message = f"{what}; a site is a folder with slurm.conf (or config.txt, partitions.txt, nodes.txt)"
        raise InputError(message, file=folder)
    if (folder / "site.toml").is_file():
        return read_toml(folder / "site.toml", zone)
    config, machine = _configuration(folder)
    config = with_version(folder, config, _jobs(folder))
    qos, qos_lines = _qos(folder)
    associations, association_lines = _associations(folder, config)
    return Parts(
        folder,
        config,
        _objects(folder, machine, "nodes.txt", "NodeName"),
        _objects(folder, machine, "partitions.txt", "PartitionName"),
        lines_of(machine, "NodeSet"),
        lines_of(machine, "DownNodes"),
        qos,
        qos_lines,
        associations,
        association_lines,
        _name(folder, config),
        _jobs(folder),
        zone,
    )


def read_toml(file: Path, zone: str) -> Parts:
    """The parts of a site written by hand; files of the folder beside it add what they have."""
    from headway.site.by_hand import SiteFile

    written = SiteFile(file)
    name, jobs = written.document.get("name"), written.document.get("jobs")
    folder = file.parent
    config = with_version(folder, written.parameters(), folder / str(jobs) if jobs else _jobs(folder))
    qos_lines = {entry.get("Name"): entry for entry in written.entries("qos", "Name")}
    associations, association_lines = tree(written.given_associations())
    return Parts(
        folder,
        config,
        list(written.entries("node", "NodeName")),
        list(written.entries("partition", "PartitionName")),
        [],
        [],
        tuple(qos_of(name, entry) for name, entry in qos_lines.items()),
        qos_lines,
        associations,
        association_lines,
        str(name) if name else _name(folder, config),
        folder / str(jobs) if jobs else _jobs(folder),
        zone,
    )


class Parts(NamedTuple):
    """What a site is made of, whichever way it is written, with the lines that errors name."""

    folder: Path
    config: Config
    node_lines: list[Entry]
    partition_lines: list[Entry]
    set_lines: list[Entry]
    down_lines: list[Entry]
    qos: tuple[Qos, ...]
    qos_lines: dict[str, Entry]
    associations: tuple[Association, ...]
    association_lines: list[Entry]
    name: str
    jobs: Path | None
    zone: str

    @property
    def lines(self) -> Lines:
        """The lines of partitions, QOS and associations."""
        listed = self.partition_lines
        partitions = {name: line for line in listed for name in values.names(line.get("PartitionName"))}
        return Lines(partitions, self.qos_lines, self.association_lines)

    @property
    def leaves_selection_open(self) -> bool:
        """Whether neither slurm.conf nor the version tells how nodes are chosen."""
        if self.config.version is not None:
            return False
        from_slurm = any(self.config.where(key).startswith("slurm.conf") for key in self.config)
        return from_slurm and "SelectType" not in self.config

    def fields(self) -> dict[str, Any]:
        """The fields of `Site`; files of the folder add what only they have."""
        folder, config = self.folder, self.config
        site_nodes = nodes(one for one in self.node_lines if not is_future(one))
        if not site_nodes:
            message = "defines no nodes; add NodeName lines or nodes.txt (scontrol show node)"
            raise InputError(message, file=folder)
        foreseen = [name for one in filter(is_future, self.node_lines) for name in names_of(one)]
        nowhere: dict[str, tuple[int, ...]] = dict.fromkeys(foreseen, ())
        sets = nowhere | node_sets(self.set_lines, site_nodes, nowhere)
        site_partitions = partitions(self.partition_lines, site_nodes, sets)
        if not site_partitions:
            message = "defines no partition; add PartitionName lines or partitions.txt"
            raise InputError(f"{message} (scontrol show partition)", file=folder)
        exported, diagnosis = read_diagnosis(folder)
        return {
            "name": self.name,
            "nodes": site_nodes,
            "partitions": site_partitions,
            "qos": self.qos,
            "associations": self.associations,
            "config": config,
            "scheduler": scheduler_parameters(config),
            "usage": _usage(folder),
            "exported": exported,
            "diagnosis": diagnosis,
            "licenses": _licenses(config),
            "groups": read_groups(folder / "groups.txt"),
            "events": tuple(one for one in read_events(folder / "events.txt", self.zone) if one.is_outage),
            "reservations": read_reservations(folder / "reservations.txt", site_nodes, self.zone),
            "switches": read_switches(folder, config, site_nodes),
            "jobs": self.jobs,
            "zone": self.zone,
            "folder": folder,
        }

    def not_modelled(self) -> Iterator[NotModelled]:
        """Parameters, keys of nodes and partitions, and files that are not taken into account."""
        yield from parameters_not_modelled(self.config)
        if self.leaves_selection_open:
            name = "SelectType (not set: taken as select/cons_tres, as since 23.11; select/linear before)"
            yield NotModelled(name, "", "slurm.conf")
        for lines, kind in ((self.node_lines, "NodeName"), (self.partition_lines, "PartitionName")):
            seen: set[str] = set()
            for entry in lines:
                for key, value in unknown_keys(entry, kind):
                    if key.lower() not in seen:
                        seen.add(key.lower())
                        yield NotModelled(f"{kind} {key}", value, entry.where)
        for entry in self.down_lines:
            yield NotModelled(
                "DownNodes (to be written into events.txt)", entry.get("DownNodes"), entry.where
            )
        unread = ("topology.yaml", "burst_buffer.conf")
        for name in unread if is_tree(self.config) else (TOPOLOGY, *unread):
            if (self.folder / name).is_file():
                yield NotModelled(name, "", name)
        if is_tree(self.config) and not (self.folder / TOPOLOGY).is_file():
            name = f"TopologyPlugin ({TOPOLOGY} is missing: scontrol show topology > {TOPOLOGY})"
            yield NotModelled(name, "topology/tree", self.config.where("TopologyPlugin"))


def _name(folder: Path, config: Config) -> str:
    return config.get("ClusterName") or folder.resolve().name


def _jobs(folder: Path) -> Path | None:
    """The log that lies in a site's folder."""
    return next((folder / name for name in JOBS if (folder / name).is_file()), None)


def _configuration(folder: Path) -> tuple[Config, list[Entry]]:
    """Parameters, and the lines of slurm.conf that define nodes, partitions and sets of nodes."""
    file = next((folder / name for name in CONFIGURATION if (folder / name).is_file()), None)
    if file is None:
        message = "is a folder without slurm.conf and config.txt (scontrol show config), so it is not a "
        message += "site; name the folder of a site, or a log"
        raise InputError(message, file=folder)
    if file.name != "slurm.conf":
        return Config(_pairs(list(parameters_shown(file)))), []
    entries = list(configuration(file))
    machine = [entry for entry in entries if next(iter(entry.pairs)).lower() in _OBJECTS]
    plain = [entry for entry in entries if next(iter(entry.pairs)).lower() not in _OBJECTS]
    return Config(_pairs(plain)), machine


def _pairs(entries: list[Entry]) -> list[tuple[str, str, Entry | None]]:
    return [(key, value, entry) for entry in entries for key, value in entry.pairs.items()]


def _objects(folder: Path, machine: list[Entry], file: str, kind: str) -> list[Entry]:
    """Nodes or partitions: scontrol's, which have every default in them, else those of slurm.conf."""
    if (folder / file).is_file():
        return list(blocks_shown(folder / file, kind))
    return lines_of(machine, kind)


def _qos(folder: Path) -> tuple[tuple[Qos, ...], dict[str, Entry]]:
    file = folder / "qos.txt"
    if file.is_file():
        return read_qos(file)
    dump = folder / "associations.cfg"
    return dumped_qos(dump) if dump.is_file() else ((), {})


def _associations(folder: Path, config: Config) -> tuple[tuple[Association, ...], list[Entry]]:
    for name in ("associations.cfg", "associations.txt"):
        if (folder / name).is_file():
            return read_associations(folder / name, config.get("ClusterName"))
    return (), []


def _usage(folder: Path) -> Mapping[tuple[str, str], float]:
    """Raw usage by account and user from `sshare --all --parsable2 --long`."""
    file = folder / "shares.txt"
    if not file.is_file():
        return {}
    usage: dict[tuple[str, str], float] = {}
    for entry in table(file, "shares"):
        text = entry.get("RawUsage").strip()
        try:
            usage[entry.get("Account").strip(), entry.get("User").strip()] = float(text or 0)
        except ValueError:
            raise entry.error(f"{text!r} is not a number", "RawUsage") from None
    return usage


def _licenses(config: Config) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in values.names(config.get("Licenses")):
        name, _, count = part.replace("*", ":").partition(":")
        try:
            found[name] = values.whole(count or "1")
        except ValueError as error:
            raise config.error(str(error), "Licenses") from None
    return found
