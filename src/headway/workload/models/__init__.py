"""Workload models: jobs made by published recipes, each under a seed."""

from __future__ import annotations

from collections.abc import Callable

from headway.binding import bind, describe, numbers_of
from headway.errors import UsageError
from headway.grammar import parse_call
from headway.plain import close
from headway.workload.models.lublin import lublin
from headway.workload.models.poisson import poisson
from headway.workload.table import Workload

MODELS: dict[str, Callable[..., Workload]] = {"lublin": lublin, "poisson": poisson}
"""Models by the name used in specs; signature and docstring say what they take."""

__all__ = ["MODELS", "generate", "lublin", "poisson"]


def generate(spec: str) -> Workload:
    """A workload from a model's spec, such as ``lublin(jobs=10000, procs=256, load=0.8, seed=1)``."""
    call = parse_call(spec)
    model = MODELS.get(call.name)
    if model is None:
        raise UsageError(f"no model {call.name}{close(call.name, MODELS)}; there are {', '.join(MODELS)}")
    arguments = bind(call, describe(model), where=call.name)
    with numbers_of(call.name):
        return model(**arguments)
