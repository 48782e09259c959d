"""Associations, QOS and priority weights of a recorded run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from reference.slurm.accounts import Accounts, Association, Counts, Qos
from reference.slurm.fairshare import Fairness
from reference.slurm.priority import Multifactor, Weights

from .conf import Conf, exempt_time, seconds
from .runs import Run

UIDS = {"root": "0", "games": "5", "man": "6", "lp": "7", "mail": "8", "news": "9", "uucp": "10"}


def counts(text: str) -> Counts:
    pairs = (pair.rpartition("=") for pair in text.split(",") if pair)
    return {kind: int(number) for kind, _, number in pairs}


def load_accounts(run: Run) -> Accounts | None:
    """The tree from the commands that made it, or from a dump; None for a run without accounting."""
    commands = run.folder / "sacctmgr.txt"
    dump = run.folder / "site" / "associations.cfg"
    if commands.exists():
        return from_commands(commands)
    return from_dump(dump, run.folder / "site" / "qos.txt") if dump.exists() else None


def from_commands(path: Path) -> Accounts:
    root = Association("root", shares=1)
    root.add(Association("root", UIDS["root"]))
    accounts = {"root": root}
    qos = {"normal": Qos("normal")}
    for line in path.read_text("utf-8").splitlines():
        words = shlex.split(line.removeprefix("late "))
        given = {key.lower(): value for key, _, value in (word.partition("=") for word in words[2:]) if value}
        match words[:2]:
            case ["add", "account"]:
                above = accounts[given.get("parent", "root")]
                accounts[words[2]] = above.add(Association(words[2], shares=shares_of(given)))
            case ["add", "user"]:
                name = given["account"]
                accounts[name].add(Association(name, UIDS[words[2]], shares=shares_of(given)))
            case ["add", "qos"]:
                qos[words[2]] = Qos(words[2])
            case ["modify", "qos"]:
                set_qos(qos[words[2]], given)
            case ["modify", "account"]:
                set_association(accounts[words[2]], given)
            case ["modify", "user"]:
                account = accounts[given["account"]]
                user = next(child for child in account.children if child.user == UIDS[words[2]])
                set_association(user, given)
    return Accounts(root, qos)


def shares_of(given: dict[str, str]) -> int | None:
    """The shares of an association; None where it has those of its parent."""
    text = given.get("fairshare", "1")
    return None if text == "parent" else int(text)


def set_qos(qos: Qos, given: dict[str, str]) -> None:
    qos.priority = int(given.get("priority", qos.priority))
    if "preempt" in given:
        qos.preempts = frozenset(given["preempt"].split(","))
    if "preemptexempttime" in given:
        qos.exempt = exempt_time(given["preemptexempttime"])
    qos.usage_factor = float(given.get("usagefactor", qos.usage_factor))
    qos.max_tres_user = counts(given.get("maxtresperuser", "")) or qos.max_tres_user
    if "maxjobsperuser" in given:
        qos.max_jobs_user = int(given["maxjobsperuser"])


def set_association(one: Association, given: dict[str, str]) -> None:
    if "fairshare" in given:
        one.shares = shares_of(given)
    one.grp_tres = counts(given.get("grptres", "")) or one.grp_tres
    one.grp_tres_mins = counts(given.get("grptresmins", "")) or one.grp_tres_mins


def from_dump(path: Path, qos_path: Path) -> Accounts:
    root = Association("root", shares=1)
    root.add(Association("root", UIDS["root"]))
    accounts = {"root": root}
    parent = root
    for line in path.read_text("utf-8").splitlines():
        kind, _, rest = line.partition(" - ")
        name = re.findall(r"'([^']*)'", rest)[0]
        shares = re.search(r"Fairshare=(\d+)", rest)
        share = int(shares[1]) if shares else 1
        if kind == "Parent":
            parent = accounts[name]
        elif kind == "Account":
            accounts[name] = parent.add(Association(name, shares=share))
        elif kind == "User":
            parent.add(Association(parent.account, UIDS[name], shares=share))
    qos = {}
    lines = qos_path.read_text("utf-8").splitlines()
    for line in lines[1:]:
        row = dict(zip(lines[0].split("|"), line.split("|"), strict=True))
        qos[row["Name"]] = Qos(
            row["Name"],
            int(row["Priority"]),
            max_tres_user=counts(row["MaxTRESPU"]),
            max_jobs_user=int(row["MaxJobsPU"]) if row["MaxJobsPU"] else None,
        )
    return Accounts(root, qos)


def load_weights(conf: Conf) -> Weights:
    return Weights(
        age=conf.number("PriorityWeightAge", 0),
        fairshare=conf.number("PriorityWeightFairshare", 0),
        size=conf.number("PriorityWeightJobSize", 0),
        partition=conf.number("PriorityWeightPartition", 0),
        qos=conf.number("PriorityWeightQOS", 0),
        max_age=seconds(conf.values.get("prioritymaxage", "7-0")),
    )


def load_multifactor(run: Run) -> tuple[Multifactor, Fairness | None]:
    accounts = load_accounts(run)
    factors = Multifactor(run.machine, load_weights(run.conf), accounts)
    half = seconds(run.conf.values.get("prioritydecayhalflife", "7-0"))
    return factors, Fairness(accounts, half) if accounts else None
