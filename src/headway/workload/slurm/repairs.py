"""Records whose lines are broken by what people may write: separators and line ends inside a text.

sacct escapes nothing. But most columns hold a time, a count or a word of Slurm's own, so that there is
mostly one way to share out the pieces of a line among the columns.
"""

from __future__ import annotations

import re

from headway.workload.slurm.export import FREE_TEXT

STAND_IN = b"\x1f"
"""Stands for a separator inside a text until the columns are apart."""

LONGEST = 50
"""Lines that one record may be broken into."""

_NUMBER = re.compile(rb"\d*|Unknown|None|UNLIMITED|Partition_Limit|INVALID")
_TIME = re.compile(rb"\d{1,11}|[\d-]{10}T[\d:]{8}\S*|Unknown|None|None assigned|N/A|INVALID|")
_SPAN = re.compile(rb"[\d:.-]*|Unknown|UNLIMITED|Partition_Limit|INVALID")
_TRES = re.compile(rb"(?:[^,=|]+=[^,=|]*(?:,[^,=|]+=[^,=|]*)*)?")
LOOKS: dict[str, re.Pattern[bytes]] = {
    "JobID": re.compile(rb"\d+(?:[_+.]\S*)?"),
    "JobIDRaw": re.compile(rb"\d+(?:\.\S*)?"),
    "State": re.compile(rb"[A-Z_]*\+?(?: by \d+)?"),
    "ReqMem": re.compile(rb"(?:[\d.]+[KMGTP]?[nc]?)?"),
    "Flags": re.compile(rb"[\w,+ ]*"),
    "Constraints": re.compile(rb"[\w|&*,()\[\]:.+!-]*"),
    "ReqTRES": _TRES, "AllocTRES": _TRES,
    "Suspended": _SPAN, "TotalCPU": _SPAN, "Elapsed": _SPAN, "Timelimit": _SPAN,
    **dict.fromkeys(("Submit", "Eligible", "Start", "End"), _TIME),
    **dict.fromkeys(
        ("ElapsedRaw", "TimelimitRaw", "ReqCPUS", "AllocCPUS", "NCPUS", "NNodes", "ReqNodes", "AllocNodes",
         "NTasks", "UID", "Restarts", "ReservationId", "Priority"), _NUMBER,
    ),
    "ExitCode": re.compile(rb"(?:\d+:\d+)?"),
}  # fmt: skip
"""What a cell of a column looks like, where only some texts can stand in it."""

MAY_BREAK = frozenset((*FREE_TEXT, "Constraints"))
"""Columns in which a separator may stand: free text, and | between features."""


class Repairs:
    """Puts the pieces of broken lines into the columns of an export."""

    def __init__(self, names: list[str], width: int) -> None:
        self.names = [*names, *[""] * (width - len(names))]
        self.last_breaks = bool(names) and names[-1] in MAY_BREAK and len(names) == width
        self._looks = [LOOKS.get(name) for name in self.names]
        self._breaks = [name in MAY_BREAK for name in self.names]
        self.can = any(self._breaks)

    def fitted(self, pieces: list[bytes]) -> bytes | None:
        """A line with as many fields as columns, separators inside a text as STAND_IN; None if none fits."""
        width = len(self.names)
        dead: set[tuple[int, int]] = set()
        taken: list[bytes] = []

        def put(column: int, piece: int) -> bool:
            if column == width:
                return piece == len(pieces)
            spare = len(pieces) - piece - (width - column)
            if spare < 0 or (column, piece) in dead:
                return False
            for more in range(spare + 1 if self._breaks[column] else 1):
                cell = b"|".join(pieces[piece : piece + more + 1])
                looks = self._looks[column]
                if looks is None or looks.fullmatch(cell):
                    taken.append(cell.replace(b"|", STAND_IN))
                    if put(column + 1, piece + more + 1):
                        return True
                    taken.pop()
            dead.add((column, piece))
            return False

        return b"|".join(taken) if put(0, 0) else None

    def begins(self, pieces: list[bytes]) -> bool:
        """Whether a line may be the beginning of a record: its job number stands where it should."""
        for place, name in enumerate(self.names):
            if name in ("JobID", "JobIDRaw"):
                return place < len(pieces) and bool(LOOKS[name].fullmatch(pieces[place]))
            if self._breaks[place]:
                return True
        return True

    def joined(self, lines: list[bytes]) -> tuple[bytes, int] | None:
        """The record that the first lines make up, and how many they are; None where they make up none."""
        pieces: list[bytes] = []
        for count, line in enumerate(lines[:LONGEST], 1):
            more = line.split(b"|")
            pieces = [*pieces[:-1], pieces[-1] + b" " + more[0], *more[1:]] if pieces else more
            if len(pieces) >= len(self.names) and (whole := self.fitted(pieces)) is not None:
                return whole, count
        return None
