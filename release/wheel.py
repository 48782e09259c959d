"""Marks a wheel that holds compiled kernels as one for this system, architecture and Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelsHook(BuildHookInterface):  # type: ignore[type-arg]
    """hatchling's hook."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Without kernels, and in a checkout, the wheel stays one for all."""
        if version == "standard" and any(Path(self.root, "src/headway/built").glob("*.kernel")):
            build_data |= {"pure_python": False, "infer_tag": True}
