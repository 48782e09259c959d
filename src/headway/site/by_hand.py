"""A site written by hand in TOML, with Slurm's own names for everything.

name = "small"
jobs = "log.swf.gz"                        # optional; else jobs.txt beside this file

[parameters]                               # as in slurm.conf
PriorityWeightAge = 1000
SchedulerParameters = "bf_interval=60"

[[node]]
name = "n[1-16]"
CPUs = 8
RealMemory = 32000

[[partition]]
name = "normal"
Nodes = "ALL"
MaxTime = "6:00:00"
Default = true

[[qos]]
name = "high"
Priority = 1000
MaxTRESPU = { cpu = 80 }

[[account]]
name = "phys"                              # parent = "root" where nothing else is said
Fairshare = 50

[[user]]
name = "ann"
account = "phys"
QOS = ["normal", "high"]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headway.documents import parse_toml
from headway.errors import InputError
from headway.site.accounts import Given
from headway.site.config import Config
from headway.site.entries import Entry, text_of
from headway.values import fits

TABLES = ("node", "partition", "qos", "account", "user")
KEYS = ("name", "jobs", "parameters", *TABLES)
_HEADER = re.compile(r"\s*\[\[\s*(\w+)\s*\]\]")


class SiteFile:
    """The tables of a site.toml as entries with their lines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = text_of(path, "the site")
        self.document = parse_toml(self.text, path)
        for key in self.document:
            if key not in KEYS:
                raise InputError(
                    f"unknown key; a site by hand has {', '.join(KEYS)}; is it the right file?",
                    file=path,
                    field=key,
                )

    def entries(self, table: str, first: str) -> Iterator[Entry]:
        """The tables of one kind; their `name` under the key that Slurm has for it."""
        listed = self.document.get(table, [])
        if not fits(listed, [dict]):
            raise InputError(f"must be written as [[{table}]]", file=self.path, field=table)
        lines = [
            number
            for number, line in enumerate(self.text.splitlines(), 1)
            if (header := _HEADER.match(line)) and header[1] == table
        ]
        for place, one in enumerate(listed):
            line = lines[place] if place < len(lines) else 1
            pairs = {key: _text(value) for key, value in one.items()}
            if not pairs.get("name"):
                raise InputError("name is missing", file=self.path, line=line, field=table)
            yield Entry(str(self.path), line, {first: pairs.pop("name"), **pairs})

    def parameters(self) -> Config:
        """What stands in [parameters], and the name of the cluster."""
        given = self.document.get("parameters", {})
        if not isinstance(given, dict):
            raise InputError("must be written as [parameters]", file=self.path, field="parameters")
        lines = self.text.splitlines()

        def line(key: str) -> int:
            pattern = re.compile(rf'\s*"?{re.escape(key)}"?\s*=')
            return next((number for number, text in enumerate(lines, 1) if pattern.match(text)), 1)

        items = {key: _text(value) for key, value in given.items()}
        return Config(
            (key, value, Entry(str(self.path), line(key), {key: value})) for key, value in items.items()
        )

    def given_associations(self) -> list[Given]:
        """Accounts and users below a root account that need not be written."""
        accounts = list(self.entries("account", "Account"))
        users = list(self.entries("user", "User"))
        if not accounts and not users:
            return []
        given: list[Given] = []
        if not any(entry.get("Account") == "root" for entry in accounts):
            given.append(Given("root", "", "", Entry(str(self.path), 1, {})))
        for entry in accounts:
            name = entry.get("Account")
            given.append(Given(name, "", "" if name == "root" else entry.get("parent", "root"), entry))
        for entry in users:
            account = entry.get("account")
            if not account:
                raise entry.error(f'the user {entry.get("User")} has no account; add account = "NAME"')
            given.append(Given(account, entry.get("User"), account, entry))
        return given


def _text(value: Any) -> str:
    """A value of TOML as slurm.conf would have it."""
    if isinstance(value, bool):
        return "YES" if value else "NO"
    if isinstance(value, list):
        return ",".join(_text(one) for one in value)
    if isinstance(value, dict):
        return ",".join(f"{key}={_text(one)}" for key, one in value.items())
    return str(value)
