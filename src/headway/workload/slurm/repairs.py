"""Records whose lines are broken by what people may write: separators and line ends inside a text.

sacct escapes nothing. But most columns hold a time, a count or a word of Slurm's own, so that there is
mostly one way to share out the pieces of a line among the columns.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from headway.workload.slurm.export import FREE_TEXT

STAND_IN = b"\x1f"
"""Stands for a separator inside a text until the columns are apart."""

LONGEST = 50
"""Lines that one record may be broken into."""

MOST_WAYS = 100
"""Ways to put a record together that are looked at."""

MOST_TRIED = 1 << 24
"""Bytes of cells that are tried for one record; a line of separators has ways without end."""

MOST_COLUMNS = 300
"""Columns of an export whose lines can be mended; sacct has about 120."""

_NUMBER = re.compile(rb"\d*|Unknown|None|UNLIMITED|Partition_Limit|INVALID")
_TIME = re.compile(rb"\d{1,11}|[\d-]{10}T[\d:]{8}\S*|Unknown|None|None assigned|N/A|INVALID|")
_SPAN = re.compile(rb"[\d:.-]*|Unknown|UNLIMITED|Partition_Limit|INVALID")
_TRES = re.compile(rb"(?:[^,=|]+=[^,=|]*(?:,[^,=|]+=[^,=|]*)*)?")
_COMMAND = re.compile(rb"(?:\S*/)?(?:sbatch|srun|salloc)\b")
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
        self._last = max((place for place, breaks in enumerate(self._breaks) if breaks), default=-1)
        self.can = self._last >= 0 and width <= MOST_COLUMNS
        self._left = MOST_TRIED

    def fitted(self, pieces: list[bytes]) -> bytes | None:
        """A line with as many fields as columns, separators inside a text as STAND_IN; None if none fits.

        Of several ways the first is taken in which the cells agree with each other, else the first.
        """
        ways = itertools.islice(self._ways(pieces), MOST_WAYS)
        first = taken = next(ways, None)
        while taken is not None and not self._agrees(taken):
            taken = next(ways, None)
        found = taken or first
        return None if found is None else b"|".join(cell.replace(b"|", STAND_IN) for cell in found)

    def _ways(self, pieces: list[bytes]) -> Iterator[list[bytes]]:
        """Every way to share out the pieces among the columns, short texts first."""
        width = len(self.names)
        dead: set[tuple[int, int]] = set()
        taken: list[bytes] = []

        def put(column: int, piece: int) -> Iterator[list[bytes]]:
            if column == width:
                if piece == len(pieces):
                    yield taken.copy()
                return
            spare, found = len(pieces) - piece - (width - column), False
            if spare < 0 or (column, piece) in dead:
                return
            looks = self._looks[column]
            least = spare if column >= self._last else 0  # no other column can take what is over
            for more in range(least, spare + 1 if self._breaks[column] else 1):
                cell = b"|".join(pieces[piece : piece + more + 1])
                self._left -= len(cell) + 1
                if self._left < 0:
                    return
                if looks is None or looks.fullmatch(cell):
                    taken.append(cell)
                    for way in put(column + 1, piece + more + 1):
                        found = True
                        yield way
                    taken.pop()
            if not found:
                dead.add((column, piece))

        return put(0, 0)

    def _agrees(self, cells: list[bytes]) -> bool:
        """Whether job numbers, times and the submit line are such as one record has."""
        of = dict(zip(self.names, cells, strict=True))
        number, shown, line = of.get("JobIDRaw", b""), of.get("JobID", b""), of.get("SubmitLine", b"")
        if number.isdigit() and shown.isdigit() and number != shown:
            return False
        if line and not _COMMAND.match(line):
            return False
        start, end = _instant(of.get("Start", b"")), _instant(of.get("End", b""))
        run = _seconds(of.get("ElapsedRaw", b"")) or _seconds(of.get("Elapsed", b""))
        if start is None or end is None or run is None:
            return True
        paused = _seconds(of.get("Suspended", b"")) or 0
        return (end - start - paused - run) % 3600 == 0  # the clock may have been put forward or back

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
        self._left = MOST_TRIED
        for count, line in enumerate(lines[:LONGEST], 1):
            if self._left < 0:
                break
            more = line.split(b"|")
            pieces = [*pieces[:-1], pieces[-1] + b" " + more[0], *more[1:]] if pieces else more
            if len(pieces) >= len(self.names) and (whole := self.fitted(pieces)) is not None:
                return whole, count
        return None


def _instant(text: bytes) -> int | None:
    """Seconds of a time as sacct writes it, on its own clock; None where it is none."""
    if text.isdigit():
        return int(text)
    try:
        moment = datetime.fromisoformat(text.decode("ascii"))
    except ValueError:
        return None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def _seconds(text: bytes) -> int | None:
    """Seconds of 90, 10:00 or 1-02:00:00; None where it is none."""
    days, _, rest = text.rpartition(b"-")
    parts = rest.split(b":")
    if not all(part.isdigit() for part in (*parts, days or b"0")):
        return None
    total = 0
    for part in parts:
        total = total * 60 + int(part)
    return total + 86_400 * int(days or 0)
