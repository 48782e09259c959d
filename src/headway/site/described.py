"""A site as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway.site.site import Site


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
