"""Changes of a site that a what-if makes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from headway.errors import UsageError
from headway.plain import close
from headway.site import Association, Limits, Partition, Site, values
from headway.site.accounts import real, shares_of
from headway.site.config import scheduler_parameters
from headway.site.limits import INHERITED, NAMES, field_of, modified
from headway.site.machine import PARTITION_KEYS, sharing

CHANGEABLE = (
    "maxtime", "prioritytier", "priorityjobfactor", "minnodes", "maxnodes", "maxcpuspernode", "defmempercpu",
    "defmempernode", "maxmempercpu", "maxmempernode", "allowaccounts", "denyaccounts", "allowqos", "denyqos",
    "allowgroups", "state", "qos", "oversubscribe",
)  # fmt: skip
"""Keys of a partition that may be changed."""
_READ = {key.lower(): field_and_reader for key, field_and_reader in PARTITION_KEYS.items()}

MOVED = ("PreemptParameters", "DependencyParameters")
"""Parameters of newer versions whose parts `Site.scheduler` has, too."""


def hours(text: str) -> int | None:
    """Minutes of a limit as slurm.conf has it, or as people say it: 24h, 30m, 2d."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([mhd])", text)
    if match is None:
        return values.minutes(text)
    return round(float(match[1]) * {"m": 1, "h": 60, "d": 1440}[match[2]])


def parameter(site: Site, key: str, value: str) -> Site:
    """Another value of a parameter of slurm.conf."""

    config = site.config.with_value(key, value)
    return replace(site, config=config, scheduler=scheduler_parameters(config))


def scheduling(site: Site, name: str, value: str) -> Site:
    """Another value of a part of SchedulerParameters; off takes it out."""
    parts = {key: one for key, one in site.scheduler.items() if key != name}
    if value != "off":
        parts[name] = "" if value == "on" else value
    text = ",".join(f"{key}={one}" if one else key for key, one in parts.items())
    for key in MOVED:
        site = parameter(site, key, "")
    return parameter(site, "SchedulerParameters", text)


def nodes(site: Site, more: int) -> Site:
    """More nodes, copies of evenly chosen ones in the same partitions; or fewer, evenly chosen."""
    count = len(site.nodes)
    if more < 0:
        gone = set(_evenly(count, -more))
        kept = [place for place in range(count) if place not in gone]
        new = {place: at for at, place in enumerate(kept)}
        return _with_nodes(
            site, [site.nodes[place] for place in kept], lambda old: [new[p] for p in old if p in new]
        )
    chosen = _evenly(count, more)
    added = [replace(site.nodes[place], name=f"added{at}") for at, place in enumerate(chosen, 1)]

    def grown(old: tuple[int, ...]) -> list[int]:
        return [*old, *(count + at for at, place in enumerate(chosen) if place in set(old))]

    return _with_nodes(site, [*site.nodes, *added], grown)


def _evenly(count: int, chosen: int) -> list[int]:
    """So many of `count` places, the middles of equal stretches; more than there are repeat."""
    return [int((place + 0.5) * count / chosen) for place in range(chosen)]


def _with_nodes(site: Site, listed: list[Any], members: Callable[[tuple[int, ...]], list[int]]) -> Site:
    names = {node.name for node in listed}
    return replace(
        site,
        nodes=tuple(listed),
        partitions=tuple(replace(one, nodes=tuple(members(one.nodes))) for one in site.partitions),
        reservations=tuple(replace(one, nodes=tuple(members(one.nodes))) for one in site.reservations),
        switches=tuple(replace(one, nodes=tuple(members(one.nodes))) for one in site.switches),
        events=tuple(one for one in site.events if one.partition or one.node in names),
    )


def _place(of: Mapping[str, int], kind: str, name: str) -> int:
    if name not in of:
        known = ", ".join(of) or "none"
        raise UsageError(f"the site has no {kind} {name}{close(name, of)}; there are {known}")
    return of[name]


def partition(site: Site, name: str, field: str, value: str) -> Site:
    """Another value of a partition's key."""
    place = _place(site.partition_place, "partition", name)
    if field == "defaulttime":
        raise UsageError(
            f"partition.{name}.{field}: a log has the limit of each job, and not which jobs "
            f"left it to the default, "
            "so another default would change nothing; try maxtime"
        )
    listed = list(site.partitions)
    if field == "oversubscribe":
        word, count = sharing(value)
        listed[place] = replace(listed[place], oversubscribe=word, oversubscribe_count=count)
    elif field in CHANGEABLE:
        attribute, how = _READ[field]
        new: Any = hours(value) if field == "maxtime" else how(value)
        listed[place] = replace(listed[place], **{attribute: new})
    else:
        keys = ", ".join(CHANGEABLE)
        raise UsageError(f"partition.{name}.{field}: a partition's keys are {keys}")
    if field == "qos" and listed[place].qos:
        _place(site.qos_place, "QOS", value)
    return replace(site, partitions=tuple(listed))


def merged(site: Site, names: str) -> Site:
    """Some partitions as one, under the name and rules of the first, with the widest of their limits."""
    listed = dict.fromkeys(name.strip() for name in names.split(","))
    chosen = [site.partitions[_place(site.partition_place, "partition", name)] for name in listed]
    if len(chosen) < 2:
        raise UsageError(f"merge={names}: give two partitions or more, as in merge=short,long")

    def widest(limits: list[int | None]) -> int | None:
        return None if None in limits else max(limit for limit in limits if limit is not None)

    one: Partition = replace(
        chosen[0],
        nodes=tuple(sorted({place for part in chosen for place in part.nodes})),
        max_minutes=widest([part.max_minutes for part in chosen]),
        max_nodes=widest([part.max_nodes for part in chosen]),
        is_default=any(part.is_default for part in chosen),
    )
    gone = {part.name for part in chosen[1:]}
    rest = [one if part is chosen[0] else part for part in site.partitions if part.name not in gone]

    def moved(name: str) -> str:
        return one.name if name in gone else name

    return replace(
        site,
        partitions=tuple(rest),
        associations=tuple(replace(each, partition=moved(each.partition)) for each in site.associations),
        reservations=tuple(replace(each, partition=moved(each.partition)) for each in site.reservations),
    )


def _limits(limits: Limits, field: str, value: str, *, is_qos: bool, text: str) -> Limits:
    after = modified(limits, field, value, qos=is_qos)
    if after is None:
        raise UsageError(
            f"{text}: there is no limit {field}; limits are {', '.join(n[0] for n in NAMES.values())}"
        )
    return after


def qos(site: Site, name: str, field: str, value: str) -> Site:
    """Another priority, usage factor or limit of a QOS."""
    place = _place(site.qos_place, "QOS", name)
    listed = list(site.qos)
    if field == "priority":
        listed[place] = replace(listed[place], priority=values.whole(value))
    elif field == "usagefactor":
        listed[place] = replace(listed[place], usage_factor=real(value))
    else:
        limits = _limits(listed[place].limits, field, value, is_qos=True, text=f"qos.{name}.{field}")
        listed[place] = replace(listed[place], limits=limits)
    return replace(site, qos=tuple(listed))


def account(site: Site, name: str, field: str, value: str) -> Site:
    """Other shares or another limit of an account; accounts and users below it inherit Max*, as in Slurm."""
    text = f"account.{name}.{field}"
    _place({one.account: 0 for one in site.associations if not one.user}, "account", name)
    after = _associations(site, text, field, value, lambda one: one.account == name and not one.user)
    limit, before, listed = field_of(field), site.associations, list(after.associations)
    for place, one in enumerate(listed):
        above = one.parent
        if limit not in INHERITED or above < 0 or listed[above] == before[above] or one != before[place]:
            continue
        old, new = (getattr(of[above].limits, limit) for of in (before, listed))
        kept = _inherited(getattr(one.limits, limit), old, new)
        listed[place] = replace(one, limits=replace(one.limits, **{limit: kept}))
    return replace(after, associations=tuple(listed))


def _inherited(own: Any, old: Any, new: Any) -> Any:
    """A limit after the one above has changed: the same where it was the same, resource by resource."""
    if not isinstance(own, Mapping):
        return new if own == old else own
    stays = {name: count for name, count in own.items() if old.get(name) != count}
    return {name: count for name, count in new.items() if own.get(name) == old.get(name)} | stays


def user(site: Site, name: str, field: str, value: str) -> Site:
    """Other shares or another limit of a user, in every account."""
    _place({one.user: 0 for one in site.associations if one.user}, "user", name)
    return _associations(site, f"user.{name}.{field}", field, value, lambda one: one.user == name)


def _associations(
    site: Site, text: str, field: str, value: str, meant: Callable[[Association], bool]
) -> Site:
    def after(one: Association) -> Association:
        if not meant(one):
            return one
        if field in ("fairshare", "shares", "share"):
            return replace(one, shares=shares_of(value))
        return replace(one, limits=_limits(one.limits, field, value, is_qos=False, text=text))

    return replace(site, associations=tuple(after(one) for one in site.associations))


def without_limits(site: Site) -> Site:
    """No limits of QOS and associations; those of partitions stay."""
    return replace(
        site,
        qos=tuple(replace(one, limits=Limits()) for one in site.qos),
        associations=tuple(replace(one, limits=Limits()) for one in site.associations),
    )
