"""What a site did that a simulation of interchangeable processors does not: one bit for each feature."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from headway.workload.slurm.cells import NOTHING

if TYPE_CHECKING:
    import polars as pl

ORDINARY_QOS = ("normal", *NOTHING)

FEATURES: dict[str, str] = {
    "QOS": "a quality of service other than normal, with priorities and limits of its own",
    "dependencies": "started only after other jobs",
    "held back": "became eligible after its submission: dependency, begin time, hold or array throttle",
    "reservations": "ran in a reservation",
    "GPUs": "asked for GPUs, which may have been scarcer than processors",
    "generic resources": "asked for generic resources other than GPUs",
    "features": "asked for nodes with certain features",
    "chosen nodes": "asked for or excluded nodes by name",
    "licences": "asked for licences",
    "exclusive nodes": "asked for whole nodes, or got more processors than it asked for",
    "array throttle": "an array of which only some tasks may run at once",
    "job arrays": "a task of a job array, which Slurm handles as one entry of its queue",
    "heterogeneous jobs": "a component of a heterogeneous job, whose components start together",
    "requeues": "was preempted, requeued or lost its node; its earlier runs are not simulated",
    "suspensions": "was suspended while it ran",
    "several partitions": "asked for more than one partition",
    "federation": "a record of another cluster, simulated as one machine with the first",
}
"""Names in the order they are listed, with what they mean."""

BY_SLURM_S_RULES = frozenset((
    "QOS", "exclusive nodes", "several partitions", "dependencies", "held back", "reservations", "GPUs",
    "generic resources", "features", "chosen nodes", "licences", "array throttle", "job arrays",
))  # fmt: skip
"""Features that are modelled where Slurm's own rules run on a site."""

BIT = {name: 1 << place for place, name in enumerate(FEATURES)}


def _asked(names: list[str], column: str) -> pl.Expr | None:
    """Whether a column says anything; None where there is no such column."""
    import polars as pl

    return ~pl.col(column).is_in([*NOTHING, "0"]) if column in names else None


def _matches(names: list[str], pattern: str, *columns: str) -> pl.Expr | None:
    import polars as pl

    found = [pl.col(column).str.contains(pattern) for column in columns if column in names]
    return pl.any_horizontal(found) if found else None


def feature_bits(names: list[str]) -> pl.Expr:
    """The features of each record that its own columns tell, as bits of one number."""
    import polars as pl

    tests: dict[str, list[pl.Expr | None]] = {
        "QOS": [~pl.col("QOS").is_in(list(ORDINARY_QOS)) if "QOS" in names else None],
        "dependencies": [
            _asked(names, "Dependency"),
            _matches(names, r"(?:^|\s)(?:--dependency|-d)[=\s]", "SubmitLine"),
            _matches(names, r"(?i)dependent", "Flags"),
        ],
        "reservations": [
            _asked(names, "Reservation"),
            _asked(names, "ReservationId"),
            _matches(names, r"\s--reservation[=\s]", "SubmitLine"),
        ],
        "GPUs": [_matches(names, r"gres/gpu|gpu:", "ReqTRES", "AllocTRES", "ReqGRES", "AllocGRES")],
        "generic resources": [
            _matches(names, r"gres/(?:[^g]|g[^p]|gp[^u])", "ReqTRES", "AllocTRES"),
            _matches(names, r"^(?:[^g]|g[^p]|gp[^u])[^,]*:\d", "ReqGRES", "AllocGRES"),
        ],
        "features": [
            _asked(names, "Constraints"),
            _matches(names, r"(?:^|\s)(?:--constraint|-C)[=\s]", "SubmitLine"),
        ],
        "chosen nodes": [
            _matches(names, r"(?:^|\s)(?:--nodelist|-w|--exclude|-x)[=\s]", "SubmitLine"),
        ],
        "licences": [
            _asked(names, "Licenses"),
            _matches(names, r"(?:^|,)license/", "ReqTRES", "AllocTRES"),
            _matches(names, r"(?:^|\s)(?:--licenses|-L)[=\s]", "SubmitLine"),
        ],
        "exclusive nodes": [_matches(names, r"(?:^|\s)--exclusive(?:[=\s]|$)", "SubmitLine")],
        "array throttle": [
            _matches(names, r"%\d", "JobID"),
            _matches(names, r"[1-9]", "ArrayLimit"),
            _matches(names, r"(?:^|\s)(?:--array|-a)[=\s]?\S*%\d", "SubmitLine"),
        ],
        "requeues": [_matches(names, r"[1-9]", "Restarts")],
        "suspensions": [_matches(names, r"[1-9]", "Suspended")],
        "several partitions": [_matches(names, ",", "Partition")],
    }
    bits = pl.lit(0, pl.UInt32)
    for name, choices in tests.items():
        present = [choice for choice in choices if choice is not None]
        if present:
            bits = bits | pl.when(pl.any_horizontal(present)).then(BIT[name]).otherwise(0).cast(pl.UInt32)
    return bits


def left_unmodelled(counts: dict[str, int], by_site_rules: bool) -> dict[str, int]:
    """Features that a policy does not model, of those that jobs of a log had."""
    modelled = BY_SLURM_S_RULES if by_site_rules else frozenset()
    return {name: count for name, count in counts.items() if name not in modelled}


def counted(bits: npt.NDArray[np.uint32]) -> dict[str, int]:
    """How many jobs have each feature; those that none has are left out."""
    counts = {name: int(np.count_nonzero(bits & bit)) for name, bit in BIT.items()}
    return {name: count for name, count in counts.items() if count}
