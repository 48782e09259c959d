"""How many decisions of recorded runs come out alike, run by run, with the version that each was recorded on.

`python -m truth.agreement [--reference] [--show N] [RECORDING...]` (in tests/) drives the compiled policy, or
the reference, over recordings by name, over all without any; HEADWAY_SLURM_TRUTH is the folder that has them.
"""

from __future__ import annotations

import argparse
import sys

from .compare import Score, drive
from .compiled import Compiled
from .runs import FOLDER, load

COLUMNS = (
    "recording",
    "version",
    "plans",
    "starts by backfill",
    "starts by the main loop",
    "victims",
    "cycles",
)


def share(alike: int, of: int) -> str:
    return f"{alike}/{of} {100 * alike / of:.2f} %" if of else "-"


def row(name: str, score: Score, version: str) -> tuple[str, ...]:
    """One line of the table; cycles that were cut short are alike as far as they went."""
    return (
        name,
        version,
        share(score.plans_alike, score.plans),
        share(score.starts_alike, score.starts),
        share(score.main_alike, score.main_starts),
        share(score.victims_alike, score.victims),
        share(score.cycles_alike + score.cut_short, score.cycles),
    )


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m truth.agreement", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("names", nargs="*", metavar="RECORDING")
    parser.add_argument(
        "--reference", action="store_true", help="drive the reference, not the compiled policy"
    )
    parser.add_argument("--show", type=int, default=0, metavar="N", help="show the first N that differ")
    given = parser.parse_args(words)
    sys.stdout.write(" | ".join(COLUMNS) + "\n")
    for name in given.names or sorted(one.name for one in FOLDER.iterdir() if (one / "jobs.tsv").is_file()):
        run = load(name)
        score = drive(run, None if given.reference else Compiled(run))
        told = run.folder / "version.txt"
        version = told.read_text("utf-8").strip() if told.is_file() else "-"
        lines = [" | ".join(row(name, score, version)), *score.different[: given.show]]
        sys.stdout.write("\n  ".join(lines) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
