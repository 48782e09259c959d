"""Which of Slurm's rules are in force since which version."""

from __future__ import annotations

from headway.policies.slurm.tables.settings import Settings
from headway.site import Site
from headway.site.parameters import Version
from headway.site.version import TAKEN

RULES: tuple[tuple[int, Version], ...] = (
    (Settings["reserved_for_all"], (23, 2, 0)),
    (Settings["array_limits_plans"], (23, 2, 4)),
    (Settings["holds_a_step"], (24, 5, 4)),
    (Settings["whole_limit_later"], (24, 5, 5)),
    (Settings["plans_after_others"], (24, 5, 5)),
    (Settings["priority_anew"], (24, 5, 5)),
    (Settings["ends_rounded_up"], (24, 11, 0)),
    (Settings["looks_past"], (24, 11, 0)),
    (Settings["lengthened"], (25, 5, 3)),
)
"""Rules that hold whichever way nodes are chosen."""

OF_SELECTION: tuple[tuple[int, Version], ...] = (
    (Settings["weighs_anew"], (23, 11, 0)),
    (Settings["by_window"], (24, 11, 0)),
    (Settings["tested_once"], (24, 11, 0)),
    (Settings["drops_in_turn"], (24, 11, 4)),
    (Settings["over_at_begin"], (25, 5, 0)),
    (Settings["last_needed"], (25, 5, 1)),
    (Settings["first_node"], (26, 5, 0)),
)
"""Rules of the choice of nodes; select/linear has kept its own."""

SHARED_BY_REQUEST: Version = (23, 11, 10)
"""Since when jobs that might share their CPUs (OverSubscribe=YES) and do not ask for it keep nobody off."""


def version_remark(site: Site) -> str:
    """What is said where nothing tells the site's version."""
    return "" if site.config.version else f"Slurm's version is not known: {TAKEN}"


def lay_rules(site: Site, row: Settings) -> None:
    """Switch on the rules that are in force in the site's version."""
    for setting, since in RULES if site.is_linear else (*RULES, *OF_SELECTION):
        row[setting] = site.version >= since
