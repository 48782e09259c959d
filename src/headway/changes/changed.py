"""Changes as short texts: nodes=+10%, partition.long.maxtime=24h, bf_max_job_user=20, policy=conservative."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from headway.changes import jobs_changes, site_changes
from headway.errors import UsageError
from headway.grammar import Value, parse_call
from headway.plain import close, cut
from headway.platform import Platform
from headway.policies.spec import parse_spec
from headway.site import Site
from headway.site.limits import shown_name
from headway.site.modelled import newly_not_modelled
from headway.site.parameters import DEFAULTS, SCHEDULER, VERSION
from headway.workload import Workload

CHANGES: tuple[tuple[str, str, str], ...] = (
    ("nodes=+10%", "more or fewer nodes, in all partitions alike (or processors of a log's machine)", "both"),
    ("partition.long.maxtime=24h", "a key of a partition; requests beyond maxtime are cut to it", "site"),
    ("merge=short,long", "partitions made one: all their nodes, the longest limit", "site"),
    ("PriorityWeightFairshare=20000", "a parameter of slurm.conf", "site"),
    ("version=26.05", "another version of Slurm: what an upgrade does", "site"),
    ("bf_max_job_test=2000", "a part of SchedulerParameters, such as the depth of backfill", "site"),
    ("bf_max_job_user=20", "how many jobs of a user backfill plans in a cycle", "site"),
    ("bf_job_part_count_reserve=1", "EASY by Slurm's rules: one reservation in a partition", "site"),
    ("qos.high.maxjobs=10", "a limit or the priority of a QOS, by sacctmgr's name", "site"),
    ("account.chem.fairshare=50", "shares or a limit of an account", "site"),
    ("user.ann.maxjobs=4", "shares or a limit of a user", "site"),
    ("limits=none", "no limits of QOS and associations", "site"),
    ("policy=conservative", "another policy; it sees a site as so many interchangeable processors", "both"),
    ("jobs=+20%", "more or fewer jobs like those of the log, drawn from it", "both"),
    ("limit(walltime=24h)", "any transformation of the workload (headway convert --help)", "both"),
)  # fmt: skip
"""Example, what it does, and whether it is for a site, or for any log too."""


@dataclass(frozen=True)
class Case:
    """What is simulated: jobs, a machine (with its site, if any) and a policy."""

    workload: Workload
    platform: Platform
    policy: str

    @classmethod
    def of(cls, workload: Workload, platform: Platform, policy: str = "") -> Case:
        """The jobs on their machine; where no policy is named by Slurm's rules on a site, else easy."""
        return cls(workload, platform, policy or ("slurm" if platform.site else "easy"))

    @property
    def site(self) -> Site | None:
        return self.platform.site

    def with_site(self, change: Callable[[Site], Site], text: str) -> Case:
        """The same with another site; a log has none."""
        if self.site is None:
            raise UsageError(f"{text} changes a site, and this is a log; give a site's folder")
        return replace(self, platform=change(self.site).platform())


def counts_processors(policy: str) -> bool:
    """Whether a policy sees a site as so many interchangeable processors, and none of its rules."""
    spec = parse_spec(policy)
    return not spec.policy.by_site_rules and spec.params.get("nodes", "count") == "count"


def changes_of(text: str) -> list[str]:
    """The changes of a variant: they stand between blanks, and in quotes where they have blanks."""
    try:
        return shlex.split(text)
    except ValueError:
        raise UsageError(f"a quotation mark is not closed in the variant {text[:80]!r}") from None


_NAMING = re.compile(
    r"(?:^|\s)(?:(user|account|partition|qos)\.([^\s=]+)\.[^\s.=]+|(merge))=(\S*)", re.IGNORECASE
)


def named(variant: str) -> dict[str, list[str]]:
    """The users, accounts, partitions and QOS that the changes of a variant name.

    >>> named("user.bob.b.maxjobs=4 nodes=+10%"), named("merge=short,long")
    ({'user': ['bob.b']}, {'partition': ['short', 'long']})
    """
    found: dict[str, list[str]] = {}
    for kind, name, merge, value in _NAMING.findall(variant):
        names = value.split(",") if merge else [name]
        found.setdefault("partition" if merge else kind.lower(), []).extend(names)
    return found


def changed(case: Case, text: str) -> Case:
    """The case after one change."""
    key, equals, value = (part.strip() for part in text.partition("="))
    name = key.lower()
    if equals and value and "(" not in key:
        found = _by_name(case, name, value, text)
        if found is not None:
            return found
    from headway.workload.transform.registry import TRANSFORMATIONS, apply

    if re.split(r"[(\s]", text, maxsplit=1)[0] in TRANSFORMATIONS:
        return replace(case, workload=apply(case.workload, text))
    examples = ", ".join(example for example, _, _ in CHANGES)
    known = [*(example.partition("=")[0] for example, _, _ in CHANGES), *DEFAULTS, *SCHEDULER]
    if name in known and not value:
        raise UsageError(f"{text!r} has no value; write {key}=VALUE, as in nodes=+10%")
    if name.startswith("topology"):
        raise UsageError(f"{text!r} cannot be changed here; change topology.conf in a copy of the site")
    hint = close(re.split(r"[=(\s]", text, maxsplit=1)[0], [*known, *TRANSFORMATIONS])
    raise UsageError(f"there is no change {text!r}{hint}; examples are {examples} (headway what-if --list)")


def _by_name(case: Case, name: str, value: str, text: str) -> Case | None:
    if name == "policy":
        parse_spec(value)
        return replace(case, policy=value)
    if name == "nodes":
        if case.site is not None:
            more = amount(value, len(case.site.nodes), text)
            return case.with_site(lambda site: site_changes.nodes(site, more), text)
        total = case.platform.total_procs
        return replace(case, platform=Platform.procs(total + amount(value, total, text)))
    if name == "jobs":
        return replace(
            case, workload=jobs_changes.jobs(case.workload, amount(value, len(case.workload), text))
        )
    if name == "limits":
        if value != "none":
            raise UsageError(f"{text}: limits can only be none")
        return case.with_site(site_changes.without_limits, text)
    if name == "merge":
        merged = case.with_site(lambda site: site_changes.merged(site, value), text)
        return replace(merged, workload=jobs_changes.moved(merged.workload, value.split(",")))
    if name.count(".") >= 2:
        kind, _, rest = text.partition("=")[0].strip().partition(".")
        which, _, field = rest.rpartition(".")  # names may have points
        return _of_object(case, kind.lower(), which, field.lower(), value, text)
    if name in DEFAULTS or name == "version":
        key = VERSION if name == "version" else text.partition("=")[0].strip()
        after = case.with_site(lambda site: site_changes.parameter(site, key, value), text)
    elif name in SCHEDULER:
        after = case.with_site(lambda site: site_changes.scheduling(site, name, value), text)
        _refuse_not_taken(after, name, value, text)
    else:
        return None
    _refuse_not_modelled(case, after, name, text)
    return after


def _refuse_not_modelled(before: Case, after: Case, key: str, text: str) -> None:
    """Refuse to set what no simulation takes into account: nothing would seem to change."""
    assert before.site is not None and after.site is not None
    for name in newly_not_modelled(before.site, after.site):
        if key in name.lower().split():
            raise UsageError(f"{text}: {name} is not modelled, so the simulation cannot tell")


def _refuse_not_taken(after: Case, name: str, value: str, text: str) -> None:
    """Refuse a number that Slurm does not take: it would go on with another."""
    if re.fullmatch(r"-?\d+", value) and after.site is not None:
        taken = after.site.scheduling_number(name)
        if taken != int(value):
            raise UsageError(f"{text}: Slurm takes no {value} and would use its default, {taken}")


def _of_object(case: Case, kind: str, which: str, field: str, value: str, text: str) -> Case:
    changes: dict[str, Any] = {
        "partition": site_changes.partition, "qos": site_changes.qos, "account": site_changes.account,
        "user": site_changes.user,
    }  # fmt: skip
    if kind not in changes:
        raise UsageError(f"{text}: {kind} is none of {', '.join(changes)}")
    try:
        after = case.with_site(lambda site: changes[kind](site, which, field, value), text)
    except ValueError as error:
        raise UsageError(f"{text}: {error}") from None
    _refuse_not_modelled(case, after, shown_name(field) if kind != "partition" else field, text)
    if "submit" in field:
        after = replace(after, policy=with_submit_limits(after.policy))
    if (kind, field) == ("partition", "maxtime") and after.site is not None:
        limit = after.site.partitions[after.site.partition_place[which]].max_minutes
        if limit is not None:
            return replace(after, workload=jobs_changes.cut(case.workload, after.site, which, limit))
    return after


def with_submit_limits(policy: str) -> str:
    """The policy where another limit on submission is asked for: then it decides, not what the log shows."""
    if not parse_spec(policy).policy.by_site_rules:
        return policy
    return with_parameter(policy, "submit_limits", "enforced")


def with_parameter(policy: str, name: str, value: Value) -> str:
    """The policy's text with another value of one parameter."""
    call = parse_call(policy)
    return str(replace(call, kwargs={**call.kwargs, name: value}))


MOST = 10_000_000
"""Jobs, nodes or processors that a change adds or takes away."""


def amount(value: str, total: int, text: str) -> int:
    """How much more (or less): +10%, -5, +64."""
    match = re.fullmatch(r"([+-])(\d+(?:\.\d+(?=%))?)(%?)", value)
    if match is None:
        raise UsageError(f"{text}: {value!r} is not a change such as +10% or -8")
    size = float(match[2]) * (total / 100 if match[3] else 1)
    if size > MOST:
        raise UsageError(f"{cut(text)}: a change is by at most {MOST:,}")
    if size and not round(size):
        raise UsageError(f"{cut(text)}: is less than one, as there are {total:,}; give more, or +1")
    if match[1] == "-" and round(size) >= total:
        raise UsageError(f"{cut(text)}: there are {total:,}, and at least one must be left")
    return round(size) if match[1] == "+" else -round(size)
