"""Slurm's parameters: those that a simulation takes into account, and those that concern no schedule.

What is in neither list is told by name as not modelled.
"""

from __future__ import annotations

Version = tuple[int, int, int]
"""A version of Slurm: 24, 11 and 5 of 24.11.5."""
VERSION = "SLURM_VERSION"
"""What ``scontrol show config`` calls it."""

DEFAULTS: dict[str, str] = {
    "accountingstorageenforce": "", "accountingstoragetype": "", "authinfo": "", "clustername": "",
    "completewait": "0", "defmempercpu": "", "defmempernode": "", "dependencyparameters": "",
    "enforcepartlimits": "NO",
    "fairsharedampeningfactor": "1", "inactivelimit": "0", "jobrequeue": "1",
    "killwait": "30", "licenses": "", "maxmempercpu": "", "maxmempernode": "", "maxarraysize": "1001",
    "minjobage": "300",
    "maxjobcount": "10000", "messagetimeout": "10", "overtimelimit": "0", "preemptexempttime": "",
    "preemptmode": "OFF", "preemptparameters": "", "preempttype": "preempt/none",
    "prioritycalcperiod": "5", "prioritydecayhalflife": "7-0", "priorityfavorsmall": "NO",
    "priorityflags": "", "prioritymaxage": "7-0", "prioritysitefactorparameters": "",
    "prioritytype": "priority/multifactor", "priorityusageresetperiod": "NONE", "priorityweightage": "0",
    "priorityweightassoc": "0", "priorityweightfairshare": "0", "priorityweightjobsize": "0",
    "priorityweightpartition": "0", "priorityweightqos": "0", "priorityweighttres": "",
    "resvoverrun": "0", "returntoservice": "0", "schedulerparameters": "", "schedulertype": "sched/backfill",
    "selecttype": "select/cons_tres", "selecttypeparameters": "CR_Core_Memory", "slurmdtimeout": "300",
    "accountingstoragetres": "", "grestypes": "", "slurmctldparameters": "",
    "suspendtime": "INFINITE", "resumetimeout": "60", "suspendexcnodes": "", "suspendexcparts": "",
    "topologyparam": "", "topologyplugin": "topology/default", "slurm_version": "",
}  # fmt: skip
"""Parameters that a simulation takes into account, in lower case, with Slurm's defaults."""

BEFORE: dict[str, tuple[Version, str]] = {
    "prioritytype": ((23, 11, 0), "priority/basic"), "selecttype": ((23, 11, 0), "select/linear"),
}  # fmt: skip
"""Defaults that were others before a version."""

IN_SECONDS = frozenset((
    "completewait", "inactivelimit", "killwait", "messagetimeout", "slurmdtimeout",
    "minjobage", "schedulertimeslice", "suspendtime", "resumetimeout",
))  # fmt: skip
"""Times whose bare numbers are seconds; those of all others are minutes."""

WHOLE = (
    "CompleteWait", "DefMemPerCPU", "DefMemPerNode", "FairShareDampeningFactor", "JobRequeue", "KillWait",
    "MaxMemPerCPU", "MaxMemPerNode", "MessageTimeout", "MinJobAge", "PriorityWeightAge",
    "PriorityWeightAssoc", "PriorityWeightFairshare", "PriorityWeightJobSize", "PriorityWeightPartition",
    "PriorityWeightQOS",
)  # fmt: skip
"""Parameters that are read as whole numbers."""

TIMES = (
    "OverTimeLimit", "PreemptExemptTime", "PriorityCalcPeriod", "PriorityDecayHalfLife", "PriorityMaxAge",
    "ResumeTimeout", "ResvOverRun", "SchedulerTimeSlice", "SuspendTime",
)  # fmt: skip
"""Parameters that are read as times."""

SCHEDULER: dict[str, str] = {
    "assoc_limit_stop": "", "batch_sched_delay": "3", "bf_busy_nodes": "", "bf_continue": "",
    "bf_interval": "30", "bf_job_part_count_reserve": "0", "bf_licenses": "",
    "bf_max_job_array_resv": "20", "bf_max_job_assoc": "0", "bf_max_job_part": "0", "bf_max_job_start": "0",
    "bf_max_job_test": "500", "bf_max_job_user": "0", "bf_max_job_user_part": "0", "bf_max_time": "30",
    "bf_min_age_reserve": "0", "bf_min_prio_reserve": "0", "bf_node_space_size": "500",
    "bf_one_resv_per_job": "", "bf_resolution": "60", "bf_running_job_reserve": "", "bf_window": "1440",
    "bf_window_linear": "0", "bf_yield_interval": "2000000", "bf_yield_sleep": "500000",
    "build_queue_timeout": "2000000", "default_queue_depth": "100", "defer": "", "defer_batch": "",
    "kill_invalid_depend": "", "max_rpc_cnt": "0", "max_sched_time": "2", "max_switch_wait": "300",
    "nohold_on_prolog_fail": "",
    "pack_serial_at_end": "", "partition_job_depth": "0", "preempt_reorder_count": "1",
    "preempt_strict_order": "", "preempt_youngest_first": "", "reduce_completing_frag": "",
    "requeue_delay": "", "sched_interval": "60", "sched_max_job_start": "0", "sched_min_interval": "2",
}  # fmt: skip
"""Parts of SchedulerParameters that are known, with Slurm's defaults ("" is off)."""

TAKEN = {
    "bf_interval": (1, 10_800), "bf_job_part_count_reserve": (0, 100_000), "bf_max_job_array_resv": (0, 1000),
    "bf_max_job_start": (0, 10_000), "bf_max_job_test": (1, 1_000_000), "bf_min_age_reserve": (0, 2_592_000),
    "bf_node_space_size": (2, 2_000_000), "bf_resolution": (1, 3600), "bf_window": (1, 43_200),
}  # fmt: skip
"""The least and the largest number that Slurm takes; other parts take any from 0 on. Else it uses the
default."""

NEVER = {"bf_interval": -1, "sched_interval": -1}
"""Numbers that switch a loop off."""

FORMER = {"max_job_bf": "bf_max_job_test"}
"""Parts of SchedulerParameters by the names that they had in older versions."""

NO_CONCERN = (
    "accountingstor", "acctgather", "allowspec", "auth", "backup", "batchstart", "bcast", "boot_time",
    "cgroup", "checkpoint", "cli", "communication", "control", "coreSpecplugin", "cpufreq", "cred",
    "crypto", "debug", "defaultstorage", "disablerootjobs", "eio", "epilog",
    "extsensors", "fastschedule", "federation", "firstjobid", "getenv", "gpufreq", "group", "hash_",
    "hashplugin", "healthcheck", "include", "interactive", "jobacct", "jobcheckpoint", "jobcomp",
    "jobcontainer", "jobcredential", "jobfile", "joborchestr", "keepalive", "killonbadexit", "launch",
    "logtime", "mail", "maxdbd", "maxbatchrequeue", "maxjobid", "maxnodecount", "maxstep", "maxtasks",
    "metrics", "mpi", "multiple_", "next_job", "nodename", "partitionname", "pidfile", "plugin",
    "plugstack", "pmix", "power", "prep", "privatedata", "proctrack", "prolog", "propagate",
    "rebootprogram", "reconfig", "requeueexit", "resume", "resvepilog", "resvprolog", "route", "salloc",
    "sbcast", "schedulerport", "schedulerroot", "scron", "slurm", "srun", "statesave", "suspend",
    "switch", "task", "tcp", "tls", "tmpfs", "track", "treewidth", "unkillable", "url", "usepam",
    "usepat", "vsize", "waittime", "x11", "schedulertimeslice", "port", "version", "datapar", "certgen",
    "certmgr", "namespace", "http",
)  # fmt: skip
"""Beginnings of parameters, in lower case, that decide no schedule: logs, ports, programs, addresses."""

UNLESS = ("switchparameters", "suspendexcstates")

NO_CONCERN_PARTS = frozenset((
    "allow_zero_lic", "bb_array_stage_cnt", "bf_ignore_newly_avail_nodes", "bf_yield_rpc_cnt",
    "correspond_after_task_cnt", "disable_hetjob_steps", "disable_job_shrink", "disable_user_top",
    "enable_hetjob_steps", "enable_job_state_cache", "enable_user_top", "ignore_constraint_validation",
    "ignore_prefer_validation", "max_array_tasks", "max_script_size",
    "max_submit_line_size", "no_backup_scheduling", "no_env_cache", "permit_job_expansion",
    "requeue_setup_env_fail", "salloc_wait_nodes", "sbatch_wait_nodes", "spec_cores_first",
    "step_retry_count", "step_retry_time",
))  # fmt: skip
"""Parts of SchedulerParameters that decide no schedule: of steps, scripts and what users may submit."""


def concerns_no_schedule(key: str) -> bool:
    """Whether a parameter has nothing to do with which job runs when and where."""
    return key.lower().startswith(tuple(name.lower() for name in NO_CONCERN)) and key.lower() not in UNLESS
