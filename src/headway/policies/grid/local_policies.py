"""The policy of each cluster of a grid, and the processors it has under it. Nothing compiled."""

from __future__ import annotations

import math

from headway.errors import InputError, UsageError
from headway.platform import Platform
from headway.policies.entry import number_text
from headway.policies.pools import GRID, LOCAL, Pool
from headway.policies.queueing.policy import ORDERS
from headway.policies.spec import Spec, make_spec

HEURISTICS = ("mct", "minmin", "maxmin", "sufferage", "maxgain", "maxrelgain")
MODES = ("regular", "cancel", "none")
TUNINGS = ("binary", "bounded", "exhaustive")
LAWS = ("amdahl", "downey")
"""Words in the order of the numbers that stand for them inside."""

TOGETHER = ("conservative", "fcfs", "easy")
"""Policies that all clusters of a grid can have in one simulation: the first two reserve a start for each job
and can tell when it is completed, EASY has an estimator."""
OTHERS = tuple(name for name in ORDERS if name != "fcfs")
ONE_BY_ONE = ("dbf", "ujfb", "redirection", "ujf", *OTHERS, "strict")
"""Policies of clusters that are simulated one by one, and run ahead to see when a job is completed."""


def locals_of(spec: Spec, platform: Platform) -> tuple[Spec, ...]:
    """The policy of each cluster: the one it names in the platform file, else ``local``."""
    local = tuple(_local_of(spec, platform, number) for number in range(len(platform.clusters)))
    wanted = [name for name, off in (("transfer", 0), ("link", math.inf)) if spec.number(name) != off]
    if wanted and not (run_together(local) and local[0].name != "easy"):
        raise UsageError(
            f"reallocation: {wanted[0]} needs clusters that reserve a start with the data of a task there: "
            "give local=conservative or local=fcfs, the same for all clusters"
        )
    if spec.number("reserved") > 0 and not run_together(local):
        raise UsageError(
            "reallocation: reserved needs one policy on all clusters, local=conservative, fcfs or easy with "
            "no parameters but compress and hole"
        )
    return local


def _local_of(spec: Spec, platform: Platform, number: int) -> Spec:
    given, default = platform.clusters[number].policy, spec.params["local"]
    assert isinstance(default, Spec)
    try:
        local = make_spec("reallocation", local=given).params["local"] if given else default
        assert isinstance(local, Spec)
        local = local.policy.on_cluster().spec
        _check(local, spec)
    except UsageError as error:
        if not given:
            raise
        raise InputError(
            str(error), file=platform.source or None, field=f"cluster {number + 1}: policy"
        ) from None
    return local


def _check(local: Spec, spec: Spec) -> None:
    """Refuse what a cluster of a grid cannot do."""
    wrong = ""
    if local.uses_own:
        wrong = "has a function of your own, and it is not known how a waiting job leaves such a queue"
    elif "presence" in local.params:
        wrong = "is about the nodes of one machine, and a grid counts the processors of its clusters"
    elif local.params.get("overrun") == "finish":
        wrong = "lets urgent jobs outlive their walltime, and then it is not known when they are completed"
    elif _principal(local).params.get("late") == "refuse" and spec.params["mode"] == "cancel":
        wrong = (
            "may refuse a task that was cancelled to be submitted again, which then would be nowhere; give "
            "late=priority or mode=regular"
        )
    if wrong:
        raise UsageError(f"reallocation: local={local.brief} {wrong}")


def _principal(local: Spec) -> Spec:
    """The policy of the pool that jobs are submitted to."""
    principal = local.params.get("principal", local)
    assert isinstance(principal, Spec)
    return principal


def run_together(local: tuple[Spec, ...]) -> bool:
    """Whether one simulation can hold all clusters: one plain policy for all, with reservations or EASY."""
    first = local[0]
    if any(each != first for each in local) or first.name not in TOGETHER:
        return False
    params = {name: first.params[name] for name in ("compress", "hole") if name in first.params}
    return first == make_spec(first.name, **params)


def pools_of(spec: Spec, platform: Platform) -> list[Pool]:
    """The pools of a grid, cluster by cluster; redirection divides its cluster."""
    pools: list[Pool] = []
    if spec.number("reserved") > 0:
        for number, cluster in enumerate(platform.clusters):
            kept = max(1, int(spec.fraction("reserved") * cluster.procs))
            if kept == cluster.procs:
                raise UsageError(
                    f"reallocation: reserved={number_text(spec.params['reserved'])} leaves no processor of "
                    f"the cluster {cluster.name} to its local jobs"
                )
            pools += [Pool(number, GRID, kept), Pool(number, LOCAL, cluster.procs - kept)]
        return pools
    for number, (local, cluster) in enumerate(zip(locals_of(spec, platform), platform.clusters, strict=True)):
        pools += [pool._replace(cluster=number) for pool in local.policy.pools(Platform((cluster,)))]
    return pools


def widest(spec: Spec, platform: Platform) -> list[int]:
    """The most processors that a task can have on each cluster: those of the pool it is submitted to."""
    first: dict[int, int] = {}
    for pool in pools_of(spec, platform):
        first.setdefault(pool.cluster, pool.procs)
    return list(first.values())


def widest_of_locals(spec: Spec, platform: Platform) -> list[int]:
    """The same for local jobs, which have the rest of a cluster of which a share is reserved."""
    if spec.number("reserved") == 0:
        return widest(spec, platform)
    return [pool.procs for pool in pools_of(spec, platform) if pool.group == LOCAL]
