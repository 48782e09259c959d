"""Policies that put each job inside one node and know of input files and memory sizes."""

from __future__ import annotations

from headway.policies.entry import Parameter, PolicyInfo
from headway.policies.references import GONTHIER_2022, GONTHIER_2023

BACKFILL = Parameter(
    "backfill",
    "a job is planned on the first cores to come free (none), or in the first window of its length "
    "(conservative)",
    "none",
    ("none", "conservative"),
)
PRESENCE = Parameter(
    "presence",
    "how long a file stays on a node: while some user runs or has just ended there (contiguous), until "
    "a job without it starts there (until-next-start), or until the memory overflows (lru); a job that is "
    "killed while it loads leaves no file",
    "contiguous",
    ("contiguous", "until-next-start", "lru"),
)
MATCH = Parameter(
    "match",
    "nodes a job may run on: with at least the memory it needs (fits), of the smallest size that will do "
    "(exact), or all (any); now: of that size, and larger ones where it can start at once, jobs of the "
    "largest size first, as backfill-big has it",
    "fits",
    ("fits", "exact", "now", "any"),
)
ON_NODES = (BACKFILL, PRESENCE, MATCH)

NODES = "a platform with nodes, such as rackham"
FILES = "the columns file and file_gb: annotations, or the transformation files"
SIZES = "the column needs_node_gb (a job without is of the smallest size): annotations, or files"
ON = "log.swf.gz --platform rackham --annotations files.csv"
PAPERS = (GONTHIER_2022, GONTHIER_2023)

SCORE = (
    "A job goes to the node with the lowest A + X B + Y C + Z D: A its start there, B the wait for its file, "
    "C the load times of the files it pushes out times its share of the cores, D the copies on other nodes "
    "times the load time. Each arrival and completion plans the whole queue anew. Without weights "
    "(0, 0, 0) it is fcfs."
)


def _weight(name: str, doc: str) -> Parameter:
    return Parameter(name, doc, 1, number=float, low=0)


def _scored(name: str, summary: str, details: str, *first: Parameter, example: str = "") -> PolicyInfo:
    return PolicyInfo(
        name,
        summary,
        PAPERS,
        (*first, *ON_NODES),
        needs=(NODES, FILES),
        details=details,
        example=example or f"{name}(backfill=conservative)",
        example_on=ON,
        home=f"headway.policies.nodes.policy:{'Scored' if name == 'score' else name.capitalize()}",
    )


ENTRIES = (
    _scored("eft", "Earliest finish time on nodes: start plus wait for the input file", "X = 1, Y = Z = 0."),
    _scored(
        "lea",
        "Locality above all: a second of loading counts as much as 500 of waiting",
        "X = 500, Y = 1, Z = 0.",
    ),
    _scored(
        "leo",
        "Locality or earliest: a node that is free now is judged as by eft, others as by lea",
        "Judged node by node.",
    ),
    _scored(
        "lem",
        "Locality when the machine is full: lea if every node runs a job, else eft",
        "Jobs started earlier in the same pass count.",
        Parameter(
            "threshold",
            "share of the nodes that must run a job; 0.8 is the first report's",
            1.0,
            number=float,
            low=0,
        ),
        example="lem(threshold=0.8)",
    ),
    _scored(
        "score",
        "First come, first served on nodes by a score of start, loads, evictions and copies",
        SCORE,
        _weight("load", "X, the weight of the wait for the file"),
        _weight("evict", "Y, the weight of load times of files pushed out"),
        _weight("copies", "Z, the weight of copies elsewhere"),
        example="score(load=10, evict=7000, copies=0)",
    ),
    PolicyInfo(
        "backfill-big",
        "Jobs of the largest memory size first; a job that cannot start on its size may on a larger one",
        (GONTHIER_2022,),
        (
            Parameter(
                "allowance",
                "a job goes to the smallest size on which it can start at once (none), or at once or after a "
                "wait that is no longer than the mean wait so far (mean); else it is planned on its own size",
                "none",
                ("none", "mean"),
            ),
            PRESENCE,
        ),
        needs=(NODES, SIZES),
        details="Looks at sizes only; files are loaded all the same. The reference is fcfs(match=exact).",
        example="backfill-big(allowance=mean)",
        example_on=ON,
        home="headway.policies.nodes.policy:BackfillBig",
    ),
    PolicyInfo(
        "area-filling",
        "Jobs use larger memory sizes within areas planned from earlier jobs",
        (GONTHIER_2022,),
        (
            Parameter(
                "tmax",
                "the level to which each size is filled: the largest mean over a size and all above it "
                "(max), or the mean over all nodes (mean)",
                "max",
                ("max", "mean"),
            ),
            Parameter(
                "areas",
                "the earlier jobs whose processors x walltime are planned: those of the first days of the "
                "workload (until then nothing is planned, and every job keeps to its own size), those of "
                "another log, a file as convert writes it, or all of the workload, which nobody knows before",
                1,
                ("all",),
                float,
                low=0,
                open_low=True,
                unit="days",
                file=True,
            ),
            Parameter(
                "form",
                "a job on a larger size uses up the planned area (plan), or a part of the larger size's "
                "cores that grows with the time since the first submission (ratio)",
                "plan",
                ("plan", "ratio"),
            ),
            PRESENCE,
        ),
        needs=(NODES, SIZES),
        details="What a job did not use of its walltime is given back at its end.",
        example="area-filling(areas=./last-month.swf)",
        example_on=ON,
        home="headway.policies.nodes.policy:AreaFilling",
    ),
)
