"""Text of `sacct --parsable2` as tables of strings, some megabytes at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from headway.arrays import Ints, Mask
from headway.errors import InputError
from headway.workload.slurm.export import ALSO_READ, COLUMNS, EXPORT, FREE_TEXT, missing, spelled
from headway.workload.slurm.repairs import LONGEST, MAY_BREAK, STAND_IN, Repairs
from headway.workload.stream import LogStream

if TYPE_CHECKING:
    import polars as pl

BLOCK = 1 << 23
"""Bytes of text made into one table: large enough for columns to pay, small beside the result."""

READ = frozenset((*COLUMNS, *ALSO_READ))
_PIPE, _NEWLINE = 124, 10


class Table(NamedTuple):
    """Records of a block: one string column for each that is read, and the line each stands on."""

    frame: pl.DataFrame
    line: Ints
    repaired: Mask
    """Records with a separator or a line end inside a text."""


class SacctText:
    """The records of an export; iterate to get them as tables, or ask for `rows` of every column.

    An export that is not read for a simulation may lack columns: `partial`.
    """

    def __init__(self, stream: LogStream, *, partial: bool = False) -> None:
        self._stream = stream
        self._partial = partial
        self.name = stream.name
        self.names: list[str] = []
        self.unended = False
        """Whether the last line had no line end, as after a copy that was cut short."""
        self._header = b""

    def __iter__(self) -> Iterator[Table]:
        for text, line in self._texts():
            yield self._table(text, line)

    def rows(self) -> Iterator[list[str]]:
        """The cells of every record, in the order of `names`."""
        width = 0
        for text, line in self._texts():
            width = width or self._header.count(b"|") + 1
            sound, *_ = self._records(text, line, width)
            for record in sound.decode("utf-8", "replace").split("\n"):
                if record:
                    cells = record.split("|")[: len(self.names)]
                    yield [cell.replace(STAND_IN.decode(), "|") for cell in cells]

    def _texts(self) -> Iterator[tuple[bytes, int]]:
        """Blocks of text behind the header, and the number of their first line."""
        line = 1
        for text in self._blocks():
            count = text.count(b"\n") + (not text.endswith(b"\n"))
            if not self._header:
                skipped, text = self._read_header(text)
                line += skipped
                count -= skipped
            if text:
                yield text, line
                line += count
            self.unended = bool(text) and not text.endswith(b"\n")

    def _blocks(self) -> Iterator[bytes]:
        """Text of several chunks; a block begins with a whole record, whatever lines it is broken into."""
        held: list[bytes] = []
        size = 0
        for chunk in self._stream:
            held.append(chunk)
            size += len(chunk)
            if size >= BLOCK:
                text = b"".join(held)
                cut = self._last_record(text)
                if cut:
                    yield text[:cut]
                held, size = [text[cut:]], len(text) - cut
        if any(held):
            yield b"".join(held)

    def _last_record(self, text: bytes) -> int:
        """Where the last line begins that has as many fields as the first line of the file; 0 for none."""
        separators = (self._header or text.partition(b"\n")[0]).count(b"|")
        end = len(text) - 1
        for _ in range(LONGEST):
            begin = text.rfind(b"\n", 0, end) + 1
            if not begin:
                break
            if text.count(b"|", begin, end) == separators:
                return begin
            end = begin - 1
        return 0

    def _read_header(self, text: bytes) -> tuple[int, bytes]:
        """Lines up to and with the one that names the columns, and the text after it."""
        blank = len(text) - len(text.lstrip(b"\n \t"))
        begin = text.rfind(b"\n", 0, blank) + 1
        header, _, rest = text[begin:].partition(b"\n")
        lines = text.count(b"\n", 0, begin) + 1
        self._header = header
        self.names = [spelled(name) for name in header.decode("utf-8", "replace").split("|")]
        if self.names and not self.names[-1]:
            self.names.pop()  # --parsable ends each line with a separator
        self._check_header(lines)
        return lines, rest

    def _check_header(self, line: int) -> None:
        if len(self.names) < 2:
            message = "is not output of sacct --parsable2: its first line does not name columns between |"
            raise InputError(f"{message}; export with: {EXPORT}", file=self.name, line=line)
        if not {"JobID", "JobIDRaw"} & set(self.names) and any(name.isdigit() for name in self.names):
            message = "begins with a record, not with the names of the columns; export without --noheader"
            raise InputError(message, file=self.name, line=line)
        repeated = sorted({name for name in self.names if self.names.count(name) > 1})
        if repeated:
            message = f"has the column {repeated[0]} twice; export it once"
            raise InputError(message, file=self.name, line=line)
        if self._partial and {"JobID", "JobIDRaw"} & set(self.names):
            return
        if sentence := missing(self.names):
            raise InputError(sentence, file=self.name, line=line)

    def _table(self, text: bytes, first: int) -> Table:
        width = self._header.count(b"|") + 1
        text, line, repaired = self._records(text, first, width)
        return Table(self._frame(text), line, repaired)

    def _records(self, text: bytes, first: int, width: int) -> tuple[bytes, Ints, Mask]:
        """The text with one record to a line, the number of each line, and which were put together."""
        codes = np.frombuffer(text, np.uint8)
        ends = np.flatnonzero(codes == _NEWLINE)
        if not text.endswith(b"\n"):
            ends = np.append(ends, len(text))
        fields = np.diff(np.searchsorted(np.flatnonzero(codes == _PIPE), ends), prepend=0) + 1
        line = first + np.arange(len(ends), dtype=np.int64)
        repaired = np.zeros(len(ends), np.bool_)
        if text.startswith(self._header) or b"\n" + self._header in text or not (fields == width).all():
            text, kept, repaired = self._sound(text, ends, fields, width, line)
            line, repaired = line[kept], repaired[kept]
        return text, line, repaired

    def _sound(
        self,
        text: bytes,
        ends: Ints,
        fields: Ints,
        width: int,
        line: Ints,
    ) -> tuple[bytes, Mask, Mask]:
        """The text without blank lines and repeated headers, and with broken records put together."""
        kept, repaired = np.ones(len(ends), np.bool_), np.zeros(len(ends), np.bool_)
        starts = np.append(0, ends[:-1] + 1)
        pieces: list[bytes] = []
        done, after = 0, 0
        repairs = Repairs(self.names, width)
        for row in np.flatnonzero((fields != width) | (ends - starts == len(self._header))).tolist():
            if row < after:
                continue  # part of the record above
            start, end = int(starts[row]), int(ends[row])
            content = text[start:end]
            if content == self._header or not content.strip():
                kept[row] = False
                pieces.append(text[done:start])
            elif fields[row] == width:
                continue
            elif repairs.last_breaks and kept[:row].any() and not repairs.begins(content.split(b"|")):
                # The last column of the record above goes on here.
                above = int(np.flatnonzero(kept[:row])[-1])
                kept[row], repaired[above] = False, True
                if start > done:
                    pieces.append(text[done : start - 1])
                elif pieces:
                    pieces.pop()  # the line end of the record above
                pieces += [b" ", content.replace(b"|", STAND_IN), b"\n"]
            else:
                lines = text[start : int(ends[min(row + LONGEST, len(ends)) - 1])].split(b"\n")
                found = repairs.joined(lines) if repairs.can else None
                if found is None:
                    last = row == len(ends) - 1 and not text.endswith(b"\n")
                    raise self._broken(content, int(fields[row]), width, int(line[row]), last)
                whole, count = found
                repaired[row] = True
                kept[row + 1 : row + count] = False
                pieces += [text[done:start], whole, b"\n"]
                after = row + count
                end = int(ends[after - 1])
            done = end + 1
        return b"".join([*pieces, text[done:]]), kept, repaired

    def _broken(self, content: bytes, fields: int, width: int, line: int, last: bool) -> InputError:
        if last and fields < width:
            message = f"ends in the middle of a record, after {fields} of {width} fields; copy the file again"
        elif b"JobID" in content and b"|" in content:
            message = "names other columns than the first line; read exports of different columns one by one"
        else:
            known = ", ".join(name for name in self.names if name in FREE_TEXT)
            remedy = "correct the line or export again" + (f", without {known}" if known else "")
            message = f"has {fields} fields and the first line names {width}; {remedy}"
        return InputError(message, file=self.name, line=line)

    def _frame(self, text: bytes) -> pl.DataFrame:
        import polars as pl

        chosen = [place for place, name in enumerate(self.names) if name in READ]
        names = [self.names[place] for place in chosen]
        if not text.strip():
            return pl.DataFrame({name: [] for name in names}, schema=dict.fromkeys(names, pl.String))
        frame = pl.read_csv(
            text,
            has_header=False,
            separator="|",
            quote_char=None,
            infer_schema=False,
            columns=chosen,
            empty_string_is_null=False,
            encoding="utf8-lossy",
        )
        frame.columns = names
        if STAND_IN in text:
            inside = [name for name in names if name in MAY_BREAK]
            frame = frame.with_columns(pl.col(inside).str.replace_all(STAND_IN.decode(), "|", literal=True))
        return frame
