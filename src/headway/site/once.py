"""What follows from a site alone, made once for it: many simulations may begin on the same site."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from headway.site.site import Site

Made = TypeVar("Made")


def once(make: Callable[[Site], Made]) -> Callable[[Site], Made]:
    """Let a function be asked once for each site. Of a table everybody gets a copy, and may change it."""
    name = f"{make.__module__}.{make.__qualname__}"

    @wraps(make)
    def made(site: Site) -> Made:
        if name not in site.made_of_it:
            site.made_of_it[name] = make(site)
        found: Any = site.made_of_it[name]
        if isinstance(found, np.ndarray):
            return cast(Made, found.copy())
        named = isinstance(getattr(found, "table", None), np.ndarray)  # a table whose rows have names
        return cast(Made, type(found)(found.table.copy()) if named else found)

    return made
