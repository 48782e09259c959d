"""Nodes and partitions of a site, from the lines of slurm.conf or the blocks of scontrol."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from headway.site import values
from headway.site.entries import Entry
from headway.site.model import UNLIMITED, Node, Partition
from headway.site.node_names import expanded

_NODE_KEYS = frozenset((
    "nodename", "cpus", "procs", "cputot", "boards", "socketsperboard", "sockets", "corespersocket",
    "threadspercore", "realmemory", "memspeclimit", "weight", "feature", "features", "availablefeatures",
    "gres", "state", "cpuefctv", "corespeccount", "cpuspeclist", "suspendtime",
))  # fmt: skip
_NODE_NO_CONCERN = frozenset((
    "nodehostname", "nodeaddr", "port", "bcastaddr", "tmpdisk", "reason", "arch", "cpualloc",
    "cpuload", "activefeatures", "gresdrain", "gresused", "os", "allocmem", "freemem", "owner", "mcs_label",
    "partitions", "boottime", "slurmdstarttime", "lastbusytime", "cfgtres", "alloctres", "capwatts",
    "currentwatts", "avewatts", "extsensorsjoules", "extsensorswatts", "extsensorstemp", "version",
    "resumeaftertime", "nextstate", "reservationname",
    "comment", "extra", "instanceid", "instancetype", "restrictedcorespergpu",
    "nodeset", "nodehostname", "availabletypes", "certflags", "lowestjoules", "consumedjoules", "topology",
    "tlscertlastrenewal", "tlscerttokenset", "parameters",
))  # fmt: skip
_PARTITION_NO_CONCERN = frozenset((
    "hidden", "totalcpus", "totalnodes", "tres", "nodesets", "selecttypeparameters",
    "suspendtimeout", "disablerootjobs", "nodeset",
))  # fmt: skip
_UNDERSTOOD = (("exclusive", "NODE"), ("exclusive", "USER"))
"""Values that are taken into account, of keys whose other values are not."""
_HARMLESS = ("", "(NULL)", "NO", "NONE", "N/A", "UNLIMITED", "0", "ALL")


def lines_of(entries: Iterable[Entry], kind: str) -> list[Entry]:
    """The entries that begin with a key such as NodeName, with DEFAULT lines put into those below them."""
    found: list[Entry] = []
    defaults: Entry | None = None
    for entry in entries:
        first = next(iter(entry.pairs))
        if first.lower() != kind.lower():
            continue
        if entry.get(kind).upper() == "DEFAULT":
            defaults = entry.over(defaults)
        else:
            found.append(entry.over(defaults))
    return found


def is_future(entry: Entry) -> bool:
    """Whether nodes are only foreseen (State=FUTURE): the cluster does not have them yet."""
    return entry.get("State").strip().upper().startswith("FUTURE")


def names_of(entry: Entry) -> tuple[str, ...]:
    """The names of the nodes of a line."""
    return entry.listed("NodeName", expanded)


def nodes(entries: Iterable[Entry]) -> tuple[Node, ...]:
    """Every node in the order of definition."""
    return tuple(_node(name, entry) for name, entry in _each_once(entries, "node", "NodeName", names_of))


def _each_once(
    entries: Iterable[Entry], what: str, key: str, names: Callable[[Entry], Iterable[str]]
) -> Iterator[tuple[str, Entry]]:
    """Each name with its entry; one that is defined twice is an error."""
    seen: dict[str, Entry] = {}
    for entry in entries:
        for name in names(entry):
            if name in seen:
                message = f"{what} {name} is defined a second time; the first is at {seen[name].where}"
                raise entry.error(message, key)
            seen[name] = entry
            yield name, entry


def _node(name: str, entry: Entry) -> Node:
    boards = entry.read("Boards", values.whole, 1)
    sockets = entry.read("Sockets", values.whole, 0) or boards * entry.read(
        "SocketsPerBoard", values.whole, 0
    )
    cores = entry.read("CoresPerSocket", values.whole, 0)
    threads = entry.read("ThreadsPerCore", values.whole, 1) or 1
    given = next((key for key in ("CPUs", "CPUTot", "Procs") if key in entry), None)
    cpus = entry.read(given, values.whole, 1) if given else (sockets or 1) * (cores or 1) * threads
    if not sockets and not cores:
        sockets = max(cpus // threads, 1)
    cpus = _for_jobs(entry, cpus, threads)
    if cpus <= 0:
        raise entry.error(f"node {name} has no CPUs", given or "CPUs")
    features = next((key for key in ("AvailableFeatures", "Features", "Feature") if key in entry), "Feature")
    return Node(
        name,
        cpus,
        sockets or 1,
        cores or 1,
        threads,
        entry.read("RealMemory", values.megabytes, 1),
        entry.read("MemSpecLimit", _size_or_none, None) or 0,
        entry.read("Weight", values.whole, 1),
        entry.listed(features, values.names),
        entry.read("Gres", values.gres, {}),
        frozenset(values.gres(",".join(_unconsumed(entry.get("Gres"))))),
        entry.get("State", "UNKNOWN").split(" ")[0],
        # scontrol shows the time that a node's partitions and the site come to
        None if "CPUTot" in entry else entry.read("SuspendTime", _power_time, None),
    )


def _unconsumed(text: str) -> list[str]:
    """The parts of a list of generic resources that are not consumed."""
    return [part for part in text.split(",") if "no_consume" in part.split(":")]


def _for_jobs(entry: Entry, cpus: int, threads: int) -> int:
    """CPUs of a node that jobs may have: all but the cores kept for the system."""
    if "CPUEfctv" in entry:
        return entry.read("CPUEfctv", values.whole, cpus)
    cores = {cpu // threads for cpu in entry.read("CPUSpecList", _cpus_listed, list[int]())}
    return cpus - threads * (len(cores) or entry.read("CoreSpecCount", values.whole, 0))


def _cpus_listed(text: str) -> list[int]:
    """The numbers of a list of CPUs."""
    try:
        return [] if values.nothing(text) else [int(cpu) for cpu in expanded(f"[{text}]")]
    except ValueError:
        raise ValueError(f"{text!r} is not a list of CPUs such as 0-1,32") from None


def _size_or_none(text: str) -> int | None:
    return (
        None
        if values.nothing(text) or values.endless(text) or text.strip() == "0"
        else values.megabytes(text)
    )


def node_sets(
    entries: Iterable[Entry], site_nodes: tuple[Node, ...], known: dict[str, tuple[int, ...]]
) -> dict[str, tuple[int, ...]]:
    """Places of the nodes of each NodeSet, which may name others that are known already."""
    places = {node.name: place for place, node in enumerate(site_nodes)}
    sets: dict[str, set[int]] = {}
    for entry in entries:
        members = sets.setdefault(entry.get("NodeSet"), set())
        if "Feature" in entry:
            wanted = entry.get("Feature")
            members.update(place for place, node in enumerate(site_nodes) if wanted in node.features)
        if "Nodes" in entry:
            members.update(_places(entry, "Nodes", places, known))
    return {name: tuple(sorted(members)) for name, members in sets.items()}


def partitions(
    entries: Iterable[Entry], site_nodes: tuple[Node, ...], sets: dict[str, tuple[int, ...]]
) -> tuple[Partition, ...]:
    """Every partition in the order of definition."""
    places = {node.name: place for place, node in enumerate(site_nodes)}
    key = "PartitionName"
    named = _each_once(entries, "partition", key, lambda entry: values.names(entry.get(key)))
    return tuple(_partition(name, entry, places, sets) for name, entry in named)


def _places(
    entry: Entry, key: str, places: dict[str, int], sets: dict[str, tuple[int, ...]]
) -> tuple[int, ...]:
    if entry.get(key).strip().upper() == "ALL":
        return tuple(range(len(places)))
    if values.nothing(entry.get(key)):
        return ()
    chosen: set[int] = set()
    for name in entry.listed(key, expanded):
        if name in sets:
            chosen.update(sets[name])
        elif name in places:
            chosen.add(places[name])
        else:
            what = "partition " + entry.get("PartitionName") if "PartitionName" in entry else "a set of nodes"
            raise entry.error(f"{what} has the node {name}, which no NodeName line defines", key)
    return tuple(sorted(chosen))


def _partition(
    name: str, entry: Entry, places: dict[str, int], sets: dict[str, tuple[int, ...]]
) -> Partition:
    both = entry.read("Priority", values.whole, 1)
    shared = "OverSubscribe" if "OverSubscribe" in entry else "Shared"
    how, count = entry.read(shared, sharing, ("NO", 4))
    exclusive = entry.get("Exclusive").strip().upper()  # since 26.05 in place of the two older keys
    if exclusive in ("NODE", "TOPO"):
        how = "EXCLUSIVE"
    found: dict[str, Any] = {"tier": both, "job_factor": both}
    for key, (field, read) in PARTITION_KEYS.items():
        if key in entry:
            found[field] = entry.read(key, read, None)
    if exclusive == "USER":
        found["exclusive_user"] = True
    nodes = _places(entry, "Nodes", places, sets)
    return Partition(name, nodes, oversubscribe=how, oversubscribe_count=count, **found)


def partition_state(text: str) -> str:
    """The state of a partition."""
    word = text.strip().upper()
    if word not in ("UP", "DOWN", "DRAIN", "INACTIVE"):
        raise ValueError(f"{text!r} is none of UP, DOWN, DRAIN and INACTIVE")
    return word


def sharing(text: str) -> tuple[str, int]:
    """How a partition lets jobs share CPUs, and how many of them."""
    word, colon, count = text.strip().upper().partition(":")
    if word not in ("NO", "EXCLUSIVE", "YES", "FORCE"):
        raise ValueError(f"{text!r} is none of NO, EXCLUSIVE, YES[:count], FORCE[:count]")
    return word, values.whole(count) if colon else 4


def _over_time(text: str) -> int | None:
    if values.nothing(text):
        return None
    return UNLIMITED if values.endless(text) else values.whole(text)


def _power_time(text: str) -> int | None:
    """Seconds, UNLIMITED, or None: as the site has it."""
    if values.nothing(text) or text.strip().upper() == "GLOBAL":
        return None
    return UNLIMITED if values.endless(text) else values.seconds(text, 1)


def _boot_time(text: str) -> int | None:
    """Seconds; None where the site's counts, or a node may take for ever."""
    return max(_power_time(text) or 0, 0) or None


PARTITION_KEYS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "State": ("state", partition_state),
    "PriorityTier": ("tier", values.whole),
    "PriorityJobFactor": ("job_factor", values.whole),
    "MaxTime": ("max_minutes", values.minutes),
    "DefaultTime": ("default_minutes", values.minutes),
    "MinNodes": ("min_nodes", values.whole),
    "MaxNodes": ("max_nodes", values.limit),
    "MaxCPUsPerNode": ("max_cpus_per_node", values.limit),
    "DefMemPerCPU": ("def_mem_per_cpu_mb", _size_or_none),
    "DefMemPerNode": ("def_mem_per_node_mb", _size_or_none),
    "MaxMemPerCPU": ("max_mem_per_cpu_mb", _size_or_none),
    "MaxMemPerNode": ("max_mem_per_node_mb", _size_or_none),
    "ExclusiveUser": ("exclusive_user", values.yes),
    "LLN": ("lln", values.yes),
    "QOS": ("qos", lambda text: "" if values.nothing(text) else text),
    "OverTimeLimit": ("over_time_limit", _over_time),
    "PreemptMode": ("preempt_mode", lambda text: "" if values.nothing(text) else text.upper()),
    "GraceTime": ("grace_seconds", lambda text: values.seconds(text, 1)),
    "AllowAccounts": ("allow_accounts", values.everyone),
    "DenyAccounts": ("deny_accounts", values.names),
    "AllowQos": ("allow_qos", values.everyone),
    "DenyQos": ("deny_qos", values.names),
    "AllowGroups": ("allow_groups", values.everyone),
    "AllocNodes": ("alloc_nodes", values.everyone),
    "RootOnly": ("root_only", values.yes),
    "ReqResv": ("req_resv", values.yes),
    "TRESBillingWeights": ("billing_weights", values.weights),
    "Default": ("is_default", values.yes),
    "SuspendTime": ("off_after", _power_time),
    "ResumeTimeout": ("boot_seconds", _boot_time),
}
"""What a key of a partition sets, and how its value is read."""
_PARTITION_KEYS = frozenset((
    "partitionname", "nodes", "priority", "oversubscribe", "shared", *map(str.lower, PARTITION_KEYS),
))  # fmt: skip


def unknown_keys(entry: Entry, kind: str) -> list[tuple[str, str]]:
    """Keys of a node's or partition's line that no simulation takes into account, with their values."""
    known = _NODE_KEYS | _NODE_NO_CONCERN if kind == "NodeName" else _PARTITION_KEYS | _PARTITION_NO_CONCERN
    return [
        (key, value)
        for key, value in entry.pairs.items()
        if key.lower() not in known
        and value.upper() not in _HARMLESS
        and (key.lower(), value.upper()) not in _UNDERSTOOD
    ]
