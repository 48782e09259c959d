"""Which policies work together: each supported pair with what shows it, each refused one with the reason.

The page on composition and its tests are made from these tables: a pair is one line here.
"""

from __future__ import annotations

from dataclasses import dataclass

YOUR_OWN = "a policy of your own"
ON_NODES = ("eft", "lea", "leo", "lem", "score", "backfill-big", "area-filling")


@dataclass(frozen=True, slots=True)
class Pair:
    """A mechanism over a policy.

    ``example`` is run on a busy machine and audited, and its own number ``acts`` must be positive there.
    ``off`` is the same with nothing for the mechanism to do, and must give what ``inner`` gives alone, job
    for job; ``without`` names a column that the jobs must not have for that. ``clusters`` is how many the
    platform has, and ``off_clusters`` how many it has for ``off``; ``inner`` alone has the first.
    """

    outer: str
    inner: str
    example: str
    acts: str
    off: str = ""
    without: str = ""
    clusters: int = 1
    off_clusters: int = 0
    """0: as many."""

    @property
    def name(self) -> str:
        """The pair in words."""
        where = "" if self.clusters == 1 else f" on {self.clusters} clusters"
        return f"{self.outer} over {self.inner}{where}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Policies that do not work together: who, in words, a spec that is refused, and why."""

    outer: str
    inner: str
    example: str
    reason: str
    policies: tuple[str, ...] = ()
    """Names of the policies that may not be nested."""
    speeds: tuple[float, ...] = (1,)
    """Of the platform's clusters."""


PAIRS = (
    *(
        Pair(
            "redirection", inner, f"redirection(theta=1, alpha=0.5, principal={inner}, redirected={second})",
            "redirections",
            f"redirection(theta=inf, principal={inner}, redirected={second})" if inner != "sjf" else "",
        )
        for inner, second in (
            ("fcfs", "easy"), ("sjf", "easy"), ("easy", "conservative"), ("easy(depth=2)", "lxf"),
            ("conservative", "dbf"), ("dbf", "easy(depth=all)"), ("dbf", "dbf"),
        )
    ),
    Pair("redirection", "easy", "redirection(theta=1)", "redirections", "redirection(theta=inf)", clusters=2),
    *(
        Pair(
            "redirection", inner, f"redirection(theta=1, principal={inner}, redirected=dbf)", "redirections",
            f"redirection(theta=inf, principal={inner}, redirected=dbf)", clusters=2,
        )
        for inner in ("conservative", "dbf")
    ),
    *(
        Pair(
            "reallocation", inner, f"reallocation(period=300, local={inner})", "moves",
            f"reallocation(mode=none, local={inner})", clusters=2, off_clusters=1,
        )
        for inner in (
            "conservative", "fcfs", "easy", "dbf", "ujfb(swap=30)", "redirection(theta=1, size=split)", "sjf",
        )
    ),
    *(
        Pair("ujfb", inner, f"ujfb(swap=30, regular={name})", "suspensions", off, without="urgent")
        for name, inner, off in (
            ("conservative", "conservative(compress=scratch)", "ujfb"),
            ("dbf", "dbf(compress=scratch)", "ujfb(regular=dbf)"),
        )
    ),
)  # fmt: skip
"""Every supported pair: add one by a line."""

REFUSALS = (
    Refusal(
        "redirection", "redirection", "redirection(principal=redirection)",
        "a job is redirected once, so groups within groups are not defined", ("redirection",),
    ),
    Refusal(
        "redirection", "ujf, ujfb", "redirection(principal=ujfb)",
        "both stop running jobs, and neither paper says what becomes of a job that the other has stopped",
        ("ujf", "ujfb"),
    ),
    Refusal(
        "redirection", "reallocation", "redirection(redirected=reallocation)",
        "a grid has clusters, not a queue of its own", ("reallocation",),
    ),
    Refusal(
        "redirection", "policies on nodes", "redirection(principal=lea)",
        "redirection counts processors, and a policy on nodes puts each job inside one node", ON_NODES,
    ),
    Refusal(
        "redirection", YOUR_OWN, "redirection(principal=./file.py:Name)",
        "it is asked about the whole machine; a key of your own can order a group: "
        "principal=easy(order=./file.py:key)",
        (YOUR_OWN,),
    ),
    Refusal("redirection", "three clusters", "redirection", "redirection has two groups", speeds=(1, 1, 1)),
    Refusal(
        "reallocation", "reallocation", "reallocation(local=reallocation)",
        "a cluster of a grid is not itself a grid", ("reallocation",),
    ),
    Refusal(
        "reallocation", "policies on nodes", "reallocation(local=lea)",
        "a grid counts the processors of its clusters, and a policy on nodes puts each job inside one node",
        ON_NODES,
    ),
    Refusal(
        "reallocation", YOUR_OWN, "reallocation(local=./file.py:Name)",
        "it is not known how a waiting job leaves the queue of such a policy", (YOUR_OWN,),
    ),
    Refusal(
        "redirection", "a cluster of another speed, from a checkpoint", "redirection(restart=checkpoint)",
        "what a checkpoint saved on one is worth another time on the other", speeds=(1, 1.4),
    ),
    Refusal(
        "easy, and every policy but redirection and reallocation", "several clusters", "easy",
        "easy schedules one cluster", speeds=(1, 1),
    ),
)  # fmt: skip
"""What is refused, with the reason that the user is told."""


def reason_against(outer: str, inner: str, is_own: bool) -> str:
    """Why one policy may not be nested in another, to stand behind what may; empty where none is known."""
    name = YOUR_OWN if is_own else inner
    found = (each.reason for each in REFUSALS if each.outer == outer and name in each.policies)
    return next((f": {reason}" for reason in found), "")
