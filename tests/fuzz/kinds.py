"""The kinds of input: what is damaged, how, and which commands read it."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzz import grids, ground
from fuzz.mutations import BLIND, JSON, TEXT, Mutation, cell, packed
from headway.cli import main

Words = Callable[[Path, str], tuple[str, ...]]


@dataclass(frozen=True)
class Case:
    """Something that is read: a file at `path` in the ground, or words of a command where `path` is empty.

    `commands` take the ground and the damaged words. The first of them is run most often.
    """

    path: str
    commands: Sequence[Words]
    mutations: Sequence[Mutation] = TEXT
    samples: Sequence[bytes] = ()
    judges: bool = False
    keeps: bool = False
    """Whether the command keeps what was finished before something was refused."""
    program: Callable[[], None] = main
    """What is run with these words; by default Headway's command."""

    def mutant(self, sound: bytes, rng: random.Random) -> bytes:
        """Damaged once or a few times."""
        data = rng.choice(self.samples) if self.samples else sound
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            data = rng.choice(self.mutations)(data, rng)
        return data[: 1 << 20]


def _command(*words: str) -> Words:
    """Words in which {} stands for the ground, and {text} for the damaged words."""
    return lambda folder, text: tuple(
        text if word == "{text}" else word.replace("{}", str(folder)) for word in words
    )


def _reads(name: str) -> tuple[Words, ...]:
    return (
        _command("inspect", f"{{}}/{name}", "--json"),
        _command(
            "simulate", f"{{}}/{name}", "--policy", "fcfs", "--procs", "8", "--out", "{}/made", "--force"
        ),
        _command("convert", f"{{}}/{name}", "{}/made.swf", "--force", "--quiet"),
        _command("inspect", f"{{}}/{name}"),
    )


def _judged(folder: str) -> tuple[Words, ...]:
    return (
        _command("audit", f"{{}}/{folder}"),
        _command("explain", f"{{}}/{folder}", "3"),
        _command("report", f"{{}}/{folder}", "-o", "{}/made.html", "--force"),
        _command("report", "{}/easy", f"{{}}/{folder}", "-o", "{}/made.html", "--force"),
        _command("plot", f"{{}}/{folder}", "-o", "{}/made.svg", "--force"),
    )


KINDS: dict[str, tuple[Case, ...]] = {
    "SWF": (
        Case("fuzzed.swf", (*_reads("fuzzed.swf"), _command("anonymise", "{}/fuzzed.swf", "{}/made.swf", "--force")),
             samples=[ground.SWF]),
        Case("fuzzed.swf.gz", _reads("fuzzed.swf.gz")[:1], (packed,), [gzip.compress(ground.SWF)]),
    ),
    "sacct, text": (
        Case("fuzzed.txt", (*_reads("fuzzed.txt"), _command("anonymise", "{}/fuzzed.txt", "{}/made.txt", "--force")),
             samples=[ground.SACCT]),
    ),
    "sacct, JSON": (Case("fuzzed.json", _reads("fuzzed.json"), JSON, [ground.SACCT_JSON]),),
    "Batsim": (Case("fuzzed.json", _reads("fuzzed.json"), JSON, [ground.BATSIM]),),
    "annotations": (
        Case("fuzzed.csv",
             (_command("simulate", "{}/log.swf", "--policy", "fcfs", "--annotations", "{}/fuzzed.csv", "--quiet"),),
             samples=[ground.ANNOTATIONS]),
    ),
    "platform": (
        Case("fuzzed.toml",
             (_command("simulate", "{}/log.swf", "--policy", "fcfs", "--platform", "{}/fuzzed.toml", "--quiet"),
              _command("simulate", "{}/log.swf", "--policy", "reallocation", "--platform", "{}/fuzzed.toml", "--quiet")),
             samples=[ground.PLATFORM, ground.PLATFORM.partition(b"\n\n")[0]]),
    ),
    "sweep file": (
        Case("fuzzed.toml", (_command("sweep", "{}/fuzzed.toml", "--workers", "1", "--out", "{}/made", "--quiet"),),
             samples=[ground.SWEEP], judges=True, keeps=True),
    ),
    "specs and options": (
        Case("", (_command("policies", "{text}"), _command("simulate", "{}/log.swf", "--policy", "{text}", "--quiet")),
             samples=ground.POLICIES),
        Case("", (_command("generate", "{text}", "-o", "{}/made.swf", "--quiet", "--force"),), samples=ground.MODELS),
        Case("", (_command("convert", "{}/log.swf", "{}/made.swf", "--apply", "{text}", "--quiet", "--force"),),
             samples=ground.APPLIED),
        Case("", (_command("inspect", "{}/log.swf", "--rule", "{text}", "--json"),), samples=ground.RULES),
        Case("", (_command("simulate", "{}/log.swf", "--policy", "fcfs", "--procs", "{text}", "--quiet"),
                  _command("simulate", "{}/log.swf", "--policy", "fcfs", "--seed", "{text}", "--quiet"),
                  _command("explain", "{}/easy", "{text}")), samples=ground.NUMBERS),
    ),
    "schedule of another tool": (
        Case("fuzzed.csv", (_command("audit", "{}/fuzzed.csv", "--trace", "{}/log.swf"),), judges=True,
             samples=[ground.FOREIGN]),
        Case("fuzzed.csv", (_command("audit", "{}/easy/schedule.csv", "--trace", "{}/log.swf", "--runs", "{}/fuzzed.csv"),),
             samples=[ground.FOREIGN_RUNS], judges=True),
    ),
    "site": tuple(
        # Tables take most of the time; three of four mutants do without.
        Case(f"site/{name}", (_command("site", "{}/site", "--json"), _command("site", "{}/site")))
        for name in ground.SITE
    ),
    "site by hand": (Case("fuzzed.toml", (_command("site", "{}/fuzzed.toml", "--json"),), samples=[ground.BY_HAND]),),
    "site archive": (  # a folder that is made of one stays, so that what is wrong in it can be corrected
        Case("fuzzed.tar.gz", (_command("site", "import", "{}/fuzzed.tar.gz", "{}/made", "--quiet"),), (packed,),
             [gzip.compress(archive) for archive in ground.ARCHIVES], keeps=True),
        Case("fuzzed.tar", (_command("site", "import", "{}/fuzzed.tar", "{}/made", "--quiet"),), BLIND,
             ground.ARCHIVES, keeps=True),
        Case("fuzzed.tar", (_command("anonymise", "{}/fuzzed.tar", "{}/made", "--quiet"),), TEXT, ground.ARCHIVES),
    ),
    "changes and instants": (
        Case("", (_command("what-if", "{}/log.swf", "{text}", "--json"),), samples=ground.CHANGES),
        Case("", (_command("when", "{}/log.swf", "--procs", "2", "--walltime", "10m", "--at", "{text}", "--draws", "10",
                           "--teachers", "0", "--alone", "--json"),
                  _command("when", "{}/log.swf", "--procs", "2", "--walltime", "{text}", "--draws", "10",
                           "--teachers", "0", "--alone", "--json"),
                  _command("when", "{}/log.swf", "--procs", "2", "--walltime", "10m", "--within", "{text}", "--draws", "10",
                           "--teachers", "0", "--alone", "--json")), samples=ground.INSTANTS),
    ),
    "SWF, in parts": (
        Case("fuzzed.swf",
             (_command("simulate", "{}/fuzzed.swf", "--policy", "easy", "--stream", "--procs", "8", "--out", "{}/made",
                       "--force", "--quiet"),), samples=[ground.SWF]),
    ),
    "variants": (Case("fuzzed.txt", (_command("what-if", "{}/log.swf", "--variants", "{}/fuzzed.txt", "--json"),),
                      samples=[ground.VARIANTS]),),
    "records of others": (
        Case("fuzzed.jsonl", (_command("live", "shadow", "{}/fuzzed.jsonl"),), JSON + TEXT, [ground.SHADOW]),
        Case("fuzzed.jsonl", (_command("batsim", "run", "{}/log.swf", "--replay", "{}/fuzzed.jsonl", "--procs", "8"),),
             JSON + TEXT, [ground.EXCHANGE]),
    ),
    "events and failures": (
        Case("fuzzed.csv",
             (_command("simulate", "{}/log.swf", "--policy", "easy", "--events", "{}/fuzzed.csv", "--quiet"),),
             samples=[ground.EVENTS]),
        Case("", (_command("simulate", "{}/log.swf", "--policy", "fcfs", "--failures", "{text}", "--quiet"),),
             samples=ground.FAILURES),
    ),
    "trained agent": (
        Case("fuzzed.npz", (_command("simulate", "{}/log.swf", "--policy", "{}/fuzzed.npz", "--quiet"),
                            _command("policies", "{}/fuzzed.npz")), BLIND, [ground.agent()]),
    ),
    "grid file": (
        Case("live/grid.toml", (_command("live", "record", "{}/live/grid.toml"), _command("live", "queue", "--grid", "{}/live/grid.toml")),
             samples=[grids.GRID, grids.GRID + grids.SLURM], judges=True),
    ),
    "journal": (
        Case("live/state/journal.db", (_command("{}"),), (*BLIND, *6 * (cell,)), program=grids.wake),
        Case("live/state/journal.db", (_command("live", "record", "{}/live/grid.toml"),), (*BLIND, *6 * (cell,)), judges=True),
    ),
    "queue of a cluster": (
        *(Case(f"live/state/{name}/queue.db", (_command("{}"),), (*BLIND, *6 * (cell,)), program=grids.wake)
          for name in ("bordeaux", "lyon")),
        *(Case(f"live/state/fence/hw-feed0000-1.0/{name}", (_command("{}"),), program=grids.wake) for name in ("started", "exit")),
    ),
    "requests": (
        Case("fuzzed.json", (_command("{}", "agent", "{}/fuzzed.json"),), JSON, grids.TO_AGENT, program=grids.ask),
        Case("fuzzed.json", (_command("{}", "server", "{}/fuzzed.json"),), JSON, grids.TO_SERVER, program=grids.ask),
        Case("fuzzed.json", (_command("{}", "agent", "{}/fuzzed.json"),), TEXT, grids.RAW, program=grids.ask),
    ),
    "answers of servers": (Case("fuzzed.json", (_command("{}", "{}/fuzzed.json"),), JSON, [grids.OF_SERVER], program=grids.hear),),
    "answers of the agent": (
        Case("fuzzed.json", (_command("{}/fuzzed.json", "live", "queue", "--grid", "{}/live/grid.toml"),), JSON,
             [grids.OF_AGENT["queue"]], program=grids.client),
        Case("fuzzed.json", [_command("{}/fuzzed.json", "live", *words, "--grid", "{}/live/grid.toml") for words in (
                ("status", "3"), ("status",), ("cancel", "3"), ("submit", "--walltime", "1h"), ("status", "3", "--wait", "--timeout", "0"))],
             JSON, [grids.OF_AGENT["status"]], judges=True, program=grids.client),
        Case("fuzzed.json", (_command("{}/fuzzed.json", "live", "ready", "{}/live/grid.toml", "--timeout", "0"),), JSON,
             [grids.OF_AGENT["ready"]], program=grids.client),
    ),
    "Slurm's answers": tuple(
        Case("fuzzed.txt", (_command("{}", name, "{}/fuzzed.txt"),), TEXT, [printed], program=grids.slurm)
        for name, printed in grids.PRINTED.items() if printed
    ),
    "result folder": (
        Case("easy/schedule.csv", _judged("easy"), judges=True),
        Case("easy/run.json", _judged("easy"), JSON, judges=True),
        Case("loose/schedule.csv", _judged("loose"), judges=True),
        Case("loose/run.json", _judged("loose"), JSON, judges=True),
        Case("loose/summary.json", _judged("loose"), JSON, judges=True),
        Case("moved/runs.csv", _judged("moved"), judges=True),
        Case("grid/moves.csv", _judged("grid"), judges=True),
        Case("grid/run.json", _judged("grid"), JSON, judges=True),
        Case("compared/comparison.json",
             (_command("audit", "{}/compared"), _command("report", "{}/compared", "-o", "{}/made.html", "--force")),
             JSON, judges=True),
    ),
    "campaign folder": (
        Case("campaign/campaign.json", (_command("report", "{}/campaign", "-o", "{}/made.html", "--force"),), JSON),
        Case("campaign/results.parquet", (_command("report", "{}/campaign", "-o", "{}/made.html", "--force"),), BLIND),
        Case("campaign/cells/*.parquet",
             (_command("sweep", "{}/sweep.toml", "--workers", "1", "--out", "{}/campaign", "--quiet"),), BLIND,
             judges=True),
    ),
    "registry of datasets": (
        Case("data/datasets.json", (_command("inspect", "mine"), _command("datasets")), JSON),
    ),
}  # fmt: skip
"""What is read, whoever wrote it; results and campaigns are what we write ourselves."""
