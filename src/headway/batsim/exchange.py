"""How messages go: over a ZeroMQ socket, or from a recorded exchange; and how they are recorded.

A record has one message a line, in turn what was asked and what was answered.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

from headway.batsim.messages import Message, parse
from headway.documents import read_bytes
from headway.errors import InputError, UsageError

Say = Callable[[str], str]
"""Sends a text, gives the answer's text."""

LONGEST_RECORD = 4 << 30
"""Bytes of a recorded exchange at most."""
LARGEST_MESSAGE = 256 << 20
"""Bytes of a message at most."""
PATIENCE = 3_600_000
"""How long a scheduler may think, in milliseconds."""


def zmq() -> Any:
    """The library of sockets, or the way to get it."""
    try:
        import zmq as library
    except ImportError:
        raise UsageError(
            "Batsim's protocol goes over ZeroMQ, which is not installed: pip install '.[batsim]'"
        ) from None
    return library


def check_port(endpoint: str) -> None:
    """Refuse a port that there is not; ZeroMQ would take another one, or wait for ever."""
    kind, _, port = endpoint.rpartition(":")
    if kind.startswith("tcp:") and port.isdigit() and not (len(port) < 6 and 1 <= int(port) <= 65535):
        raise UsageError(f"--socket {endpoint}: a port is from 1 to 65535; write it as tcp://localhost:28000")


def received(socket: Any) -> bytes:
    """A message that came, whole, in however many parts it was sent."""
    return b"".join(socket.recv_multipart())


@contextlib.contextmanager
def connected(endpoint: str, patience: int = PATIENCE) -> Iterator[Say]:
    """A scheduler that listens at an endpoint such as ``tcp://localhost:28000``."""
    library = zmq()
    with library.Context() as context, context.socket(library.REQ) as socket:
        socket.setsockopt(library.LINGER, 0)
        socket.setsockopt(library.RCVTIMEO, patience)
        socket.setsockopt(library.MAXMSGSIZE, LARGEST_MESSAGE)
        check_port(endpoint)
        try:
            socket.connect(endpoint)
        except library.ZMQError as error:
            raise UsageError(f"--socket {endpoint}: {error}; write it as tcp://localhost:28000") from None

        def say(text: str) -> str:
            socket.send_string(text)
            try:
                return received(socket).decode("utf-8", "replace")
            except library.Again:
                raise UsageError(
                    f"no scheduler answered at {endpoint} within {patience / 1000:g} s; is it running, and "
                    "does it listen there?"
                ) from None

        yield say


def replayed(path: Path) -> Say:
    """A recorded exchange: what is asked must be what was asked then; the answer of then."""
    try:
        lines = iter(read_bytes(path, LONGEST_RECORD).decode().splitlines())
    except UnicodeDecodeError:
        raise InputError("is not text in UTF-8; give the record of an exchange", file=str(path)) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}; check the path", file=str(path)) from None
    asked = 0

    def say(text: str) -> str:
        nonlocal asked
        asked += 1
        before, answer = next(lines, None), next(lines, None)
        if before is None or answer is None:
            raise InputError(f"the record ends before message {asked}", file=str(path))
        try:
            was = json.loads(before)
        except (ValueError, RecursionError):
            raise InputError(f"message {asked} of the record is not JSON", file=str(path)) from None
        if was != json.loads(text):
            raise InputError(
                f"message {asked} is {text[:200]}, but was {before[:200]} when it was recorded",
                file=str(path),
            )
        return answer

    return say


def recorded(say: Say, file: TextIO) -> Say:
    """The same exchange, with every message written down."""

    def said(text: str) -> str:
        answer = say(text)
        file.write(text + "\n" + answer.replace("\n", " ") + "\n")
        return answer

    return said


def asking(say: Say) -> Callable[[Message], Message]:
    """Messages for texts."""
    return lambda message: parse(say(message.text()), "the scheduler")
