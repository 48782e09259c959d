"""Batch scheduling for HPC: read a job log, simulate a policy exactly, judge the schedule.

Public names load on first use, so that ``import headway`` costs milliseconds.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> the module that defines it, and its name there where that is another.
_HOMES = {
    "Audit": "headway.audit",
    "Campaign": "headway.campaign",
    "Decision": "headway.policies.own.view",
    "HeadwayError": "headway.errors",
    "InputError": "headway.errors",
    "Outage": "headway.platform",
    "Outages": "headway.platform",
    "Platform": "headway.platform",
    "PolicyError": "headway.errors",
    "SECOND": "headway.units",
    "Schedule": "headway.result:Result",
    "Site": "headway.site",
    "UsageError": "headway.errors",
    "Workload": "headway.workload",
    "audit": "headway.audit",
    "check_policy": "headway.check",
    "compare": "headway.metrics",
    "explain": "headway.explain",
    "policy": "headway.policies.spec",
    "read": "headway.workload",
    "simulate": "headway.simulate",
    "simulate_stream": "headway.streams",
}

__all__ = ["__version__", *sorted(_HOMES)]

if TYPE_CHECKING:
    from headway.audit import Audit as Audit
    from headway.audit import audit as audit
    from headway.campaign import Campaign as Campaign
    from headway.check import check_policy as check_policy
    from headway.errors import HeadwayError as HeadwayError
    from headway.errors import InputError as InputError
    from headway.errors import PolicyError as PolicyError
    from headway.errors import UsageError as UsageError
    from headway.explain import explain as explain
    from headway.metrics import compare as compare
    from headway.platform import Outage as Outage
    from headway.platform import Outages as Outages
    from headway.platform import Platform as Platform
    from headway.policies.own.view import Decision as Decision
    from headway.policies.spec import policy as policy
    from headway.result import Result
    from headway.simulate import simulate as simulate
    from headway.site import Site as Site
    from headway.streams import simulate_stream as simulate_stream
    from headway.units import SECOND as SECOND
    from headway.workload import Workload as Workload
    from headway.workload.read import read as read

    Schedule = Result


class _Package(ModuleType):
    """The package itself: a public function is never shadowed by the module of the same name.

    Importing ``headway.simulate`` would otherwise put that module where the function belongs.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'headway' has no attribute {name!r}")
    module, _, other = home.partition(":")
    value = getattr(import_module(module), other or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


sys.modules[__name__].__class__ = _Package
