"""A minimal reading of slurm.conf, as much as the recorded runs need."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from reference.slurm.machine import Machine, Node, Partition, Settings, Switch, node_set


def minutes(text: str) -> int | None:
    """Minutes of a time such as 30, 6:00:00, 1-0 or INFINITE (None)."""
    if text.upper() in ("INFINITE", "UNLIMITED"):
        return None
    days, _, rest = text.rpartition("-")
    parts = [int(part) for part in rest.split(":")]
    if days:
        parts += [0] * (3 - len(parts))
        return int(days) * 1440 + parts[0] * 60 + parts[1] + (parts[2] > 0)
    if len(parts) == 3:
        return parts[0] * 60 + parts[1] + (parts[2] > 0)
    return parts[0]


def seconds(text: str) -> int:
    """Seconds of a period such as 7-0, 0-12, 12:00:00 or 300 (minutes where it has a day or a colon)."""
    if "-" not in text and ":" not in text:
        return int(text) * 60
    whole = minutes(text)
    assert whole is not None
    return whole * 60


def expand(text: str) -> list[str]:
    """Names of a host list such as n[1-3,7],m2."""
    names = []
    for part in re.findall(r"[^,\[]+(?:\[[^\]]*\])?", text):
        found = re.fullmatch(r"([^\[]+)\[([^\]]*)\]", part)
        if not found:
            names.append(part)
            continue
        for piece in found[2].split(","):
            low, _, high = piece.partition("-")
            names += [f"{found[1]}{i}" for i in range(int(low), int(high or low) + 1)]
    return names


class Conf:
    """The configuration as lists of keys and values; keys in lower case."""

    def __init__(self, path: Path) -> None:
        self.values: dict[str, str] = {}
        self.nodes: list[dict[str, str]] = []
        self.partitions: list[dict[str, str]] = []
        for line in path.read_text("utf-8").splitlines():
            line = line.split("#")[0].strip()
            if not line:
                continue
            fields = {}
            for word in line.split():
                key, _, value = word.partition("=")
                fields[key.lower()] = value
            if "nodename" in fields:
                self.nodes.append(fields)
            elif "partitionname" in fields:
                self.partitions.append(fields)
            else:
                key, _, value = line.partition("=")
                self.values[key.strip().lower()] = value.strip()

    def number(self, key: str, default: int) -> int:
        return int(self.values.get(key.lower(), default))

    @property
    def scheduler(self) -> dict[str, str]:
        words = self.values.get("schedulerparameters", "").split(",")
        return {key: value for key, _, value in (word.partition("=") for word in words) if key}


def load_machine(path: Path) -> tuple[Machine, Conf]:
    conf = Conf(path)
    nodes = []
    for fields in conf.nodes:
        for name in expand(fields["nodename"]):
            gres = re.search(r"gpu:(?:\w+:)?(\d+)", fields.get("gres", ""))
            nodes.append(
                Node(
                    name,
                    int(fields.get("cpus", 1)),
                    int(fields.get("realmemory", 1)),
                    int(fields.get("weight", 1)),
                    frozenset(filter(None, fields.get("feature", fields.get("features", "")).split(","))),
                    int(gres[1]) if gres else 0,
                    int(fields.get("threadspercore", 1)),
                )
            )
    index = {node.name: i for i, node in enumerate(nodes)}
    partitions = {}
    for fields in conf.partitions:
        name = fields["partitionname"]
        members = list(index) if fields["nodes"] == "ALL" else expand(fields["nodes"])
        partitions[name] = Partition(
            name,
            node_set(index[member] for member in members),
            tier=int(fields.get("prioritytier", 1)),
            job_factor=int(fields.get("priorityjobfactor", 1)),
            max_time=minutes(fields.get("maxtime", "INFINITE")),
            exclusive=fields.get("oversubscribe", "") == "EXCLUSIVE",
            sharing=sharing(fields.get("oversubscribe", "")),
            forced=fields.get("oversubscribe", "").startswith("FORCE"),
            preempt_mode=fields.get("preemptmode", ""),
            grace=int(fields.get("gracetime", 0)),
            qos=fields.get("qos", ""),
        )
    settings = replace(load_settings(conf), version=version_of(conf, path.parent))
    return Machine(tuple(nodes), partitions, settings, load_switches(path, index)), conf


def version_of(conf: Conf, folder: Path) -> tuple[int, ...]:
    """The version that was recorded: as the configuration says, else by the folder's name."""
    text = conf.values.get("slurm_version", folder.name)
    found = re.search(r"(2[2-9])\.?(05|11)(?:\.(\d+))?", text)
    return tuple(int(part) for part in found.groups("99")) if found else (22, 5)


def sharing(text: str) -> int:
    """Jobs that may have the same CPU by OverSubscribe."""
    word, _, count = text.partition(":")
    return int(count or 4) if word in ("YES", "FORCE") else 1


def load_switches(path: Path, index: dict[str, int]) -> tuple[Switch, ...]:
    """The tree of topology.conf beside slurm.conf; leaves stand before what is above them."""
    found: dict[str, Switch] = {}
    file = path.with_name("topology.conf")
    lines = file.read_text("utf-8").splitlines() if file.is_file() else []
    for place, line in enumerate(lines):
        fields = dict(word.split("=") for word in line.split())
        below = [found[name] for name in expand(fields.get("Switches", ""))]
        nodes = node_set(index[name] for name in expand(fields.get("Nodes", "")))
        for child in below:
            found[child.name] = replace(child, parent=place)
            nodes |= child.nodes
        level = 1 + max((child.level for child in below), default=-1)
        found[fields["SwitchName"]] = Switch(fields["SwitchName"], level, place, nodes)
    return tuple(found.values())


def load_settings(conf: Conf) -> Settings:
    settings = Settings(
        counts_memory="memory" in conf.values.get("selecttypeparameters", "").lower(),
        complete_wait=conf.number("CompleteWait", 0),
        kill_wait=conf.number("KillWait", 30),
        message_timeout=conf.number("MessageTimeout", 10),
        preempt_type=conf.values.get("preempttype", "").removeprefix("preempt/"),
        preempt_mode=conf.values.get("preemptmode", "OFF"),
        preempt_exempt_time=exempt_time(conf.values.get("preemptexempttime", "")),
        enforce=frozenset(filter(None, conf.values.get("accountingstorageenforce", "").split(","))),
    )
    for key, text in conf.scheduler.items():
        if hasattr(settings, key):
            setattr(settings, key, int(text) * (60 if key == "bf_window" else 1) if text else True)
    return settings


def exempt_time(text: str) -> int:
    """PreemptExemptTime in seconds; -1 and nothing mean none."""
    if not text or text == "-1":
        return 0
    if ":" in text:
        hours, mins, secs = ([0, 0, 0] + [int(part) for part in text.split(":")])[-3:]
        return hours * 3600 + mins * 60 + secs
    return int(text) * 60
