"""Which of Slurm's rules are in force since which version."""

from __future__ import annotations

from headway.engine.tables import Table
from headway.policies.slurm.tables.settings import Setting
from headway.site import Site
from headway.site.parameters import Version
from headway.site.version import TAKEN

RULES: tuple[tuple[Setting, Version], ...] = (
    (Setting.RESERVED_FOR_ALL, (23, 2, 0)),
    (Setting.ARRAY_LIMITS_PLANS, (23, 2, 4)),
    (Setting.HOLDS_A_STEP, (24, 5, 4)),
    (Setting.WHOLE_LIMIT_LATER, (24, 5, 5)),
    (Setting.PLANS_AFTER_OTHERS, (24, 5, 5)),
    (Setting.PRIORITY_ANEW, (24, 5, 5)),
    (Setting.ENDS_ROUNDED_UP, (24, 11, 0)),
    (Setting.LOOKS_PAST, (24, 11, 0)),
    (Setting.LENGTHENED, (25, 5, 3)),
)
"""Rules that hold whichever way nodes are chosen."""

OF_SELECTION: tuple[tuple[Setting, Version], ...] = (
    (Setting.WEIGHS_ANEW, (23, 11, 0)),
    (Setting.BY_WINDOW, (24, 11, 0)),
    (Setting.TESTED_ONCE, (24, 11, 0)),
    (Setting.DROPS_IN_TURN, (24, 11, 4)),
    (Setting.OVER_AT_BEGIN, (25, 5, 0)),
    (Setting.LAST_NEEDED, (25, 5, 1)),
    (Setting.FIRST_NODE, (26, 5, 0)),
)
"""Rules of the choice of nodes; select/linear has kept its own."""

SHARED_BY_REQUEST: Version = (23, 11, 10)
"""Since when jobs that might share their CPUs (OverSubscribe=YES) and do not ask for it keep nobody off."""


def version_remark(site: Site) -> str:
    """What is said where nothing tells the site's version."""
    return "" if site.config.version else f"Slurm's version is not known: {TAKEN}"


def lay_rules(site: Site, row: Table) -> None:
    """Switch on the rules that are in force in the site's version."""
    for setting, since in RULES if site.is_linear else (*RULES, *OF_SELECTION):
        row[setting] = site.version >= since
