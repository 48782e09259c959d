"""Small random sites for holding two readings of Slurm's rules against each other.

An instance is a folder as a site has it: slurm.conf, jobs as sacct prints them and, with accounting, a dump
of associations and the QOS.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random

FIRST = 1_700_000_000
USERS = {"games": "phys", "man": "phys", "lp": "chem", "mail": "chem"}
COLUMNS = (
    "Cluster|JobID|JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|"
    "ReqCPUS|AllocCPUS|NNodes|ReqNodes|ReqMem|ReqTRES|AllocTRES|Reservation|Constraints|Flags|Suspended|TotalCPU|"
    "NodeList|SubmitLine"
)


@dataclass
class Wish:
    """What one job asks for, and how long it runs."""

    number: int
    submit: int
    nodes: int
    cpus: int
    limit: int
    runtime: int
    partitions: list[str]
    user: str
    qos: str
    exclusive: bool
    memory: str
    """sbatch's option, such as --mem=8000, or nothing."""


@dataclass
class Instance:
    seed: int
    conf: str
    wishes: list[Wish]
    accounting: bool
    qos_limit: int
    """CPUs that a user may hold, enough for each single job; 0 is no limit."""
    switches: str = ""
    """topology.conf; "" where nodes are chosen without a network."""
    version: str = ""
    """The version of Slurm; "" for the oldest."""

    def write(self, folder: Path) -> Path:
        """The site's folder."""
        folder.mkdir(parents=True, exist_ok=True)
        plugin = "TopologyPlugin=topology/tree\n" if self.switches else ""
        version = f"SLURM_VERSION={self.version}\n" if self.version else ""
        (folder / "slurm.conf").write_text(self.conf + plugin + version, "utf-8")
        if self.switches:
            (folder / "topology.conf").write_text(self.switches, "utf-8")
        lines = [COLUMNS, *(self.line(wish) for wish in self.wishes)]
        (folder / "jobs.txt").write_text("\n".join(lines) + "\n", "utf-8")
        if self.accounting:
            (folder / "associations.cfg").write_text(ASSOCIATIONS, "utf-8")
            limit = f"cpu={self.qos_limit}" if self.qos_limit else ""
            (folder / "qos.txt").write_text(QOS.format(limit=limit), "utf-8")
        return folder

    def line(self, wish: Wish) -> str:
        """A job as sacct prints it; where and when it really ran does not matter here."""
        command = f"sbatch -N {wish.nodes} -n {wish.cpus} -t {wish.limit} -p {','.join(wish.partitions)}"
        command += " --exclusive" if wish.exclusive else ""
        command += f" {wish.memory}" if wish.memory else ""
        tres = f"cpu={wish.cpus},node={wish.nodes},billing={wish.cpus}"
        account = USERS[wish.user] if self.accounting else ""
        qos = wish.qos if self.accounting else ""
        t, end = wish.submit, wish.submit + wish.runtime
        return (
            f"truth|{wish.number}|{wish.number}|{wish.user}|{account}|{','.join(wish.partitions)}|"
            f"{qos}|COMPLETED|{t}|{t}|{t}|{end}|"
            f"{wish.runtime}|{wish.limit}|{wish.cpus}|{wish.cpus}|{wish.nodes}|{wish.nodes}|0|{tres}|{tres}|||"
            f"SchedMain|00:00:00|00:00:00|n1|{command} job.sh"
        )


ASSOCIATIONS = """Cluster - 'truth':Fairshare=1:QOS='normal'
Parent - 'root'
Account - 'phys':Description='phys':Organization='o':Fairshare=60
Account - 'chem':Description='chem':Organization='o':Fairshare=40
Parent - 'phys'
User - 'games':DefaultAccount='phys':Fairshare=10:QOS='normal,high'
User - 'man':DefaultAccount='phys':Fairshare=30:QOS='normal,high'
Parent - 'chem'
User - 'lp':DefaultAccount='chem':Fairshare=10:QOS='normal,high'
User - 'mail':DefaultAccount='chem':Fairshare=10:QOS='normal,high'
"""

QOS = """Name|Priority|UsageFactor|MaxTRESPU|MaxJobsPU
normal|10|1.000000|{limit}|
high|100|1.000000||2
"""


def instance(seed: int, jobs: int = 40, network: float = 0.0) -> Instance:
    """A site of few nodes and a queue that it cannot serve at once; perhaps with a tree of switches."""
    random = Random(seed)
    nodes = random.randint(3, 9)
    cpus = random.choice((1, 4, 8))
    accounting = random.random() < 0.5
    memory = random.random() < 0.5
    conf = site(random, nodes, cpus, accounting, memory)
    wishes = []
    t = FIRST
    for number in range(1, jobs + 1):
        t += random.choice((0, 1, 5, 40, 200))
        wishes.append(wish(random, number, t, nodes, cpus, memory))
    largest = max(one.nodes * cpus if one.exclusive else one.cpus for one in wishes)
    made = Instance(seed, conf, wishes, accounting, random.choice((0, largest, largest + cpus)))
    if random.random() < network:
        made.switches = tree(random, nodes)
    return made


def tree(random: Random, nodes: int) -> str:
    """topology.conf: leaves of a few nodes, then levels above them up to one root."""
    lines: list[str] = []
    level: list[str] = []
    first = 1
    while first <= nodes:
        last = min(first + random.randint(0, 3), nodes)
        level.append(f"s{len(lines) + 1}")
        lines.append(f"SwitchName={level[-1]} Nodes=n[{first}-{last}]")
        first = last + 1
    while len(level) > 1:
        above = []
        while level:
            below = [level.pop(0) for _ in range(min(random.randint(1, 3), len(level)))]
            above.append(f"s{len(lines) + 1}")
            lines.append(f"SwitchName={above[-1]} Switches={','.join(below)}")
        level = above
    return "\n".join(lines) + "\n"


def site(random: Random, nodes: int, cpus: int, accounting: bool, memory: bool) -> str:
    """slurm.conf: nodes of one or two weights, a small partition inside a large one, in tiers or not."""
    half = random.randint(1, nodes // 2)
    tier = random.choice((1, 3))
    weight = random.choice((1, 5))
    parameters = ["bf_resolution=60"]
    if random.random() < 0.3:
        parameters.append(f"bf_max_job_test={random.randint(3, 8)}")
    if random.random() < 0.3:
        parameters.append(f"bf_window={random.choice((30, 120))}")
    if random.random() < 0.2:
        parameters.append("bf_max_job_user=3")
    lines = [
        "ClusterName=truth",
        "SlurmctldHost=ctl",
        "SchedulerType=sched/backfill",
        "SelectType=select/cons_tres",
        f"SelectTypeParameters=CR_Core{'_Memory' if memory else ''}",
        "SchedulerParameters=" + ",".join(parameters),
    ]
    if memory:
        lines.append("DefMemPerCPU=1000")
    if accounting:
        lines += [
            "PriorityType=priority/multifactor",
            "AccountingStorageType=accounting_storage/slurmdbd",
            "AccountingStorageEnforce=associations,limits,qos",
            "PriorityWeightAge=1000",
            "PriorityMaxAge=1-0",
            "PriorityWeightFairshare=2000",
            "PriorityWeightPartition=500",
            "PriorityWeightQOS=700",
        ]
    elif random.random() < 0.5:
        lines += ["PriorityType=priority/multifactor", "PriorityWeightJobSize=1000"]
    else:
        lines.append("PriorityType=priority/basic")
    lines += [
        f"NodeName=n[1-{half}] CPUs={cpus} RealMemory=8000 Weight={weight}",
        f"NodeName=n[{half + 1}-{nodes}] CPUs={cpus} RealMemory=16000 Weight=2",
        f"PartitionName=batch Nodes=n[1-{nodes}] Default=YES MaxTime=INFINITE PriorityJobFactor=5",
        f"PartitionName=short Nodes=n[{half}-{nodes}] MaxTime=60 PriorityTier={tier} PriorityJobFactor=10",
    ]
    return "\n".join(lines) + "\n"


def wish(random: Random, number: int, t: int, nodes: int, cpus: int, memory: bool) -> Wish:
    short = random.random() < 0.4
    most = max(1, nodes // 2) if short else nodes
    count = random.randint(1, most) if random.random() < 0.5 else 1
    limit = random.choice((5, 10, 30)) if short else random.choice((10, 45, 90, 200))
    partitions = ["short"] if short else ["batch"]
    if short and random.random() < 0.3:
        partitions = ["batch", "short"]
    given = ""
    if memory and random.random() < 0.5:
        given = random.choice(("--mem=2000", "--mem=6000", "--mem-per-cpu=500"))
    return Wish(
        number,
        t,
        count,
        count * random.choice((1, max(1, cpus // 2), cpus)),
        limit,
        max(1, int(60 * limit * random.choice((0.1, 0.5, 1.0)))),
        partitions,
        random.choice(list(USERS)),
        random.choice(("normal", "normal", "high")),
        random.random() < 0.2,
        given,
    )
