"""All commands by subject, as ``headway --help`` lists them, and the module of each."""

from __future__ import annotations

from importlib import import_module

PANELS = {
    "Understand a log": {
        "inspect": "inspect", "datasets": "datasets", "convert": "convert", "generate": "generate",
        "weeks": "weeks", "anonymise": "anonymise",
    },
    "Simulate and compare": {
        "demo": "demo", "simulate": "simulate", "compare": "compare", "sweep": "sweep",
        "explain": "explain", "plot": "plot", "report": "report", "audit": "audit", "policies": "policies",
        "reproduce": "reproduce",
    },
    "Your Slurm site": {
        "site": "site", "replay": "replay", "what-if": "what_if", "when": "when", "forecast": "forecast",
    },
    "Live": {"live": "live"},
    "Other tools": {"batsim": "batsim", "cache": "cache"},
}  # fmt: skip
"""Commands with their modules, under the headings of the help."""

MODULES = {name: module for commands in PANELS.values() for name, module in commands.items()}

MOVED = {
    **dict.fromkeys(("agent", "server", "submit", "queue", "status", "cancel", "shadow"), "live"),
    "decide": "batsim",
}
"""Commands that have moved into a group; the old names still work, with a note."""


def panel_of(name: str) -> str:
    """The heading under which the help lists a command."""
    return next(title for title, commands in PANELS.items() if name in commands)


def load(*names: str) -> None:
    """Register commands, all of them where none is named."""
    for name in names or MODULES:
        import_module(f"headway.cli.{MODULES[name]}")
