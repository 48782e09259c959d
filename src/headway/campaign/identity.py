"""What makes a cell itself: digests of the content of its inputs and of the code that runs it.

A file that moves is the same input, an edited file under an old name is another one.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import headway
from headway.errors import UsageError
from headway.grammar import value_text
from headway.platform import Platform
from headway.policies.own.loading import digests, sources
from headway.policies.spec import Spec
from headway.site.described import digest
from headway.workload import Workload

FACES = {"cli", "report", "figures", "papers", "export.py", "replay", "explain", "check", "__main__.py"}
"""Parts of the package that no result depends on."""


@cache
def code_digest() -> str:
    """Digest of the version and of every source file that a result depends on."""
    package = Path(headway.__file__).parent
    digest = hashlib.sha256(headway.__version__.encode())
    for path in sorted(package.rglob("*.py")):
        part = path.relative_to(package)
        if part.parts[0] not in FACES:
            digest.update(part.as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def workload_digest(workload: Workload) -> str:
    """Digest of the jobs: every column, the names of their codes, the log's count, machine and first second.

    Agents see the time of day, which the log's beginning decides.
    """
    digest = hashlib.sha256()
    for name, values in sorted(workload.columns.items()):
        digest.update(f"{name} {values.dtype.str} {len(values)}\n".encode())
        digest.update(np.ascontiguousarray(values).data)
    rest = {
        "labels": workload.labels,
        "jobs in the log": workload.ledger.total,
        "machine": workload.header.max_procs,
        "begins": workload.header.unix_start,
        "too_large": workload.rules.get("too_large", "drop"),
    }
    digest.update(json.dumps(rest, sort_keys=True).encode())
    return digest.hexdigest()


def machine_key(machine: Platform) -> dict[str, Any]:
    """A machine as plain data; a site by the digest of its content, wherever its folder is and whatever its
    name."""
    described = machine.describe()
    return described if machine.site is None else described | {"cluster": [], "site": digest(machine.site)}


def policy_key(spec: Spec) -> object:
    """A policy as plain data: the catalogue's by name, a user's own by the bytes of its sources."""
    params = {name: _parameter_key(value) for name, value in spec.params.items()}
    if not spec.is_user:
        return [spec.name, params | {name: content_digest(file) for name, file in spec.files().items()}]
    return ["user", spec.attribute, params, digests(user_source(spec))]


def content_digest(file: str) -> str:
    """Digest of a file that is read; its path where there is none, which the run will tell."""
    path = Path(os.path.expanduser(file))
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else file


def _parameter_key(value: object) -> object:
    return policy_key(value) if isinstance(value, Spec) else value_text(value)


def own_files(spec: Spec) -> list[Path]:
    """The files of the user's own that a spec names, at whatever depth."""
    found = [user_source(spec)] if spec.is_user and spec.given is None else []
    for value in spec.params.values():
        if isinstance(value, Spec):
            found += own_files(value)
    return found


def source_digests(spec: Spec) -> dict[str, str]:
    """SHA-256 of every file that a policy is made of or reads, by its path; most are of none."""
    found = {str(Path(file)): content_digest(file) for file in spec.files().values()}
    for file in own_files(spec):
        found |= file_digests(file)
    for value in spec.params.values():
        if isinstance(value, Spec):
            found |= source_digests(value)
    return found


def file_digests(file: Path) -> dict[str, str]:
    """SHA-256 of a file of the user's and of those that it imports, by their paths."""
    known = digests(file)
    return {str(place): known[name] for name, place in sources(file).items()}


def user_source(spec: Spec) -> Path:
    """The file in which a user's policy stands."""
    return source_file(spec.file, spec.module, spec.name)


def source_file(file: str | None, module: str | None, name: str) -> Path:
    """The Python file of a thing named ./file.py:Name or module:Name."""
    if file is not None:
        path = Path(os.path.expanduser(file))
    else:
        try:
            found = find_spec(module or "")
        except ModuleNotFoundError:
            found = None
        if found is None or found.origin is None:
            raise UsageError(f"{name}: there is no module {module}; install it, or name ./file.py:Name")
        path = Path(found.origin)
    if not path.is_file():
        raise UsageError(f"{name}: there is no file {path}; give the path of the Python file")
    return path


def as_text(parts: object) -> str:
    """Plain data as text, the same for the same data."""
    return json.dumps(parts, sort_keys=True)


def digest_of(*parts: str | int) -> str:
    """A cell's name: a digest of everything that decides its result."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:32]
