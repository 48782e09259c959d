"""The command line: one module per command, each importing what it needs when it runs.

Exit status: 0 done, 1 the audit found a fault, 2 bad input or usage, 130 interrupted.
"""

from __future__ import annotations

from headway.cli.entry import main

__all__ = ["main"]
