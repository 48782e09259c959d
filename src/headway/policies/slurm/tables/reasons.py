"""Why jobs wait, by the names that squeue and scontrol show."""

from __future__ import annotations

from enum import IntEnum

from headway.policies.slurm.tables.sites import Cap

RESOURCE = 64
"""What a reason counts more for each resource: 64 x :class:`Tres` + :class:`Reason`."""


class Reason(IntEnum):
    """Why a job waits, by Slurm's own names."""

    NONE = 0
    PRIORITY = 1
    RESOURCES = 2
    BEGIN_TIME = 3
    PARTITION_DOWN = 4
    PARTITION_NODE_LIMIT = 5
    PARTITION_TIME_LIMIT = 6
    QOS_JOB_LIMIT = 7
    QOS_MAX_JOBS_USER = 8
    QOS_MAX_JOBS_ACCOUNT = 9
    QOS_WALL = 10
    QOS_GRP_WALL = 11
    ASSOC_GRP_JOBS = 12
    ASSOC_MAX_JOBS = 13
    ASSOC_MAX_WALL = 14
    ASSOC_GRP_WALL = 15
    QOS_GRP = 16
    QOS_GRP_MINS = 17
    QOS_GRP_RUN_MINS = 18
    QOS_MAX_JOB = 19
    QOS_MAX_NODE = 20
    QOS_MAX_MINS_JOB = 21
    QOS_MIN_JOB = 22
    QOS_MAX_USER = 23
    QOS_MAX_ACCOUNT = 24
    ASSOC_GRP = 25
    ASSOC_GRP_MINS = 26
    ASSOC_GRP_RUN_MINS = 27
    ASSOC_MAX_JOB = 28
    ASSOC_MAX_NODE = 29
    ASSOC_MAX_MINS_JOB = 30
    ASSOC_MIN_JOB = 31
    HELD = 32
    DEPENDENCY = 33
    NEVER_SATISFIED = 34
    ARRAY_LIMIT = 35
    RESERVATION = 36
    LICENCES = 37
    NODES_AWAY = 38
    DEADLINE = 39
    SUBMIT_LIMIT = 40
    PARTITION_CONFIG = 41
    QOS_NOT_ALLOWED = 42
    ACCOUNT_NOT_ALLOWED = 43
    MEMORY_LIMIT = 44
    CANCELLED = 45


PLAIN = {
    Reason.NONE: "None",
    Reason.PRIORITY: "Priority",
    Reason.RESOURCES: "Resources",
    Reason.BEGIN_TIME: "BeginTime",
    Reason.PARTITION_DOWN: "PartitionDown",
    Reason.PARTITION_NODE_LIMIT: "PartitionNodeLimit",
    Reason.PARTITION_TIME_LIMIT: "PartitionTimeLimit",
    Reason.QOS_JOB_LIMIT: "QOSGrpJobsLimit",
    Reason.QOS_MAX_JOBS_USER: "QOSMaxJobsPerUserLimit",
    Reason.QOS_MAX_JOBS_ACCOUNT: "MaxJobsPerAccount",
    Reason.QOS_WALL: "QOSMaxWallDurationPerJobLimit",
    Reason.QOS_GRP_WALL: "QOSGrpWallLimit",
    Reason.ASSOC_GRP_JOBS: "AssocGrpJobsLimit",
    Reason.ASSOC_MAX_JOBS: "AssocMaxJobsLimit",
    Reason.ASSOC_MAX_WALL: "AssocMaxWallDurationPerJobLimit",
    Reason.ASSOC_GRP_WALL: "AssocGrpWallLimit",
    Reason.HELD: "JobHeldUser",
    Reason.DEPENDENCY: "Dependency",
    Reason.NEVER_SATISFIED: "DependencyNeverSatisfied",
    Reason.ARRAY_LIMIT: "JobArrayTaskLimit",
    Reason.RESERVATION: "Reservation",
    Reason.LICENCES: "Licenses",
    Reason.NODES_AWAY: "ReqNodeNotAvail",
    Reason.DEADLINE: "DeadLine",
    Reason.SUBMIT_LIMIT: "AssocMaxSubmitJobLimit",
    Reason.PARTITION_CONFIG: "PartitionConfig",
    Reason.QOS_NOT_ALLOWED: "QOSNotAllowed",
    Reason.ACCOUNT_NOT_ALLOWED: "AccountNotAllowed",
    Reason.MEMORY_LIMIT: "MaxMemPerLimit",
    Reason.CANCELLED: "Cancelled",
}

FORMS = {
    Cap.GRP: ("Grp{}Limit", "Grp{}"),
    Cap.GRP_MINS: ("Grp{}MinutesLimit", "Grp{}Minutes"),
    Cap.GRP_RUN_MINS: ("Grp{}RunMinutesLimit", "Grp{}RunMinutes"),
    Cap.MAX_JOB: ("Max{}PerJobLimit", "Max{}PerJob"),
    Cap.MAX_NODE: ("Max{}PerNode", "Max{}PerNode"),
    Cap.MAX_MINS_JOB: ("Max{}MinutesPerJobLimit", "Max{}MinutesPerJob"),
    Cap.MIN_JOB: ("Min{}NotSatisfied", "Min{}"),
    Cap.MAX_USER: ("Max{}PerUserLimit", "Max{}PerUser"),
    Cap.MAX_ACCOUNT: ("Max{}PerAccount", "Max{}PerAccount"),
}
"""Of each limit that counts a resource: the form of the older names, for CPUs, and that of the others."""

OLDER = {"Node": (Cap.GRP, Cap.MAX_JOB, Cap.MAX_USER), "Mem": (Cap.GRP,)}
"""Where other resources have the older form, too."""


def reason_name(code: int, resources: list[str]) -> str:
    """Slurm's name of a reason; ``resources`` are the names of the site's, by number.

    >>> reason_name(Reason.QOS_MAX_USER, ["cpu", "mem"])
    'QOSMaxCpuPerUserLimit'
    >>> reason_name(Reason.QOS_MAX_USER + RESOURCE, ["cpu", "mem"])
    'QOSMaxMemoryPerUser'
    >>> reason_name(Reason.ASSOC_GRP, ["cpu"]), reason_name(Reason.QOS_MAX_JOBS_USER, [])
    ('AssocGrpCpuLimit', 'QOSMaxJobsPerUserLimit')
    """
    tres, number = divmod(int(code), RESOURCE)
    if number in PLAIN:
        return PLAIN[Reason(number)]
    of_qos = number < Reason.ASSOC_GRP
    kind = Cap(number - (Reason.QOS_GRP if of_qos else Reason.ASSOC_GRP))
    form = _form(kind, resources[tres], of_qos)
    return form if kind == Cap.MAX_ACCOUNT else f"{'QOS' if of_qos else 'Assoc'}{form}"


def _form(kind: Cap, resource: str, of_qos: bool) -> str:
    older, newer = FORMS[kind]
    if resource == "cpu":
        return older.format("CPU" if kind in (Cap.GRP_MINS, Cap.GRP_RUN_MINS) else "Cpu")
    names = {"mem": "Mem", "node": "Node", "billing": "Billing"}
    name = names.get(resource, "License" if resource.startswith("license/") else "GRES")
    if kind in OLDER.get(name, ()):
        return older.format(name)
    return newer.format("Memory" if name == "Mem" and of_qos else name)
