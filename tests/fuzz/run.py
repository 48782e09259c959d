"""Mutants of one kind, one after the other, and what came of them."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from fuzz import ground, one
from fuzz.kinds import KINDS, Case

MADE = ("made", "made.swf", "made.txt", "made.html", "made.svg", "made.annotations.csv")
"""What commands of the fuzzer write."""

MOSTLY = 0.75
"""How often the first command of a case is run."""

FAULTS = ("traceback", "hang", "half", "status", "words")


@dataclass
class Tally:
    """Outcomes of the mutants of one kind, and the first faults."""

    kind: str
    mutants: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[tuple[int, bytes, tuple[str, ...], one.Ending]] = field(default_factory=list)
    seconds: float = 0.0


def prepared(folder: Path) -> Path:
    """The ground to fuzz on."""
    ground.laid(folder)
    (folder / "data").mkdir()
    copy = {"path": str(folder / "log.swf"), "sha256": "0" * 64, "bytes": 400}
    (folder / "data" / "datasets.json").write_text(json.dumps({"mine": copy}))
    return folder


def fuzz(kind: str, folder: Path, mutants: int, seed: int = 0, first: int = 0, most: int = 5) -> Tally:
    """Run commands on so many mutants; each is a function of its kind, its number and the seed."""
    tally = Tally(kind)
    begin = time.process_time()
    for number in range(first, first + mutants):
        rng = random.Random(f"{kind} {seed} {number}")
        case = rng.choice(KINDS[kind])
        words, data, ending = _mutant(case, folder, rng)
        tally.mutants += 1
        tally.outcomes[ending.outcome] += 1
        if ending.fault and len(tally.faults) < most:
            tally.faults.append((number, data, words, ending))
    tally.seconds = time.process_time() - begin
    return tally


def _mutant(case: Case, folder: Path, rng: random.Random) -> tuple[tuple[str, ...], bytes, one.Ending]:
    """One mutant and what a command makes of it; the ground is as it was afterwards."""
    target = None
    if case.path:
        target = next(folder.glob(case.path)) if "*" in case.path else folder / case.path
    sound = target.read_bytes() if target is not None and target.exists() else None
    data, text = case.mutant(sound or b"", rng), ""
    if target is not None:
        target.write_bytes(data)
    else:
        text = data.decode("utf-8", "surrogateescape").replace("\0", "")
    place = 0 if rng.random() < MOSTLY else rng.randrange(len(case.commands))
    words = case.commands[place](folder, text)
    try:
        return words, data, one.run(words, case.judges, folder, case.keeps, case.program)
    finally:
        if target is not None and sound is None:
            target.unlink(missing_ok=True)
        elif target is not None and sound is not None:
            _restore(target, sound)
        for name in MADE:
            path = folder / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


def _restore(target: Path, sound: bytes) -> None:
    """The sound file again, and no other beside it that was not there: a campaign adds cells."""
    if target.suffix == ".parquet":
        for other in target.parent.glob("*.parquet"):
            if other.parent.name == "cells":
                other.unlink()
    target.write_bytes(sound)
