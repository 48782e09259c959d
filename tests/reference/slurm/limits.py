"""Limits of QOS and associations, section 8: who sets one first decides, and a limited job only waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .accounts import Accounts, Association, Counts, Qos
from .machine import Allocation, Job, Machine, Partition

Holder = Qos | Association


class AccountLimits:
    """Limits against what runs; `started` keeps the counts of a pass true."""

    def __init__(self, machine: Machine, accounts: Accounts, running: Iterable[Allocation]) -> None:
        self.machine = machine
        self.accounts = accounts
        self.running = list(running)

    def started(self, held: Allocation) -> None:
        self.running.append(held)

    def qos_of(self, job: Job, partition: Partition) -> list[Qos]:
        """The QOS whose limits count, the first to be asked first."""
        own = self.accounts.qos.get(job.qos or "normal")
        names = [self.accounts.qos[partition.qos]] if partition.qos else []
        if own is not None and own not in names:
            names = [own, *names] if own.over_partition else [*names, own]
        return names

    def association(self, job: Job) -> Association:
        return self.accounts.of(job.account, job.user)

    def of_qos(self, qos: Qos) -> Iterator[Allocation]:
        for held in self.running:
            if qos in self.qos_of(held.job, self.machine.partitions[held.partition]):
                yield held

    def of_association(self, one: Association) -> Iterator[Allocation]:
        for held in self.running:
            if one in self.association(held.job).chain():
                yield held

    def before(self, job: Job, partition: Partition) -> str:
        """Section 8.2: limits on jobs that run and on wall time, first setter first."""
        by_user = by_account = group = wall = False
        for qos in self.qos_of(job, partition):
            running = [held.job for held in self.of_qos(qos)]
            if qos.grp_jobs is not None and not group:
                group = True
                if len(running) >= qos.grp_jobs:
                    return "QOSGrpJobsLimit"
            if qos.max_jobs_account is not None and not by_account:
                by_account = True
                if sum(other.account == job.account for other in running) >= qos.max_jobs_account:
                    return "MaxJobsPerAccount"
            if qos.max_jobs_user is not None and not by_user:
                by_user = True
                if sum(other.user == job.user for other in running) >= qos.max_jobs_user:
                    return "QOSMaxJobsPerUserLimit"
            if qos.max_wall is not None and not wall:
                wall = True
                if job.limit > qos.max_wall:
                    return "QOSMaxWallDurationPerJobLimit"
        for k, one in enumerate(self.association(job).chain()):
            if one.grp_jobs is not None and not group:
                group = True
                if sum(1 for _ in self.of_association(one)) >= one.grp_jobs:
                    return "AssocGrpJobsLimit"
            if k == 0:
                counts = one.max_jobs is not None and not (by_user or by_account)
                if counts and sum(1 for _ in self.of_association(one)) >= (one.max_jobs or 0):
                    return "AssocMaxJobsLimit"
                if one.max_wall is not None and not wall and job.limit > one.max_wall:
                    return "AssocMaxWallDurationPerJobLimit"
        return ""

    def after(self, job: Job, partition: Partition, cpus: int, memory: int, nodes: int) -> str:
        """Section 8.3: limits on resources, with what the job would get."""
        count = nodes.bit_count() or job.nodes
        asked = {"cpu": cpus, "mem": memory, "node": count, "gres/gpu": job.gpus * count, "billing": cpus}
        group: set[str] = set()
        minutes: set[str] = set()
        personal: set[str] = set()
        holders: list[tuple[Holder, list[Allocation], str]] = []
        for qos in self.qos_of(job, partition):
            holders.append((qos, list(self.of_qos(qos)), "QOS"))
        for one in self.association(job).chain():
            holders.append((one, list(self.of_association(one)), "Assoc"))
        for holder, running, word in holders:
            for kind, limit in holder.grp_tres_mins.items():
                if kind not in minutes:
                    minutes.add(kind)
                    if asked[kind] and int(holder.used_seconds.get(kind, 0.0) / 60) >= limit:
                        return f"{word}Grp{kind}MinutesLimit"
            if beyond(holder.grp_tres, asked, running, group, nodes):
                return f"{word}GrpResourceLimit"
            if isinstance(holder, Qos):
                mine = [held for held in running if held.job.user == job.user]
                if beyond(holder.max_tres_user, asked, mine, personal, 0):
                    return "QOSMaxResourcePerUserLimit"
                if any(asked[kind] > limit for kind, limit in holder.max_tres_job.items()):
                    return "QOSMaxResourcePerJobLimit"
        return ""


def held_of(held: Allocation, kind: str) -> int:
    match kind:
        case "cpu" | "billing":
            return held.total_cpus
        case "mem":
            return sum(held.memory.values())
        case "node":
            return held.nodes.bit_count()
        case _:
            return held.job.gpus * held.nodes.bit_count()


def beyond(limits: Counts, asked: Counts, running: list[Allocation], seen: set[str], nodes: int) -> bool:
    """Whether what is held and asked for passes a limit; nodes that the group holds already count once."""
    for kind, limit in limits.items():
        if kind in seen:
            continue
        seen.add(kind)
        used = sum(held_of(held, kind) for held in running)
        extra = asked[kind]
        if kind == "node":
            union = 0
            for held in running:
                union |= held.nodes
            used = union.bit_count()
            extra = (nodes & ~union).bit_count() if nodes else extra
        if asked[kind] > limit or used + extra > limit:
            return True
    return False
