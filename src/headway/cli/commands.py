"""All commands, in the order in which ``headway --help`` lists them."""

from __future__ import annotations

from importlib import import_module

MODULES = (
    "simulate", "compare", "sweep", "reproduce", "audit", "explain", "plot", "report", "inspect", "site",
    "convert", "generate", "weeks", "anonymise", "datasets", "what_if", "replay", "when", "forecast",
    "batsim", "decide", "policies", "cache", "demo", "live", "agent", "server", "submit", "tasks", "shadow",
)  # fmt: skip

for _name in MODULES:
    import_module(f"headway.cli.{_name}")
