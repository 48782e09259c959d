"""Who may use a site's partitions: users by their groups, accounts, QOS, jobs of a reservation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from headway.arrays import Ints
from headway.errors import InputError
from headway.site.entries import text_of

if TYPE_CHECKING:
    from pathlib import Path

    from headway.site.model import Partition
    from headway.site.site import Site

DOORS = ("ReqResv", "RootOnly", "AllowGroups")
"""Rules that Slurm looks at before all others; a job that they keep out is refused whatever
EnforcePartLimits says."""

ACCOUNTS_BELOW = (23, 2, 0)
"""Since then accounts that a partition allows or denies stand for those below them, too."""

RULES = (*DOORS, "AllowAccounts", "DenyAccounts", "AllowQos", "DenyQos")
"""Rules on who may use a partition, in the order in which they are looked at."""


class Asker(NamedTuple):
    """Whose job it is; empty where the log does not say, which keeps nobody out."""

    user: str
    account: str
    qos: str
    reservation: str | None
    """None where the log does not say who asked for one; empty: nobody did."""


def enforces(site: Site) -> str:
    """How partitions' bounds bind at submission: ALL, ANY, or nothing (EnforcePartLimits)."""
    given = site.config.get("EnforcePartLimits").upper()
    return {"YES": "ALL", "ALL": "ALL", "ANY": "ANY"}.get(given, "")


def limits_bind(site: Site) -> bool:
    """Whether limits are enforced at all (AccountingStorageEnforce; 2 is its older word for limits)."""
    return not {"LIMITS", "SAFE", "ALL", "2"}.isdisjoint(site.config.list("AccountingStorageEnforce"))


def limits_are_safe(site: Site) -> bool:
    """Whether no job starts that might need more than is left of a limit on minutes; `all` has that in it."""
    return not {"SAFE", "ALL"}.isdisjoint(site.config.list("AccountingStorageEnforce"))


def restricts(partition: Partition) -> bool:
    """Whether not everybody may use a partition."""
    return bool(
        partition.req_resv
        or partition.root_only
        or partition.allow_groups is not None
        or partition.allow_accounts is not None
        or partition.deny_accounts
        or partition.allow_qos is not None
        or partition.deny_qos
    )


def rule_against(site: Site, partition: Partition, asker: Asker) -> str:
    """The rule of a partition that keeps a job out, by its name in slurm.conf; empty where none does.

    Groups are looked at where the site has a file of them. Where accounts or QOS are allowed by name, those
    that are denied are not looked at, as in Slurm.
    """
    own = site.config.get("SlurmUser").partition("(")[0]
    user, superuser = asker.user, asker.user in ("root", own)
    if partition.req_resv and asker.reservation == "":
        return "ReqResv"
    if partition.root_only and user and not superuser:
        return "RootOnly"
    if partition.allow_groups is not None and site.groups is not None and user and not superuser:
        allowed_users = (site.groups.get(name, ()) for name in partition.allow_groups)
        if not any(user in users for users in allowed_users):
            return "AllowGroups"
    for kind, name, allowed, denied in (
        ("Accounts", asker.account, partition.allow_accounts, partition.deny_accounts),
        ("Qos", asker.qos, partition.allow_qos, partition.deny_qos),
    ):
        if not name:
            continue
        names = {one.lower() for one in (above(site, name) if kind == "Accounts" else (name,))}
        if allowed is not None:
            if names.isdisjoint(one.lower() for one in allowed):
                return f"Allow{kind}"
        elif not names.isdisjoint(one.lower() for one in denied):
            return f"Deny{kind}"
    return ""


def above(site: Site, account: str) -> list[str]:
    """An account, and those above it where a partition that names these means it, too."""
    found = [account]
    place = site.account_place.get(account.lower(), -1) if site.version >= ACCOUNTS_BELOW else -1
    while place >= 0:
        found.append(site.associations[place].account)
        place = site.associations[place].parent
    return found


def askers(
    site: Site, get: Callable[[str], Ints | None], labels: Mapping[str, Sequence[str]]
) -> tuple[list[Asker], Ints]:
    """The different askers of a log, and which of them each job is; ``get`` gives a column, or None.

    A job without an account has its user's first one, a job without a QOS the one called normal.
    """
    given = {name: get(name) for name in Asker._fields}
    count = next((len(column) for column in given.values() if column is not None), 0)
    codes = np.stack(
        [np.full(count, -1) if column is None else np.asarray(column) for column in given.values()], axis=1
    )
    different, place = np.unique(codes, axis=0, return_inverse=True)
    first: dict[str, str] = {}
    for one in site.associations:
        if one.user and not one.partition:
            first.setdefault(one.user, one.account)
    normal = "normal" if "normal" in site.qos_place else ""

    def name(kind: str, code: int) -> str:
        names = labels.get(kind, ())
        return names[code] if 0 <= code < len(names) else ""

    found = []
    for user_code, account, qos, reservation in different.tolist():
        user = name("user", user_code)
        asked = None if given["reservation"] is None else name("reservation", reservation)
        own = name("account", account) or first.get(user, "")
        found.append(Asker(user, own, name("qos", qos) or normal, asked))
    return found, np.asarray(place, np.int64).reshape(-1)


def read_groups(file: Path) -> dict[str, frozenset[str]] | None:
    """Users by group, from lines as those of ``getent group``; None where there is no such file."""
    if not file.is_file():
        return None
    found: dict[str, frozenset[str]] = {}
    for number, line in enumerate(text_of(file, "the groups").splitlines(), 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        parts = text.split(":")
        if len(parts) != 4 or not parts[0].strip():
            message = f"{line.strip()!r} is not a line of getent group, such as phys:x:1001:ann,bob"
            raise InputError(message, file=file, line=number)
        users = frozenset(name.strip() for name in parts[3].split(",") if name.strip())
        name = parts[0].strip()
        found[name] = found.get(name, frozenset()) | users
    return found
