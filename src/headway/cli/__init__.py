"""The command line: commands by subject, each importing what it needs when it runs.

Exit status: 0 done, 1 the audit found a fault, 2 bad input or usage, 130 interrupted.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Entry point of the ``headway`` command, which can be interrupted while its parts are still loaded."""
    try:
        from headway.cli.entry import main as run

        run()
    except KeyboardInterrupt:
        print("headway: interrupted", file=sys.stderr)  # noqa: T201
        sys.exit(130)
    finally:
        # Python notes that an interrupt left the text of an exec, as a dataclass is made of, also where it is
        # caught further out, and would then end by the signal instead of with our status; the next exec
        # forgets it.
        exec("")
