"""Where a campaign's workloads come from: logs, registered names, sites, models, or workloads at hand.

``{seed}`` in a model or transformation is replaced by each seed of the campaign; a source without it gives
the same workloads under every seed and is read once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import Any

from headway.errors import UsageError
from headway.platform import Platform
from headway.site import Site, names_site
from headway.workload import Workload, read, read_annotations
from headway.workload.models import MODELS, generate
from headway.workload.rules import choose, refuse_unread
from headway.workload.transform import apply_each

SEED = "{seed}"
_WEEK = re.compile(r"week\(number=(\d+),")
_KEYS = ("trace", "model", "workload", "name", "apply", "rules", "annotations", "procs", "platform", "site")
_TEXTS = ("trace", "model", "name", "annotations", "platform", "site")


@dataclass(frozen=True)
class Source:
    """One origin of workloads: `trace`, `model` or `workload`; of a `site` alone its own log.

    `apply` are transformations, one after the other; some, such as weeks, give several workloads.
    `procs`, `platform` or `site` is the machine; without them the log's own, or the campaign's platforms.
    """

    name: str
    trace: str | None = None
    model: str | None = None
    workload: Workload | None = None
    apply: tuple[str, ...] = ()
    rules: Mapping[str, str] = field(default_factory=dict)
    annotations: str | None = None
    procs: int | None = None
    platform: str | None = None
    site: str | Site | None = None

    @property
    def seeded(self) -> bool:
        """Whether its workloads differ from seed to seed."""
        return any(SEED in text for text in (self.model or "", *self.apply))

    def expand(self, seeds: Sequence[int]) -> Iterator[list[Part]]:
        """Its workloads, seed by seed where they differ; what does not depend on the seed is done once."""
        try:
            yield from self._expanded(seeds)
        except UsageError as error:
            raise UsageError(f"workload {self.name}: {error}") from None

    def _expanded(self, seeds: Sequence[int]) -> Iterator[list[Part]]:
        fixed = 0
        while fixed < len(self.apply) and SEED not in self.apply[fixed]:
            fixed += 1
        site = self._site()
        machine = None if site is None else site.platform()
        common: list[Workload] | None = None
        for seed in seeds if self.seeded else seeds[:1]:
            if common is None or SEED in (self.model or ""):
                common = apply_each(self._open(seed, site), *self.apply[:fixed])
            rest = [text.replace(SEED, str(seed)) for text in self.apply[fixed:]]
            found = [result for each in common for result in apply_each(each, *rest)]
            yield [self._part(workload, place, seed, machine) for place, workload in enumerate(found)]

    def _site(self) -> Site | None:
        if not isinstance(self.site, str):
            return self.site
        return Site.load(self.site, self.rules.get("zone", "UTC"))

    def _open(self, seed: int, site: Site | None) -> Workload:
        if self.workload is not None:
            return self.workload
        if self.model is not None:
            return generate(self.model.replace(SEED, str(seed)))
        choose(self.rules)
        if site is not None:
            workload = site.read_jobs(self.trace, **self.rules)
        else:
            workload = read(str(self.trace), format=None, compiled=None, **self.rules)
        events = () if site is None else ("zone",)  # whose clock times are in it too
        refuse_unread(self.rules, workload.source.format, workload.source.name, but=events)
        return workload if self.annotations is None else read_annotations(workload, self.annotations)

    def _part(self, workload: Workload, place: int, seed: int, machine: Platform | None) -> Part:
        week = next((m for text in workload.transformations if (m := _WEEK.match(text))), None)
        number = int(week[1]) if week else place
        # Versions of one week under several seeds are one block; a model's seeds are samples of their own.
        drawn = f" seed {seed}" if SEED in (self.model or "") else ""
        return Part(self, workload, number, f"{self.name}{drawn} part {number}", seed, machine)


@dataclass(frozen=True)
class Part:
    """One workload of a source: its number there (a week's own), its block for statistics, its seed.

    `machine` is that of the source's site.
    """

    source: Source
    workload: Workload
    number: int
    block: str
    seed: int
    machine: Platform | None = None


def make_source(given: object, apply: Sequence[str] = (), folder: Path | None = None) -> Source:
    """A source from a path or registered name, a site, a model's spec, a workload, or a table of keys.

    `apply` follows what the source itself applies; relative paths are looked up in `folder` first.
    """
    if isinstance(given, Workload):
        return Source(_short(given.source.name), workload=given, apply=tuple(apply))
    if isinstance(given, Site):
        return make_source({"site": given}, apply, folder)
    if isinstance(given, (str, Path)):
        text = str(given)
        key = "model" if _is_model(text) else "trace"
        return make_source({key: text}, apply, folder)
    if not isinstance(given, Mapping):
        raise UsageError(f"a workload is a file, site, model, Workload or table of keys, not {given!r}")
    return _from_table(dict(given), tuple(apply), folder)


def _from_table(table: dict[str, Any], apply: tuple[str, ...], folder: Path | None) -> Source:
    _check_values(table)
    for key in ("trace", "annotations", "platform", "site"):
        if isinstance(table.get(key), (str, Path)):
            table[key] = located(str(table[key]), folder)
    if table.get("trace") is not None and names_site(table["trace"]):
        if table.get("site") is not None:
            raise UsageError(f"workload: {table['trace']} is a site itself; leave out site, or give a log")
        table["site"] = table.pop("trace")
    origins = [key for key in ("trace", "model", "workload") if table.get(key) is not None]
    if not origins and table.get("site") is not None:
        origins = ["site"]
    if len(origins) != 1:
        raise UsageError("workload: give exactly one of trace, model and workload, or a site with its log")
    machines = [key for key in ("procs", "platform", "site") if table.get(key) is not None]
    if len(machines) > 1:
        raise UsageError(f"workload: give either {' or '.join(machines)}, not both")
    rules = table.get("rules", {})
    if origins[0] in ("model", "workload") and (rules or table.get("annotations") is not None):
        raise UsageError("workload: rules and annotations are for a trace; a model or workload has none")
    table["apply"] = texts(table.get("apply", ()), "workload: apply") + apply
    table.setdefault("name", _name(table[origins[0]], origins[0]))
    return Source(**table)


def _check_values(table: Mapping[str, Any]) -> None:
    """Refuse keys that there are not, and values that are none of theirs."""
    for key in table:
        if key not in _KEYS:
            raise UsageError(f"workload: there is no key {key!r}; there are {', '.join(_KEYS)}")
    procs = table.get("procs")
    whole = isinstance(procs, Integral) and not isinstance(procs, bool)
    if procs is not None and not (whole and int(procs) >= 1):
        raise UsageError(f"workload: procs must be a whole number of at least 1, not {procs!r:.40}")
    for key in _TEXTS:
        text = isinstance(table.get(key), (str, Path)) and str(table[key])
        if table.get(key) is not None and not (text or (key == "site" and isinstance(table[key], Site))):
            raise UsageError(f"workload: {key} must be a text, not {table[key]!r:.40}")
    rules = table.get("rules", {})
    if not isinstance(rules, Mapping) or not all(isinstance(value, str) for value in rules.values()):
        raise UsageError(
            f"workload: rules is a table of texts, as in {{overrun = 'trust'}}, not {rules!r:.40}"
        )


def _name(origin: Any, key: str) -> str:
    """What a workload is called in the results that was given no name."""
    if key == "model":
        return str(origin)
    if isinstance(origin, Workload):
        return _short(origin.source.name)
    if isinstance(origin, Site):
        return origin.name
    # A site written by hand is called like the folder it is in.
    return _short(str(Path(origin).resolve().parent if str(origin).endswith(".toml") else origin))


def texts(given: object, key: str) -> tuple[str, ...]:
    """A text, or a list of them, as a list."""
    listed = (given,) if isinstance(given, str) else given
    if not isinstance(listed, Sequence) or not all(isinstance(each, str) for each in listed):
        raise UsageError(f"{key} must be a text or a list of texts, not {given!r:.40}")
    return tuple(listed)


def located(name: str, folder: Path | None) -> str:
    """A path as seen from `folder` where such a file is there, else the name as it is."""
    if folder is None or Path(name).is_absolute():
        return name
    beside = folder / name
    return str(beside) if beside.exists() else name


def _is_model(text: str) -> bool:
    return "(" in text and text.split("(", 1)[0].strip() in MODELS


def _short(name: str) -> str:
    """A file's name without folder and endings."""
    return re.sub(r"\.(swf|csv|json|parquet|txt)?(\.gz)?$", "", Path(name).name) or name
