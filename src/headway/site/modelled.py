"""What of a site's configuration Slurm's rules here take into account, and what they do not, by name.

Whatever is added to the rules is to be taken off these lists, and so no longer told as not modelled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from headway.site.config import Config, scheduler_parameters
from headway.site.entries import Lines
from headway.site.limits import NAMES, field_of
from headway.site.model import Limits, NotModelled, Partition, Qos, Reservation
from headway.site.node_names import compressed
from headway.site.parameters import DEFAULTS, NO_CONCERN_PARTS, SCHEDULER, Version, concerns_no_schedule

if TYPE_CHECKING:
    from headway.site.site import Site

PARAMETERS = frozenset(("prioritysitefactorparameters",))
"""Parameters that decide a schedule and are not taken into account where they are set."""

PARTS = frozenset((
    "bf_yield_interval", "bf_yield_sleep", "reduce_completing_frag",
))  # fmt: skip
"""Parts of SchedulerParameters likewise; a cycle here yields to nobody. The others about a controller that is
too slow change nothing: the simulated one never is."""

FLAGS = frozenset((
    "NODECAY", "OVERPARTQOS", "NORESERVE", "PARTITIONMINNODES", "PARTITIONMAXNODES", "PARTITIONTIMELIMIT",
    "USAGEFACTORSAFE",
))  # fmt: skip
"""Flags of a QOS that are taken into account."""

SELECTION = frozenset(("CR_SOCKET", "CR_SOCKET_MEMORY"))
"""Parts of SelectTypeParameters that are not taken into account."""

WORDS = {
    "PreemptMode": ("OFF", "CANCEL", "REQUEUE", "SUSPEND", "GANG"),
    "PreemptType": ("PREEMPT/NONE", "PREEMPT/PARTITION_PRIO", "PREEMPT/QOS"),
    "PriorityType": ("PRIORITY/BASIC", "PRIORITY/MULTIFACTOR"),
    "SchedulerType": ("SCHED/BACKFILL", "SCHED/BUILTIN"),
    "SelectType": ("SELECT/CONS_TRES", "SELECT/CONS_RES", "SELECT/LINEAR"),
    "EnforcePartLimits": ("ALL", "ANY", "YES", "NO"),
    "PriorityFlags": (
        "SMALL_RELATIVE_TO_TIME", "NO_FAIR_TREE", "FAIR_TREE", "MAX_TRES", "ACCRUE_ALWAYS",
        "CALCULATE_RUNNING", "INCR_ONLY", "NO_NORMAL_ALL", "NO_NORMAL_ASSOC", "NO_NORMAL_PART",
        "NO_NORMAL_QOS", "NO_NORMAL_TRES",
    ),
}  # fmt: skip
"""Words of parameters that are taken into account; any other is not. DEPTH_OBLIVIOUS is followed, but not as
Slurm sees the usage of others."""

BILLED = frozenset(("cpu", "mem", "node", "billing"))
"""Resources of TRESBillingWeights that are taken into account, beside accelerators."""

WEIGHED = frozenset(("cpu", "mem", "node"))
"""Resources of PriorityWeightTRES that are, beside accelerators."""

NETWORKS = frozenset(("BLOCKASNODERANK", "DRAGONFLY", "SWITCHASNODERANK"))
"""Parts of TopologyParam that are not taken into account."""

LIMITS = frozenset(("max_tres_run_mins_per_user", "max_tres_run_mins_per_account"))
"""Limits that are not taken into account: minutes of running jobs by user, which Slurm 22.05 ignores, too."""

_OFF = frozenset((
    "", "(NULL)", "NONE", "NO", "N/A", "0", "UNLIMITED", "TOPOLOGY/NONE", "TOPOLOGY/DEFAULT",
    "TOPOLOGY/FLAT", "OFF", "PREEMPT/NONE", "MCS/NONE", "00:00:00", "0 MIN", "0 SEC",
))  # fmt: skip


def parameters_not_modelled(config: Config) -> Iterator[NotModelled]:
    """Parameters that might decide a schedule, are set, and are not taken into account."""
    for key in config:
        name, value = key.lower(), config[key]
        if value.upper() in _OFF or value.upper() == DEFAULTS.get(name, "").upper():
            continue
        if name in PARAMETERS or not (name in DEFAULTS or concerns_no_schedule(key)):
            yield NotModelled(key, value, config.where(key))
    for key, known in WORDS.items():
        for word in config.list(key):
            if word not in known:
                yield NotModelled(f"{key} {word}", "", config.where(key) if key in config else "")
    for part in config.list("SelectTypeParameters"):
        if part in SELECTION:
            yield NotModelled(f"SelectTypeParameters {part}", "", config.where("SelectTypeParameters"))
    plugin = config.get("TopologyPlugin")
    if plugin.upper() not in (*_OFF, "TOPOLOGY/TREE"):
        yield NotModelled("TopologyPlugin", plugin, config.where("TopologyPlugin"))
    elif plugin.upper() not in _OFF and "linear" in config.get("SelectType").lower():
        yield NotModelled("TopologyPlugin with select/linear", plugin, config.where("TopologyPlugin"))
    for part in config.list("TopologyParam"):
        if part in NETWORKS:
            yield NotModelled(f"TopologyParam {part}", "", config.where("TopologyParam"))
    for name, weight in config.weights("PriorityWeightTRES").items():
        if not is_weighed(name):
            yield NotModelled(f"PriorityWeightTRES {name}", f"{weight:g}", config.where("PriorityWeightTRES"))
    for name, value in scheduler_parameters(config).items():
        if name in PARTS or not (name in SCHEDULER or name in NO_CONCERN_PARTS):
            yield NotModelled(f"SchedulerParameters {name}", value, config.where("SchedulerParameters"))
    for part in config.list("PreemptParameters"):
        name, _, value = part.partition("=")
        if f"preempt_{name.lower()}" not in SCHEDULER:
            yield NotModelled(f"PreemptParameters {name.lower()}", value, config.where("PreemptParameters"))


def newly_not_modelled(before: Site, after: Site) -> list[str]:
    """Names of what a change of a site has brought about that is not taken into account."""
    told = {(one.name, one.value) for one in _all_not_modelled(before)}
    return [one.name for one in _all_not_modelled(after) if (one.name, one.value) not in told]


def _all_not_modelled(site: Site) -> Iterator[NotModelled]:
    yield from parameters_not_modelled(site.config)
    yield from rules_not_modelled(site, Lines())


def is_weighed(name: str) -> bool:
    """Whether the weight of a resource in the priority is taken into account."""
    return name in WEIGHED or name.startswith("gres/")


def rules_not_modelled(site: Site, lines: Lines) -> Iterator[NotModelled]:
    """Rules of partitions, QOS and associations that are not taken into account, and happenings."""
    for partition in site.partitions:
        where = lines.partitions[partition.name].where if partition.name in lines.partitions else ""
        for name, value in _of_partition(site, partition):
            yield NotModelled(f"{name} of partition {partition.name}", value, where)
    for qos in site.qos:
        where = lines.qos[qos.name].where if qos.name in lines.qos else ""
        for name, value in (*_of_qos(qos), *_of_limits(qos.limits)):
            yield NotModelled(f"{name} of QOS {qos.name}", value, where)
    for association, line in zip(site.associations, lines.associations, strict=False):
        who = association.user or association.account
        for name, value in _of_limits(association.limits):
            if any(spelling in line for spelling in NAMES[str(field_of(name))]):
                yield NotModelled(f"{name} of {who}", value, line.where)
        if association.partition:
            yield NotModelled(f"an association of {who} for one partition", association.partition, line.where)
    select = "SelectTypeParameters"
    threaded = any(node.threads_per_core > 1 for node in site.nodes) and not site.is_linear
    if threaded and any(part.startswith("CR_CPU") for part in site.config.list(select)):
        name = f"{select} CR_CPU (limits, usage and memory by CPU count whole cores, as with CR_Core)"
        yield NotModelled(name, "", site.config.where(select))
    yield from _not_there(site)
    for since, name, concerns in SINCE:
        if site.config.version is not None and site.version >= since and concerns(site):
            yield NotModelled(name, "", "")
    for name, counts in OF_RESERVATIONS:
        count = sum(counts(site, one) for one in site.reservations)
        if count:
            yield NotModelled(name, f"{count:,}", "reservations.txt")


def _not_there(site: Site) -> Iterator[NotModelled]:
    """What reservations and events name and the site does not have, such as nodes taken down since."""
    reserved = {node for one in site.reservations for node in one.gone}
    down = {event.node for event in site.events} - {"", *site.node_place}
    closed = {event.partition for event in site.events} - {"", *site.partition_place}
    for kind, file, names in (
        ("nodes", "reservations", reserved), ("nodes", "events", down), ("partitions", "events", closed),
    ):  # fmt: skip
        if names:
            name = f"{kind} in {file} that the site does not have (left out)"
            yield NotModelled(name, compressed(sorted(names)), f"{file}.txt")


def takes_part(site: Site, reservation: Reservation) -> bool:
    """Whether a reservation has fewer cores than its nodes."""
    nodes = [site.nodes[place] for place in reservation.nodes]
    cores = sum(node.cpus // max(node.threads_per_core, 1) for node in nodes)
    return reservation.cores is not None and 0 < reservation.cores < cores


def gets_other_nodes(site: Site, reservation: Reservation) -> bool:
    """Whether Slurm has put other nodes in the place of those that a reservation lost: it named none."""
    if reservation.has("SPEC_NODES", "ALL_NODES", "PART_NODES", "STATIC", "STATIC_ALLOC"):
        return False
    names = {site.nodes[place].name for place in reservation.nodes}
    return any(
        event.node in names
        and event.is_outage
        and event.start < reservation.end
        and (event.end is None or event.end > reservation.start)
        for event in site.events
    )


OF_RESERVATIONS: tuple[tuple[str, Callable[[Site, Reservation], bool]], ...] = (
    ("reservations of cores, without nodes", lambda _, one: one.cores is not None and not one.nodes),
    ("reservations of some cores of their nodes (the whole nodes are reserved)", takes_part),
    ("reservations that draw jobs in (MAGNETIC)", lambda _, one: one.has("MAGNETIC")),
    ("reservations that move with the clock (TIME_FLOAT)", lambda _, one: one.has("TIME_FLOAT")),
    ("reservations of licences (ANY_NODES)", lambda _, one: one.has("ANY_NODES")),
    ("reservations whose busy nodes are replaced (REPLACE)", lambda _, one: one.has("REPLACE")),
    ("reservations that lost nodes and got others (they keep theirs)", gets_other_nodes),
)
"""Kinds of reservations that are not taken into account, or not as they are."""


def _suspends(site: Site) -> bool:
    modes = [one.preempt_mode for one in site.partitions] + [one.preempt_mode for one in site.qos]
    return any("SUSPEND" in mode.upper() for mode in (site.config.get("PreemptMode"), *modes))


SINCE: tuple[tuple[Version, str, Callable[[Site], bool]], ...] = (
    (
        (24, 5, 3),
        "topology/tree since 24.05.3: nearer switches before a tighter fit (as in 22.05)",
        lambda site: bool(site.switches) and not site.is_linear,
    ),
    (
        (25, 11, 0),
        "GPUs since 25.11: small nodes are left out by CPUs times GPUs (as before: by their sum)",
        lambda site: not site.is_linear and any(node.gres for node in site.nodes),
    ),
    (
        (26, 5, 0),
        "PreemptExemptTime since 26.05: jobs that would be suspended are spared, too (as in 22.05)",
        lambda site: bool(site.config.seconds("PreemptExemptTime")) and _suspends(site),
    ),
)
"""Rules that have changed since a version, and whom it concerns: theirs are still those of 22.05."""


def _of_partition(site: Site, partition: Partition) -> Iterator[tuple[str, str]]:
    takes_turns = "GANG" in site.config.get("PreemptMode").upper()
    for name, weight in partition.billing_weights.items():
        if name not in BILLED and not name.startswith("gres/"):
            yield f"TRESBillingWeights {name}", f"{weight:g}"
    sharing = ("YES",) if takes_turns else ("YES", "FORCE")
    if partition.oversubscribe in sharing and partition.oversubscribe_count > 1:
        yield "OverSubscribe", f"{partition.oversubscribe}:{partition.oversubscribe_count}"
    if partition.allow_groups is not None and site.groups is None:
        yield "AllowGroups (groups.txt is missing: getent group)", ",".join(partition.allow_groups)
    if partition.alloc_nodes is not None:
        name = "AllocNodes (a log does not say from which node a job was submitted)"
        yield name, ",".join(partition.alloc_nodes)
    forced = partition.oversubscribe == "FORCE" and partition.oversubscribe_count > 1
    if partition.max_cpus_per_node is not None and takes_turns and forced:
        name = "MaxCPUsPerNode of jobs that take turns (each counts, also on the same CPU)"
        yield name, str(partition.max_cpus_per_node)


def _of_qos(qos: Qos) -> Iterator[tuple[str, str]]:
    if qos.limit_factor is not None:
        yield "LimitFactor", f"{qos.limit_factor:g}"
    flags = sorted(flag for flag in qos.flags if flag.upper() not in FLAGS)
    if flags:
        yield "Flags", ",".join(flags)


def _of_limits(limits: Limits) -> Iterator[tuple[str, str]]:
    for field in sorted(LIMITS):
        if counts := getattr(limits, field):
            yield NAMES[field][0], ",".join(f"{name}={count}" for name, count in counts.items())
