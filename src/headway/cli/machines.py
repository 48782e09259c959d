"""The machines of a comparison: those asked for, and as many processors in all for each policy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from headway.errors import UsageError
from headway.plain import Notify, counted
from headway.platform import Platform
from headway.policies.spec import Spec

LARGEST = 2**31 - 1


@dataclass(frozen=True)
class Size:
    """A machine asked for: so many processors, so many more or fewer, or so many percent more or fewer."""

    text: str
    procs: int = 0
    percent: float = 0
    relative: bool = False

    def of(self, base: int) -> int:
        """Processors, where `base` is what a relative size refers to; parts of a processor are left out."""
        if not self.relative:
            return self.procs
        return base + self.procs + int(base * self.percent / 100)


def parse_size(text: str) -> Size:
    """What --procs gives.

    >>> parse_size("640").of(100), parse_size("+64").of(100), parse_size("-10%").of(430)
    (640, 164, 387)
    """
    found = re.fullmatch(r"([+-]?)(\d{1,18})(\.\d+)?(%?)", text.strip())
    if not found or (found[3] and not found[4]) or (found[4] and not found[1]):
        raise UsageError(f"--procs must be a whole number, or a change such as +64 or +10%, not {text!r}")
    sign = -1 if found[1] == "-" else 1
    if found[4]:
        return Size(text, percent=sign * float(found[2] + (found[3] or "")), relative=True)
    return Size(text, procs=sign * int(found[2]), relative=bool(found[1]))


def machine_sizes(platform: Platform, sizes: Sequence[Size]) -> list[Platform]:
    """The machines in their order; where all sizes are relative, the platform itself comes first."""
    if not sizes:
        return [platform]
    base = platform.total_procs
    wanted = [size.of(base) for size in sizes]
    for size, procs in zip(sizes, wanted, strict=True):
        if not 1 <= procs <= LARGEST:
            limit = "at least 1" if procs < 1 else f"at most {LARGEST}"
            raise UsageError(f"--procs must be {limit}, not {procs if not size.relative else size.text}")
    if all(size.relative for size in sizes):
        wanted = [base, *wanted]
    for procs in wanted:
        if wanted.count(procs) > 1:
            raise UsageError(
                f"--procs gives the machine of {counted(procs, 'processor')} twice; each is compared once"
            )
    return [Platform.procs(procs) for procs in wanted]


def machines(specs: Sequence[Spec], platform: Platform, equal: bool, say: Notify) -> list[Platform]:
    """One platform per policy.

    Redirection takes the machine as its principal group and a second group besides. The other policies get
    as many more, unless `equal` is false; where several redirections differ, as many as the largest adds.
    """
    if len(platform.clusters) > 1:
        return [platform] * len(specs)  # redirection has the second cluster, and adds nothing
    added = [spec.policy.added_procs(platform.total_procs) for spec in specs]
    most = max(added)
    others = [spec.brief for spec, more in zip(specs, added, strict=True) if not more]
    if not most or not others:
        return [platform] * len(specs)
    total, named = platform.total_procs, ", ".join(others)
    begin = f"redirection adds {counted(most, 'processor')} to its {total};"
    if not equal:
        say(f"{begin} these stay at {total} (--unequal): {named}")
        return [platform] * len(specs)
    if platform.has_nodes:
        say(f"{begin} these stay at {total}, because the platform's nodes are given: {named}")
        return [platform] * len(specs)
    say(f"{begin} these get {total + most} too (--unequal leaves them at {total}): {named}")
    return [platform if more else Platform.procs(total + most) for more in added]


def widest(specs: Sequence[Spec], platform: Platform) -> int:
    """Processors of the widest job that every policy can run; all are compared on the same jobs."""
    return min(spec.policy.widest(platform) for spec in specs)
