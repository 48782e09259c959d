"""QOS and associations, from `sacctmgr dump` or `sacctmgr show ... --parsable2`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headway.errors import InputError
from headway.site import values
from headway.site.entries import Entry, text_of
from headway.site.export import ASSOCIATIONS
from headway.site.limits import NAMES, inherited, limits_of
from headway.site.model import PARENT, Association, Limits, Qos

_DUMP_KEYS = (
    "Fairshare", "Shares", "Priority", "DefaultQOS", "QOS", "QosLevel", "Partition", "Partitions",
    "Description", "Organization", "DefaultAccount", "DefaultWCKey", "WCKeys", "AdminLevel", "Coordinator",
    "Classification", "Comment", "MinPrioThresh", "MinPrioThres", "Flags", "GraceTime", "Preempt",
    "PreemptMode", "PreemptExemptTime", "UsageFactor", "UsageThres", "UsageThreshold", "LimitFactor",
    "MaxTRESRunMins",
    *(name for names in NAMES.values() for name in names),
)  # fmt: skip
_SPLIT = re.compile(rf":(?=(?:{'|'.join(_DUMP_KEYS)})=)", re.IGNORECASE)
DUMPED = re.compile(r"\s*(Cluster|Parent|Account|User|QOS)\s*-\s*'?([^':]*)'?\s*(?::(.*))?$", re.IGNORECASE)


def table(path: Path, what: str) -> Iterator[Entry]:
    """The rows of a table of sacctmgr or sshare: columns between |, named in the first line."""
    names: list[str] = []
    for number, line in enumerate(text_of(path, what).splitlines(), 1):
        if not line.strip():
            continue
        cells = line.split("|")
        if not names:
            names = [name.replace(" ", "").strip() for name in cells]
            if len(names) < 2:
                message = f"is not a table of {what}: its first line does not name columns between |"
                raise InputError(f"{message}; export with --parsable2", file=path, line=number)
            continue
        if len(cells) < len(names):
            message = f"has {len(cells)} fields and the first line names {len(names)}; export it again"
            raise InputError(message, file=path, line=number)
        yield Entry(str(path), number, dict(zip(names, cells, strict=False)))


def read_qos(path: Path) -> tuple[tuple[Qos, ...], dict[str, Entry]]:
    """Every QOS, and the line that each stands on."""
    found: dict[str, Qos] = {}
    places: dict[str, Entry] = {}
    for entry in table(path, "QOS"):
        name = entry.get("Name").strip()
        if not name:
            continue
        if name in found:
            raise entry.error(f"QOS {name} is here a second time; the first is at {places[name].where}")
        found[name], places[name] = qos_of(name, entry), entry
    return tuple(found.values()), places


def dumped_qos(path: Path) -> tuple[tuple[Qos, ...], dict[str, Entry]]:
    """Every QOS of a dump, which newer versions of sacctmgr write into it."""
    places: dict[str, Entry] = {}
    for number, line in enumerate(text_of(path, "the associations").splitlines(), 1):
        match = DUMPED.match(line)
        if match is not None and match[1].lower() == "qos":
            places[match[2].strip()] = Entry(str(path), number, dump_pairs(match[3] or ""))
    return tuple(qos_of(name, entry, bare=1) for name, entry in places.items()), places


def qos_of(name: str, entry: Entry, bare: int = 60) -> Qos:
    """A QOS from what sacctmgr shows of it; bare numbers of PreemptExemptTime count ``bare`` seconds."""
    mode = entry.get("PreemptMode")
    exempt = entry.get("PreemptExemptTime")
    return Qos(
        name=name,
        priority=entry.read("Priority", _number, 0),
        flags=frozenset(entry.listed("Flags", values.names)),
        usage_factor=entry.read("UsageFactor", real, 1.0),
        limit_factor=entry.read("LimitFactor", _factor, None),
        preempt=entry.listed("Preempt", values.names),
        preempt_mode="" if values.nothing(mode) or mode.lower() == "cluster" else mode.upper(),
        preempt_exempt_seconds=None
        if values.nothing(exempt)
        else entry.read("PreemptExemptTime", lambda text: values.seconds(text, bare), 0),
        grace_seconds=entry.read("GraceTime", lambda text: values.seconds(text or "0", 1), 0),
        min_prio_threshold=entry.read("MinPrioThres", values.limit, None),
        limits=limits_of(entry, qos=True),
    )


def _number(text: str) -> int:
    return 0 if values.nothing(text) or values.endless(text) else values.whole(text)


def real(text: str) -> float:
    """A factor, 1 where there is none."""
    try:
        factor = 1.0 if values.nothing(text) else float(text)
    except ValueError:
        factor = -1.0
    if not 0 <= factor < float("inf"):
        raise ValueError(f"{text!r} is not a number from 0 up")
    return factor


def _factor(text: str) -> float | None:
    return None if values.nothing(text) else real(text)


@dataclass(frozen=True, slots=True)
class Given:
    """An association as it is written: its names, its parent's name, and the line."""

    account: str
    user: str
    parent: str
    entry: Entry


def read_associations(path: Path, cluster: str = "") -> tuple[tuple[Association, ...], list[Entry]]:
    """Associations with the root first and parents before children, and the line of each."""
    text = text_of(path, "the associations")
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    given = _dumped(path, text) if DUMPED.match(first) else _shown(path, cluster)
    return tree(given)


def _dumped(path: Path, text: str) -> list[Given]:
    """The lines of `sacctmgr dump`."""
    given: list[Given] = []
    root, parent = "root", ""
    known: set[str] = set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = DUMPED.match(line)
        if match is None:
            message = f"{line.strip()[:40]!r} is not a line of sacctmgr dump such as User - 'ann':Fairshare=1"
            raise InputError(message, file=path, line=number)
        kind, name = match[1].lower(), match[2].strip()
        if kind == "qos":
            continue
        entry = Entry(str(path), number, dump_pairs(match[3] or ""))
        if kind == "cluster":
            if given:
                message = f"a second cluster, {name}; keep the lines of one in this file"
                raise InputError(message, file=path, line=number)
            given.append(Given(root, "", "", entry))
        elif kind == "parent":
            if not known:
                root = name  # the dump begins with the root account, whatever it is called
                given = [Given(root, "", "", item.entry) for item in given]
                known.add(root)
            if name not in known:
                message = f"the account {name} is a parent here and was not defined above; "
                raise InputError(message + "add its Account line", file=path, line=number)
            parent = name
        elif not parent:
            message = f"the {kind} {name} has no parent; a line Parent - 'root' must come before it"
            raise InputError(message, file=path, line=number)
        elif kind == "account":
            if name in known:
                raise entry.error(f"the account {name} is defined a second time")
            known.add(name)
            given.append(Given(name, "", parent, entry))
        else:
            given.append(Given(parent, name, parent, entry))
    return given


def dump_pairs(text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for part in _SPLIT.split(text):
        key, _, value = part.partition("=")
        if key.strip():
            pairs[key.strip()] = value.strip().strip("'")
    return pairs


def _shown(path: Path, cluster: str) -> list[Given]:
    """The rows of `sacctmgr show associations`, whose parents a column or the indent of the tree names."""
    rows = list(table(path, "associations"))
    clusters = {entry.get("Cluster") for entry in rows} - {""}
    if len(clusters) > 1:
        if cluster not in clusters:
            listed = ", ".join(sorted(clusters))
            raise InputError(f"holds the clusters {listed}; keep one of them", file=path)
        rows = [entry for entry in rows if entry.get("Cluster") == cluster]
    named = bool(rows) and "ParentName" in rows[0]
    indented = any(entry.get("Account").startswith(" ") for entry in rows)
    if not named and not indented:
        command = f"sacctmgr --parsable2 show associations format={','.join(ASSOCIATIONS)}"
        raise InputError(
            f"does not say which account is the parent of which; export with: {command}", file=path
        )
    given: list[Given] = []
    stack: list[tuple[int, str]] = []
    for entry in rows:
        written = entry.get("Account")
        account, user = written.strip(), entry.get("User").strip()
        if user:
            given.append(Given(account, user, account, entry))
            continue
        if named:
            given.append(Given(account, "", entry.get("ParentName").strip(), entry))
            continue
        depth = len(written) - len(written.lstrip(" "))
        while stack and stack[-1][0] >= depth:
            stack.pop()
        given.append(Given(account, "", stack[-1][1] if stack else "", entry))
        stack.append((depth, account))
    return given


def tree(given: list[Given]) -> tuple[tuple[Association, ...], list[Entry]]:
    """Associations in an order in which each comes after its parent."""
    accounts = {item.account for item in given if not item.user}
    roots = [item for item in given if not item.user and not item.parent]
    if not given:
        return (), []
    if len(roots) != 1:
        second = roots[1] if roots else given[0]
        what = "is a second account" if roots else "no account is one"
        raise second.entry.error(f"{second.account}: {what} without a parent; there is one root account")
    for item in given:
        if item.parent and item.parent not in accounts:
            what = f"the user {item.user} is in" if item.user else f"the account {item.account} is below"
            raise item.entry.error(f"{what} the account {item.parent}, which is not there")
    top = roots[0]
    if not any(item.user in ("root", top.account) and item.account == top.account for item in given):
        # The database always has root as a user of the root account, whether or not it is listed.
        always = Given(top.account, "root", top.account, Entry(top.entry.file, top.entry.line, {}))
        given = [always, *given]
    children: dict[str, list[Given]] = {}
    for item in given:
        if item is not roots[0]:
            children.setdefault(item.parent, []).append(item)
    found: list[Association] = []
    entries: list[Entry] = []
    waiting: list[tuple[Given, int]] = [(roots[0], -1)]
    while waiting:
        item, parent = waiting.pop(0)
        place = len(found)
        found.append(association_of(item.account, item.user, parent, found, item.entry))
        entries.append(item.entry)
        if not item.user:
            waiting += [(child, place) for child in children.get(item.account, ())]
    if len(found) < len(given):
        reached = {(one.account, one.user) for one in found}
        lost = next(item for item in given if (item.account, item.user) not in reached)
        raise lost.entry.error(f"the account {lost.account} is below itself; correct its parent")
    return tuple(found), entries


def association_of(
    account: str, user: str, parent: int, above: list[Association], entry: Entry
) -> Association:
    """An association with what it inherits from its parent."""
    upper = above[parent] if parent >= 0 else None
    default = next((entry.get(key) for key in ("DefaultQOS", "DefQOS") if key in entry), "")
    written = entry.get("QOS") or entry.get("QosLevel")
    limits = limits_of(entry)
    return Association(
        account=account,
        user=user,
        partition=entry.get("Partition").strip(),
        parent=parent,
        shares=next(
            (entry.read(key, shares_of, 1) for key in ("Fairshare", "Shares", "Share") if key in entry), 1
        ),
        priority=entry.read("Priority", _number, upper.priority if upper else 0),
        default_qos=default or (upper.default_qos if upper else ""),
        qos=_qos_list(written, upper.qos if upper else ()),
        limits=inherited(limits, upper.limits if upper else Limits()),
    )


def shares_of(text: str) -> int:
    """Shares, or PARENT."""
    return PARENT if text.strip().lower() == "parent" else values.whole(text or "1")


def _qos_list(text: str, above: tuple[str, ...]) -> tuple[str, ...]:
    """QOS an association may use: its own list, else the parent's, changed by +name and -name."""
    words = values.names(text)
    if not words:
        return above
    if not any(word[0] in "+-" for word in words):
        return words
    chosen = list(above)
    for word in words:
        name = word.lstrip("+-")
        if word.startswith("-"):
            chosen = [other for other in chosen if other != name]
        elif name not in chosen:
            chosen.append(name)
    return tuple(chosen)
