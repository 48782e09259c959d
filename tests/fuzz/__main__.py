"""``python -m fuzz [--mutants N] [--kind NAME ...] [--seed N] [--json FILE]``: fuzz, and say what came of it."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

# A few jobs each: compiling, or waking threads, would take longer than all of them.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "1")

from fuzz.kinds import KINDS
from fuzz.run import FAULTS, Tally, fuzz, prepared

CHUNK = 1000
"""Mutants between two reports."""


def main() -> int:
    options = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    options.add_argument("--mutants", type=int, default=500, help="of each kind")
    options.add_argument("--kind", action="append", help="only these kinds")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--first", type=int, default=0, help="number of the first mutant")
    options.add_argument(
        "--json", type=Path, help="append the counts of each kind to this file, one line each"
    )
    given = options.parse_args()
    if unknown := set(given.kind or ()) - set(KINDS):
        options.error(f"no kind {', '.join(unknown)}; there are {', '.join(KINDS)}")
    bad = 0
    with tempfile.TemporaryDirectory() as place:
        os.environ |= {
            "HEADWAY_DATA_DIR": f"{place}/data",
            "HEADWAY_CACHE_DIR": f"{place}/cache",
            "COLUMNS": "200",
        }
        folder = prepared(Path(place))
        os.chdir(folder)
        for kind in given.kind or KINDS:
            for first in range(given.first, given.first + given.mutants, CHUNK):
                mutants = min(CHUNK, given.first + given.mutants - first)
                bad += _report(fuzz(kind, folder, mutants, given.seed, first), given.json)
    return 1 if bad else 0


def _report(tally: Tally, file: Path | None) -> int:
    faults = sum(tally.outcomes[name] for name in FAULTS)
    counts = ", ".join(f"{count} {name}" for name, count in tally.outcomes.most_common())
    print(f"{tally.kind}: {tally.mutants} mutants in {tally.seconds:.0f} s: {counts}", flush=True)  # noqa: T201
    for number, data, words, ending in tally.faults:
        print(f"  mutant {number}: headway {' '.join(words)[:300]!r}\n    {data[:300]!r}", flush=True)  # noqa: T201
        print("    " + ending.fault.replace("\n", "\n    "), flush=True)  # noqa: T201
    if file is not None:
        with file.open("a") as lines:
            record = {
                "kind": tally.kind,
                "mutants": tally.mutants,
                **tally.outcomes,
                "seconds": round(tally.seconds),
            }
            lines.write(json.dumps(record) + "\n")
    return faults


if __name__ == "__main__":
    sys.exit(main())
