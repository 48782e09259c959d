"""A recorded run as a site's folder: what sacct, sacctmgr and scontrol would show of it."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

from .runs import Asked, Attempt, Run, folder, load, tasks_of

USERS = {0: "root", 5: "games", 6: "man", 7: "lp", 8: "mail", 9: "news", 10: "uucp"}
COLUMNS = [
    *("JobID", "User", "Account", "Partition", "QOS", "State", "Submit", "Eligible", "Start", "End"),
    *("ElapsedRaw", "TimelimitRaw", "ReqCPUS", "AllocCPUS", "NNodes", "ReqNodes", "ReqMem", "Reservation"),
    *("Flags", "NodeList", "SubmitLine"),
]
QOS = [
    *("Name", "Priority", "GraceTime", "Preempt", "PreemptExemptTime", "PreemptMode", "Flags", "UsageFactor"),
    *("GrpTRES", "GrpTRESMins", "MaxTRESPU", "MaxJobsPU"),
]
MADE = re.compile(
    r"create reservation reservationname=(\S+) starttime=\$\(date -d @(\d+).*?"
    r"duration=(\d+) users=(\S+) nodes=(\S+)(?: flags=(\S+))?"
)
ENDED = ("COMPLETED", "CANCELLED")
"""States of attempts that ran as long as their job ever does."""
OF_QOS = {"MaxTRESPerUser": "MaxTRESPU", "MaxJobsPerUser": "MaxJobsPU"}


def write_site(name: str, where: Path) -> Path:
    """The folder of a recorded run; skips the test where the run is not at hand."""
    given, run = folder(name), load(name)
    where.mkdir(parents=True, exist_ok=True)
    for file in ("slurm.conf", "gres.conf", "topology.conf"):
        if (given / file).is_file():
            shutil.copy(given / file, where / file)
    if (version := run.machine.settings.version) > (22, 5):
        with (where / "slurm.conf").open("a", encoding="utf-8") as conf:
            conf.write(f"SLURM_VERSION={version[0]}.{version[1]:02}.{version[2]}\n")
    write_jobs(run, where / "jobs.txt")
    if (given / "sacctmgr.txt").is_file():
        write_accounts((given / "sacctmgr.txt").read_text("utf-8").splitlines(), where)
    if (given / "admin.tsv").is_file():
        write_happenings(run, (given / "admin.tsv").read_text("utf-8").splitlines(), where)
    return where


def write_jobs(run: Run, path: Path) -> None:
    """One row for each job or task: its first submission and start, and how long it runs undisturbed."""
    first: dict[str, Attempt] = {}
    eligible: dict[str, int] = {}
    for row in run.attempts:
        if row.name not in first or row.attempt < first[row.name].attempt:
            first[row.name] = row
        eligible.setdefault(row.name, row.eligible)
    rows: list[list[str | int]] = []
    suspended = suspended_times(run)
    for name, row in first.items():
        asked = run.asked[int(name.split("_")[0])]
        job, length = asked.job, asked.run[0]
        if "_" in name and len(asked.run) > 1:
            length = asked.run[tasks_of(asked.options["array"]).index(int(name.split("_")[1]))]
        state = "FAILED" if asked.options.get("exit", "0") != "0" else "COMPLETED"
        start = row.start if row.start > 0 else row.submit
        whole = row.end - row.start - suspended.get(name, 0)
        length = round(length) if row.attempt != 1 or row.state not in ENDED else whole
        since: str | int = max(eligible[name], row.submit)
        shown, begun, end = name, str(start), start + length
        if row.state == "CANCELLED":
            state = "CANCELLED by 0"
            if not row.nodes:
                begun, end, length = "None", row.end, 0
                since = since if eligible[name] > 0 else "Unknown"
                left = [n for n in tasks_of(asked.options.get("array", "")) if f"{name}_{n}" not in first]
                shown = f"{name}_[{','.join(map(str, left))}]" if left else name
        rows.append(
            [
                shown, USERS[int(job.user)], job.account, ",".join(job.partitions), job.qos, state,
                row.submit, since, begun, end, length, row.limit or job.limit,
                job.cpus, row.cpus, job.nodes, job.nodes, "", job.reservation, "", "", submit_line(asked),
            ]
        )  # fmt: skip
    rows.sort(key=lambda row: (row[6], [int(part) for part in re.findall(r"\d+", str(row[0]))]))
    text = ["|".join(COLUMNS), *("|".join(str(cell) for cell in row) for row in rows)]
    path.write_text("\n".join(text) + "\n", "utf-8")


def suspended_times(run: Run) -> dict[str, int]:
    """How long jobs were suspended, in seconds; what they elapsed does not count it."""
    since: dict[str, float] = {}
    total: dict[str, float] = {}
    for event in run.events:
        if event.kind == "suspend":
            since[event.job] = event.t
        elif event.kind == "resume":
            total[event.job] = total.get(event.job, 0) + event.t - since.pop(event.job)
    return {name: round(spent) for name, spent in total.items()}


def submit_line(asked: Asked) -> str:
    job, options = asked.job, asked.options
    words = [
        f"sbatch -N {job.nodes}-{options.get('maxn', job.nodes)} -n {job.cpus // job.cpus_per_task}"
        f" -c {job.cpus_per_task} -t {job.limit}"
    ]
    words.append(f"-p {','.join(job.partitions)}")
    words += ["--exclusive"] if job.whole else []
    words += ["--exclusive=user"] if "by_user" in options else []
    for key, option in (
        ("mem", "mem"), ("mpc", "mem-per-cpu"), ("array", "array"), ("begin", "begin"), ("gres", "gres"),
        ("resv", "reservation"), ("tmin", "time-min"), ("name", "job-name"), ("feat", "constraint"),
        ("w", "nodelist"), ("x", "exclude"), ("tpn", "ntasks-per-node"), ("lic", "licenses"),
        ("nice", "nice"), ("prefer", "prefer"), ("switches", "switches"),
    ):  # fmt: skip
        if key in options:
            words.append(f"--{option}={options[key]}")
    if "dep" in options:
        words.append(f"--dependency={options['dep'].replace('#', '')}")
    if "deadline" in options:
        words.append(f"--deadline={datetime.fromtimestamp(int(options['deadline']), UTC):%Y-%m-%dT%H:%M:%S}")
    if "contig" in options:
        words.append("--contiguous")
    if "hold" in options:
        words.append("--hold")
    if "requeue" in options:
        words.append("--requeue" if options["requeue"] == "1" else "--no-requeue")
    return " ".join([*words, "job.sh"])


def write_accounts(commands: list[str], where: Path) -> None:
    """What `sacctmgr` was told, as `show qos` and `dump` show it."""
    qos: dict[str, dict[str, str]] = {"normal": {"Priority": "0"}}
    accounts: dict[str, str] = {}
    users: list[tuple[str, str, str, str]] = []
    more: dict[tuple[str, str], str] = {}
    for command in commands:
        words = command.split()
        given = dict(word.split("=", 1) for word in words if "=" in word)
        match words[:2]:
            case ["add", "account"]:
                accounts[words[2]] = given["Fairshare"]
            case ["add", "qos"]:
                qos[words[2]] = {"Priority": "0"}
            case ["add", "user"]:
                users.append((words[2], given["Account"], given["Fairshare"], given["qos"]))
            case ["modify", "qos"]:
                qos[words[2]] |= {OF_QOS.get(name, name): value for name, value in given.items()}
            case ["modify", "account"]:
                more["", words[2]] = command.split(" set ")[1].replace(" ", ":")
            case ["modify", "user"]:
                more[words[2], given["account"]] = command.split(" set ")[1].replace(" ", ":")
    lines = ["|".join(QOS)]
    for name, given in qos.items():
        row = {"Name": name, "UsageFactor": "1.000000", "PreemptMode": "cluster", "GraceTime": "00:00:00"}
        lines.append("|".join((row | given).get(column, "") for column in QOS))
    (where / "qos.txt").write_text("\n".join(lines) + "\n", "utf-8")
    dump = ["Cluster - 'truth':Fairshare=1:QOS='normal'", "Parent - 'root'"]
    for name, shares in accounts.items():
        limits = more.get(("", name), "")
        dump.append(
            f"Account - '{name}':Description='{name}':Organization='o':Fairshare={shares}"
            + (f":{quoted(limits)}" if limits else "")
        )
    for name in accounts:
        dump.append(f"Parent - '{name}'")
        for user, account, shares, allowed in users:
            if account == name:
                limits = more.get((user, account), "")
                dump.append(
                    f"User - '{user}':DefaultAccount='{account}':Fairshare={shares}:QOS='{allowed}'"
                    + (f":{quoted(limits)}" if limits else "")
                )
    (where / "associations.cfg").write_text("\n".join(dump) + "\n", "utf-8")


def quoted(limits: str) -> str:
    return re.sub(r"=(.*)", r"='\1'", limits)


def write_happenings(run: Run, commands: list[str], where: Path) -> None:
    """Nodes that an administrator took away and gave back, and reservations that he made and deleted."""
    away: dict[str, tuple[str, int]] = {}
    events: list[tuple[str, str, int, int, str]] = []
    reserved: dict[str, tuple[int, int, int, str, str, str]] = {}
    returns = run.conf.values.get("returntoservice", "0") == "2"
    for line in commands:
        t, _, command = line.split("\t")
        now = int(float(t))
        node = re.search(r"update (nodename|partitionname)=(\S+) state=(\w+)", command)
        if node:
            kind, name, state = node.groups()
            column = "Partition" if kind == "partitionname" else "NodeName"
            if state in ("resume", "up"):
                old, since = away.pop(name, ("", 0))
                if since:
                    events.append((column, name, since, now, old.upper()))
            elif state == "down" and returns and column == "NodeName":
                events.append((column, name, now, now + 1, "DOWN"))
            else:
                away[name] = state, now
        if made := MADE.search(command):
            start = int(made[2])
            reserved[made[1]] = (now, start, start + 60 * int(made[3]), made[4], made[5], made[6] or "")
        if gone := re.search(r"delete reservationname=(\S+)", command):
            since, start, _, users, nodes, flags = reserved[gone[1]]
            reserved[gone[1]] = since, start, now, users, nodes, flags
    lines = ["NodeName|Partition|TimeStart|TimeEnd|State|Reason"]
    for column, name, start, end, state in events:
        both = ("", name) if column == "Partition" else (name, "")
        lines.append("|".join([*both, str(start), str(end), state, "t"]))
    (where / "events.txt").write_text("\n".join(lines) + "\n", "utf-8")
    lines = ["Name|TimeStart|TimeEnd|NodeNames|Flags|Users|Announced"]
    for name, (since, start, end, users, nodes, flags) in reserved.items():
        listed = ",".join(node.name for node in run.machine.nodes) if nodes == "ALL" else nodes
        flags = flags.upper() + (",ALL_NODES" if nodes == "ALL" else "")
        lines.append("|".join([name, str(start), str(end), listed, flags, users, str(since)]))
    (where / "reservations.txt").write_text("\n".join(lines) + "\n", "utf-8")
