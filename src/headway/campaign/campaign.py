"""A campaign: policies x parameters x workloads x seeds, run once each and kept."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import headway
from headway.campaign.cells import batches
from headway.campaign.identity import content_digest, file_digests, own_files, source_digests
from headway.campaign.measure import Batch, Cell, Settings, measure_file
from headway.campaign.results import Results
from headway.campaign.running import Run, Tell, run_cells
from headway.campaign.sources import Source, located, make_source, texts
from headway.campaign.store import CAMPAIGN, Store
from headway.campaign.sweep_file import arguments_of
from headway.campaign.variants import variants
from headway.campaign.workers import local_workers
from headway.cores import cores
from headway.errors import HeadwayError, InputError, UsageError
from headway.platform import Outages, Platform
from headway.policies.own.loading import unseen
from headway.site import Site


class Campaign:
    """Simulations of every workload under every policy, each run once and never again.

    workloads: logs (paths or registered names), folders of Slurm sites, models such as
        ``lublin(jobs=1000, procs=64, seed={seed})``, `Workload` and `Site` objects, or tables with the keys
        trace, model or workload, and name, apply, rules, annotations, procs, platform, site.
    policies: specs, or tables with the keys policy, grid (all combinations), points (a list of parameter
        sets), changes (of the machine or jobs, as `headway what-if` takes them, each text a variant),
        baseline, equal (as many processors for the baseline; the default), label.
    apply: transformations of every workload, after its own; weeks and its like give several workloads.
    platforms: numbers of processors, platform files or names, or `Platform` objects; by default each log's
        own machine.
    seeds: they replace ``{seed}`` in models, transformations and policies, and are given to users' policies.
        `replications` = n stands for the seeds 0 to n - 1.
    baseline: the policy that others are paired with, by workload and seed, unless they say otherwise.
    tau, trim: of the metrics, in seconds and percent. `metrics` names those wanted, beside `jobs`; by
        default all.
    measures: functions of your own from a schedule to named numbers, ``./file.py:function``.
    classes: keep the means by size, user and queue, for winners and losers.
    schedules: keep the schedule of every cell.
    folder: where relative paths are looked up first.
    """

    def __init__(
        self,
        workloads: Sequence[object] | object,
        policies: Sequence[object] | object,
        *,
        apply: Sequence[str] | str = (),
        platforms: Sequence[object] | object | None = None,
        seeds: Sequence[int] | None = None,
        replications: int | None = None,
        baseline: str | None = None,
        tau: float = 10,
        trim: float = 0,
        metrics: Sequence[str] | None = None,
        measures: Sequence[str] = (),
        classes: bool = False,
        schedules: bool = False,
        name: str = "campaign",
        folder: str | Path | None = None,
    ) -> None:
        self.file: str | None = None
        self._read: dict[str, dict[str, str]] = {}
        """SHA-256 of the logs and sites that were read, by the names of the workloads."""
        place = None if folder is None else Path(folder)
        common = texts(apply, "apply")
        self.name = name
        self.seeds = _seeds(seeds, replications)
        self.sources: list[Source] = [make_source(each, common, place) for each in _listed(workloads)]
        self.variants = variants(_listed(policies), baseline, place, self.seeds)
        self.platforms = [_platform(each, place) for each in _listed(platforms)] or [None]
        chosen = {} if metrics is None else {"metrics": tuple(metrics)}
        if metrics is not None and "jobs" not in metrics:
            chosen["metrics"] += ("jobs",)  # where one policy runs fewer jobs than another, neither is better
        self.settings = Settings(
            tau, trim, measures=_measures(measures, place), classes=classes, schedules=schedules, **chosen
        )
        self._check()

    @classmethod
    def from_toml(cls, path: str | Path) -> Campaign:
        """The campaign that a sweep file describes."""
        arguments = arguments_of(Path(path))
        with _told_of(str(path)):
            made = cls(**arguments)
        made.file = str(path)
        return made

    def _check(self) -> None:
        if not self.sources:
            raise UsageError("a campaign needs at least one workload")
        names = [source.name for source in self.sources]
        for name in names:
            if names.count(name) > 1:
                raise UsageError(f"two workloads are called {name!r}; give one of them another name")
        used = any(source.seeded for source in self.sources) or any(
            v.spec.uses_own or v.seed is not None for v in self.variants
        )
        if len(self.seeds) > 1 and not used:
            raise UsageError(
                "nothing in this campaign depends on its seeds; write {seed} into a model, a transformation "
                "or a policy, as in shake(seed={seed}) or slurm(seed={seed}), or give one seed"
            )

    def opened(self) -> Iterator[list[Batch]]:
        """Workloads with their cells, opened source by source, and seed by seed, when they are reached."""
        with _told_of(self.file):
            for found in batches(self.sources, self.platforms, self.variants, self.seeds, self.settings):
                for batch in found:
                    for cell in batch.cells[:1]:
                        read = {"sha256": batch.workload.source.sha256, "site_sha256": batch.site}
                        self._read[cell.columns["workload"]] = read
                yield found

    @property
    def openings(self) -> int:
        """How many times something is opened."""
        return sum(len(self.seeds) if source.seeded else 1 for source in self.sources)

    def cells(self) -> list[Cell]:
        """Every cell, in order; this opens all workloads."""
        return [cell for found in self.opened() for batch in found for cell in batch.cells]

    def run(
        self,
        out: str | Path,
        *,
        workers: int | None = None,
        client: Any = None,
        retry_failed: bool = False,
        fresh: bool = False,
        progress: Tell | None = None,
        processes: bool | None = None,
        device: str = "cpu",
    ) -> Results:
        """Run the cells that are not in the folder `out` yet, and return all results.

        workers: how many cells are simulated at once, all cores by default. They are threads of this
            process, or processes where there are many of them, many short cells, or a policy written in
            Python; `processes` says which. client: a Dask client, whose cluster then does the work.
        device: "cuda" runs thousands of cells at once on a GPU, with the same results (`headway[cuda]`).
        retry_failed: run failed cells again. fresh: run all cells again, those that are there too.
        progress: called now and then with a `Progress`.

        Ctrl-C keeps what is finished; the same call goes on from there.
        """

        if workers is not None and not (_is_whole(workers) and workers >= 1):
            raise UsageError(f"workers must be a whole number of at least 1, not {workers!r}")
        if device not in DEVICES:
            raise UsageError(f"device must be {' or '.join(DEVICES)}, not {device!r}")
        if device == "cuda":
            if client is not None:
                raise UsageError("give either device='cuda' or a Dask client, not both")
            from headway.campaign.on_gpu import check_gpu

            check_gpu()
        # Finished cells are written with it; an interrupt in the middle of its import would lose them.
        import polars  # noqa: F401

        store = Store(out)
        with store.gone_if_empty(), store.writing() as kept:
            run = Run(store, self.settings, {} if fresh else kept, retry_failed)
            tell = progress or (lambda _: None)
            begin = time.monotonic()
            described = self.describe()
            store.write_json(CAMPAIGN, described)
            try:
                if client is not None:
                    from headway.campaign.on_dask import run_on_dask

                    run_on_dask(run, self.opened(), self.openings, client, tell)
                elif device == "cuda":
                    from headway.campaign.on_gpu import run_on_gpu

                    run_on_gpu(run, self.opened(), self.openings, tell)
                else:
                    count = workers or cores()
                    made = local_workers(count, processes, self._interpreted())
                    run_cells(run, self.opened(), self.openings, made, tell)
                if not run.plan:
                    raise UsageError(
                        "the transformations leave no workload, so there is nothing to run; "
                        "`headway weeks LOG` shows how busy a log's weeks are"
                    )
            finally:
                run.progress.seconds = time.monotonic() - begin
                if run.plan:
                    Results.write(store, list(run.plan.values()))
                    store.write_json(CAMPAIGN, described | {"workloads": self._workloads()})
            store.merge()
        return Results.open(out, run.progress)

    def unseen(self) -> list[str]:
        """Where policies and measures of the user's own take in what their cells' identity does not cover."""

        specs = [spec for v in self.variants for spec in (v.spec, v.baseline) if spec is not None]
        with _told_of(self.file):
            files = {file for spec in specs for file in own_files(spec)}
            files |= {measure_file(name) for name in self.settings.measures}
        return [place for file in sorted(files) for place in unseen(file)]

    def _interpreted(self) -> bool:
        """Whether simulating holds the interpreter's lock."""
        from headway.jit import kernels

        return kernels.INTERPRETED or any(variant.spec.uses_own for variant in self.variants)

    def describe(self) -> dict[str, Any]:
        """Plain data on the campaign, kept with its results."""
        with _told_of(self.file):
            files = self._files()
        return {
            "headway": headway.__version__,
            "name": self.name,
            "workloads": self._workloads(),
            "platforms": [None if p is None else p.describe() for p in self.platforms],
            "policies": [
                {"policy": str(v.spec), "baseline": None if v.baseline is None else str(v.baseline)}
                | ({"changes": v.changes} if v.changes else {})
                for v in self.variants
            ],
            "files": files,
            "seeds": list(self.seeds),
            "settings": self.settings.key() | {"measures": list(self.settings.measures)},
        }

    def _workloads(self) -> list[dict[str, Any]]:
        """Where they come from, with the digests of the logs and sites that were read already."""
        return [_described(source, self._read.get(source.name, {})) for source in self.sources]

    def _files(self) -> dict[str, str]:
        """SHA-256 of the user's own files that decide results: policies, agents, measures, annotations."""
        found = {source.annotations for source in self.sources if source.annotations is not None}
        known = {file: content_digest(file) for file in sorted(found)}
        for variant in self.variants:
            for spec in (variant.spec, variant.baseline):
                known |= {} if spec is None else source_digests(spec)
        for name in self.settings.measures:
            known |= file_digests(measure_file(name))
        return known


@contextmanager
def _told_of(file: str | None) -> Iterator[None]:
    """What is wrong with something that a sweep file names is told with the file."""
    try:
        yield
    except HeadwayError as error:
        raise (InputError(str(error), file=file) if file else error) from None


def _described(source: Source, digests: Mapping[str, str]) -> dict[str, Any]:
    keys = ("name", "trace", "model", "annotations", "procs", "platform")
    shown = {key: getattr(source, key) for key in keys}
    shown["site"] = str(source.site.folder) if isinstance(source.site, Site) else source.site
    return {key: value for key, value in shown.items() if value is not None} | {
        "apply": list(source.apply),
        "rules": dict(source.rules),
        **{key: digest for key, digest in digests.items() if digest},
    }


def _listed(given: Any) -> list[Any]:
    """A list of what may be given alone."""
    if given is None:
        return []
    alone = not isinstance(given, Iterable) or isinstance(given, (str, Path, Mapping))
    return [given] if alone else list(given)


def _platform(given: object, folder: Path | None) -> Platform | None:
    if isinstance(given, Platform):
        return given
    if isinstance(given, Mapping):
        if "events" in given or "on_failure" in given:
            return _with_events(given, folder)
        if set(given) == {"procs"}:
            return Platform.procs(given["procs"])
        if set(given) in ({"file"}, {"name"}):
            return _platform(next(iter(given.values())), folder)
        raise UsageError(
            "platform: give either procs = N or file = 'platform.toml' (or a known name), and perhaps "
            "events = 'events.csv' and on_failure"
        )
    if isinstance(given, int):
        return Platform.procs(given)
    return Platform.load(located(str(given), folder))


def _with_events(given: Mapping[str, Any], folder: Path | None) -> Platform | None:
    """A machine whose processors come and go, as a CSV of events says."""

    rest = {key: value for key, value in given.items() if key not in ("events", "on_failure")}
    machine = _platform(rest, folder)
    if machine is None or "events" not in given:
        raise UsageError("platform: on_failure goes with events = 'events.csv'")
    path = located(str(given["events"]), folder)
    return machine.with_outages(Outages.load(path, on_failure=str(given.get("on_failure", "requeue"))))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


DEVICES = ("cpu", "cuda")
"""What cells run on."""
MOST_SEEDS = 1_000_000
"""Replications at most: more would take years, and their list alone all memory."""


def _seeds(seeds: Sequence[int] | None, replications: int | None) -> list[int]:
    if seeds is not None and replications is not None:
        raise UsageError("give either seeds or replications, not both")
    if replications is not None:
        if not _is_whole(replications):
            raise UsageError(f"replications must be a whole number, not {replications!r:.40}")
        if not 1 <= replications <= MOST_SEEDS:
            bound = "at least 1" if replications < 1 else f"at most {MOST_SEEDS:,}"
            raise UsageError(f"replications must be {bound}, not {replications}")
        return list(range(replications))
    found = [0] if seeds is None else list(seeds) if isinstance(seeds, Iterable) else [-1]
    whole = all(map(_is_whole, found))
    if not found or not whole or min(found) < 0 or len(set(found)) < len(found):
        raise UsageError("seeds must be different whole numbers from 0 upwards, at least one")
    return found


def _measures(given: Sequence[str], folder: Path | None) -> tuple[str, ...]:
    names = []
    for name in texts(given, "measures"):
        home, _, attribute = name.rpartition(":")
        names.append(f"{located(home, folder)}:{attribute}" if home.endswith(".py") else name)
    return tuple(names)
