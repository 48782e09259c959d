"""GRID.toml: the clusters of a grid, what may be done to them, and where everything is kept.

[grid]
policy = "reallocation(heuristic=mct, period=60, threshold=5)"
folder = "state"                      # journal, sockets and logs; beside this file
fence = "state/fence"                 # on storage that all clusters see
page = "http://127.0.0.1:8900"        # optional: the agent's page

[control]
allow = ["submit", "cancel"]          # what may be done at all, and only with --control
acts_per_minute = 120

[[cluster]]
name = "bordeaux"
kind = "local"                        # or slurm, or simulated
procs = 8
speed = 1
policy = "conservative"
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from headway.documents import read_toml
from headway.errors import InputError, UsageError
from headway.platform import Cluster, Platform
from headway.policies.spec import Spec, parse_spec
from headway.values import NUMBER, fits

KINDS = ("local", "slurm", "simulated")
ACTS = ("submit", "cancel", "kill", "suspend", "requeue")
"""Kinds of acts. Releasing a held job belongs to submit, moving one is submit and cancel."""
GRID_KEYS = (
    "policy", "folder", "fence", "listen", "page", "poll", "timeout", "keep", "token", "tls_cert", "tls_key",
    "tls_ca", "scale",
)  # fmt: skip
CONTROL_KEYS = ("allow", "acts_per_minute")
CLUSTER_KEYS = (
    "name", "kind", "procs", "speed", "policy", "listen", "partition", "account", "qos", "conf", "options",
    "steer",
)  # fmt: skip

TAKEN = ("agent", "fence")
"""Names of the grid's own in its folder, where each cluster has its lock, its socket and its files."""

OWN_FILE = re.compile(r"(?<![\w/.])[\w./-]+\.py(?=:)")
"""The file of a policy or a key of the user's own, which lies beside the grid file."""


@dataclass(frozen=True)
class Site:
    """One cluster of the grid, and how its batch system is spoken to."""

    cluster: Cluster
    kind: str
    policy: Spec
    listen: str
    partition: str = ""
    account: str = ""
    qos: str = ""
    conf: str = ""
    """Slurm's configuration, where it is not the machine's own (SLURM_CONF)."""
    options: tuple[str, ...] = ()
    """Further options of sbatch for every job."""
    steer: bool = False
    """Whether the policy decides on starts, in place of Slurm's own."""

    @property
    def name(self) -> str:
        return self.cluster.name


@dataclass(frozen=True)
class Grid:
    """A grid as its file describes it."""

    file: Path
    policy: Spec
    sites: tuple[Site, ...]
    folder: Path
    fence: Path
    listen: str
    page: str = ""
    poll: float = 1.0
    """Seconds between two looks at the clusters."""
    timeout: float = 15.0
    """Seconds to wait for an answer."""
    keep: int = 10_000
    """Tasks that are over and still remembered."""
    scale: float = 0.0
    """Simulated seconds in a real one; 0: as quickly as possible. Only for simulated clusters."""
    token: Path | None = None
    tls: tuple[str, str] | None = None
    tls_ca: str | None = None
    allow: tuple[str, ...] = ("submit", "cancel")
    acts_per_minute: int = 120

    @property
    def platform(self) -> Platform:
        return Platform(tuple(site.cluster for site in self.sites), str(self.file))

    @property
    def is_simulated(self) -> bool:
        return self.sites[0].kind == "simulated"

    def site(self, name: str) -> Site:
        """A cluster by its name."""
        for site in self.sites:
            if site.name == name:
                return site
        names = ", ".join(site.name for site in self.sites)
        raise UsageError(f"{self.file} has no cluster {name!r}; it has {names}")

    def secret(self) -> str | None:
        """The token, where there is one."""
        from headway.live.wire import read_token

        return None if self.token is None else read_token(self.token)


LARGEST = 1e9
"""The largest number that an entry may have: seconds of thirty years."""


def short_path(path: Path) -> Path:
    """A path for a socket; one that is too long for a socket becomes a name of the user's own under /tmp."""
    from headway.live.wire import SOCKET_PATH

    if len(str(path).encode()) <= SOCKET_PATH:
        return path
    word = hashlib.sha256(str(path).encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"headway-{os.getuid()}" / f"{word}.sock"


def load_grid(file: str | Path) -> Grid:
    """Read GRID.toml."""
    path = Path(file)
    document = read_toml(path)
    try:
        return _Reader(path.absolute(), document).grid()
    except UsageError as error:
        raise InputError(str(error), file=path) from None


class _Reader:
    """The document of a grid file."""

    def __init__(self, path: Path, document: dict[str, Any]) -> None:
        self.path, self.document = path, document

    def grid(self) -> Grid:
        for key in self.document:
            if key not in ("grid", "control", "cluster"):
                raise self.error("unknown key; a grid file has [grid], [control] and [[cluster]]", key)
        grid = self.table("grid", GRID_KEYS)
        control = self.table("control", CONTROL_KEYS)
        policy = parse_spec(str(grid.get("policy", "reallocation")))
        if policy.name != "reallocation":
            raise self.error(
                f"must be reallocation(...), not {policy.name}; a cluster's own policy stands in its "
                "[[cluster]] table",
                "grid: policy",
            )
        folder = self.file(grid, "folder", "grid") or self.place(f"{self.path.stem}-state")
        tls = (self.file(grid, "tls_cert", "grid"), self.file(grid, "tls_key", "grid"))
        ca = self.file(grid, "tls_ca", "grid")
        if (tls[0] is None) != (tls[1] is None):
            raise self.error("tls_cert and tls_key belong together", "grid")
        allow = self.words(control, "allow", ("submit", "cancel"), "control")
        for act in allow:
            if act not in ACTS:
                raise self.error(f"{act!r} is none of {', '.join(ACTS)}", "control: allow")
        sites = self.sites(folder, policy)
        listen = self.address(grid.get("listen", "unix"), folder / "agent.sock")
        page = self.page(grid)
        self.check_addresses([listen, *(site.listen for site in sites)], page, "token" in grid)
        return Grid(
            file=self.path,
            policy=policy,
            sites=sites,
            folder=folder,
            fence=self.file(grid, "fence", "grid") or folder / "fence",
            listen=listen,
            page=page,
            poll=self.number(grid, "poll", 1.0, 0.05),
            timeout=self.number(grid, "timeout", 15.0, 0.1),
            keep=int(self.number(grid, "keep", 10_000, 1)),
            scale=self.number(grid, "scale", 0.0, 0.0),
            token=self.file(grid, "token", "grid"),
            tls=None if tls[0] is None else (str(tls[0]), str(tls[1])),
            tls_ca=None if ca is None else str(ca),
            allow=allow,
            acts_per_minute=int(self.number(control, "acts_per_minute", 120, 1)),
        )

    def sites(self, folder: Path, policy: Spec) -> tuple[Site, ...]:
        tables = self.document.get("cluster", [])
        if not fits(tables, [dict]):
            raise self.error("must be written as a list of tables, [[cluster]]", "cluster")
        if not tables:
            raise self.error("has no cluster; add a [[cluster]] table with name and procs", "")
        sites = tuple(self.site(table, number, folder, policy) for number, table in enumerate(tables, 1))
        names = [site.name for site in sites]
        for name in names:
            if names.count(name) > 1:
                raise self.error(f"two clusters are called {name!r}; their names must differ", "cluster")
        simulated = [site.kind == "simulated" for site in sites]
        if any(simulated) and not all(simulated):
            raise self.error(
                "simulated clusters have a clock of their own: a grid has only such, or none", "cluster: kind"
            )
        return sites

    def site(self, table: dict[str, Any], number: int, folder: Path, policy: Spec) -> Site:
        where = f"cluster {number}"
        for key in table:
            if key not in CLUSTER_KEYS:
                raise self.error(f"unknown key; known are {', '.join(CLUSTER_KEYS)}", f"{where}: {key}")
        kind = table.get("kind", "local")
        if kind not in KINDS:
            raise self.error(f"must be one of {', '.join(KINDS)}, not {kind!r}", f"{where}: kind")
        if not isinstance(table.get("name"), str) or not re.fullmatch(r"\w[\w.-]*", table["name"]):
            raise self.error("needs a name of letters, digits, - and _", where)
        if table["name"] in TAKEN:
            raise self.error(f"cannot be called {table['name']}, as a file of the grid is", where)
        if "procs" not in table:
            raise self.error("procs is missing: how many processors tasks may use", where)
        try:
            cluster = Cluster(table["name"], table.get("speed", 1), table["procs"])
            local = self.local_policy(table, policy, kind).policy.on_cluster().spec
        except UsageError as error:
            raise self.error(str(error), where) from None
        listen = self.address(table.get("listen", "unix"), folder / f"{cluster.name}.sock")
        options_of_slurm = ("partition", "account", "qos")
        texts = {key: self.text(table, key, where) for key in options_of_slurm if key in table}
        if conf := self.file(table, "conf", where):
            texts["conf"] = str(conf)
        options = self.words(table, "options", (), where)
        steer = table.get("steer", False)
        if not isinstance(steer, bool):
            raise self.error(f"must be true or false, not {steer!r}", f"{where}: steer")
        return Site(cluster, kind, local, listen, options=options, steer=steer, **texts)

    def local_policy(self, table: dict[str, Any], policy: Spec, kind: str) -> Spec:
        """The cluster's own policy, else the grid's ``local``; for Slurm how its starts are foreseen."""
        given = table.get("policy")
        if given is not None:
            return parse_spec(OWN_FILE.sub(lambda file: str(self.place(file[0])), str(given)))
        if kind == "slurm" and not table.get("steer"):
            return parse_spec("slurm")
        local = policy.params["local"]
        assert isinstance(local, Spec)
        return local

    # ---- values -------------------------------------------------------------------------------------------

    def table(self, name: str, known: tuple[str, ...]) -> dict[str, Any]:
        table = self.document.get(name, {})
        if not isinstance(table, dict):
            raise self.error(f"must be a table, [{name}]", name)
        for key in table:
            if key not in known:
                raise self.error(f"unknown key; known are {', '.join(known)}", f"{name}: {key}")
        return table

    def number(self, table: dict[str, Any], key: str, default: float, low: float) -> float:
        value = table.get(key, default)
        if not fits(value, NUMBER) or not low <= value <= LARGEST:
            raise self.error(f"must be a number from {low:g} to {LARGEST:g}, not {value!r}", key)
        return float(value)

    def text(self, table: dict[str, Any], key: str, where: str) -> str:
        if not isinstance(table[key], str) or not table[key].isprintable():
            raise self.error(f"must be text in quotes, not {table[key]!r}", f"{where}: {key}")
        return str(table[key])

    def file(self, table: dict[str, Any], key: str, where: str) -> Path | None:
        """A path beside the grid file, where one is given."""
        if key not in table:
            return None
        if not (name := self.text(table, key, where)):
            raise self.error("is empty; name a file or folder, or leave it out", f"{where}: {key}")
        return self.place(name)

    def words(self, table: dict[str, Any], key: str, default: tuple[str, ...], where: str) -> tuple[str, ...]:
        value = table.get(key, list(default))
        if not fits(value, [str]):
            raise self.error("must be a list of words in quotes", f"{where}: {key}")
        return tuple(value)

    def place(self, name: str) -> Path:
        try:
            return (self.path.parent / Path(name).expanduser()).absolute()
        except RuntimeError:
            raise self.error(f"{name} is below the home of somebody who has none here", "") from None

    def address(self, value: object, default: Path) -> str:
        from headway.live.wire import checked

        if value == "unix":
            return checked(f"unix:{short_path(default)}")
        kind, _, path = str(value).partition(":")
        return checked(f"unix:{self.place(path)}" if kind == "unix" and path else str(value))

    def page(self, grid: dict[str, Any]) -> str:
        """The address of the agent's page, which this machine alone can open."""
        from headway.live.wire import is_loopback

        page = "" if "page" not in grid else self.address(grid["page"], self.path)
        if page and not is_loopback(str(urlsplit(page).hostname)):
            raise self.error("must be of this machine alone, such as http://127.0.0.1:8900", "grid: page")
        return page

    def check_addresses(self, addresses: list[str], page: str, token: bool) -> None:
        """Agent, page and servers have an address each, and on a port nobody is let in without a token."""
        for address in filter(None, (*addresses, page)):
            if (*addresses, page).count(address) > 1:
                raise self.error(f"two of agent, page and clusters are at {address}; give each its own", "")
        for address in addresses:
            if not token and not address.startswith("unix:"):
                raise self.error(f"{address} needs a token: name the file that holds one", "grid: token")

    def error(self, message: str, where: str) -> InputError:
        return InputError(message, file=self.path, field=where or None)
