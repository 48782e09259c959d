"""A site as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import asdict, fields, is_dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from headway.site.once import once

if TYPE_CHECKING:
    from headway.site.site import Site


WHERE = ("name", "jobs", "folder", "not_modelled")
"""Fields that say where a site's files and lines are, and its name, which may be its folder's: its log is an
input of its own."""


@once
def digest(site: Site) -> str:
    """SHA-256 of all that simulations see of a site; comments, order of lines and names of files are not."""
    seen = [(one.name, _plain(getattr(site, one.name))) for one in fields(site) if one.name not in WHERE]
    return sha256(repr(seen).encode()).hexdigest()


def _plain(value: object) -> object:
    """Lists of texts and numbers, the same for the same content."""
    if is_dataclass(value):
        return [_plain(getattr(value, one.name)) for one in fields(value)]
    if isinstance(value, Mapping):
        return sorted((repr(key), repr(_plain(inner))) for key, inner in value.items())
    if isinstance(value, Set):
        return sorted(map(repr, value))
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value


def described(site: Site) -> dict[str, Any]:
    """Everything that is understood of a site, for JSON; nodes by name where the site has places."""
    partitions = [asdict(partition) for partition in site.partitions]
    reservations = [asdict(reservation) for reservation in site.reservations]
    for one in (*partitions, *reservations):
        one["nodes"] = [site.nodes[place].name for place in one["nodes"]]
    qos = [asdict(one) for one in site.qos]
    for one in qos:
        one["flags"] = sorted(one["flags"])
    return {
        "name": site.name,
        "nodes": [asdict(node) for node in site.nodes],
        "partitions": partitions,
        "qos": qos,
        "associations": [asdict(association) for association in site.associations],
        "parameters": dict(site.config.items()),
        "scheduler": dict(site.scheduler),
        "usage": [
            {"account": account, "user": user, "usage": usage}
            for (account, user), usage in site.usage.items()
        ],
        "licenses": dict(site.licenses),
        "groups": None if site.groups is None else {name: sorted(one) for name, one in site.groups.items()},
        "events": [asdict(event) for event in site.events],
        "reservations": reservations,
        "not_modelled": [asdict(one) for one in site.not_modelled],
        "jobs": None if site.jobs is None else str(site.jobs),
    }
