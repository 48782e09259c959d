"""A worker process: reads chunks of cells, some at a time, answers with outcomes, ends when its input does.

The campaign starts it as ``python -c``, so that no script of the user's runs twice. The input ends too when
the campaign is killed, so no worker outlives it. Messages are pickles after their length in eight bytes.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
from typing import IO, Any

from headway.campaign.measure import run_chunk

LENGTH = struct.Struct("<Q")


def send(stream: IO[bytes], message: object) -> None:
    """Write one message."""
    data = pickle.dumps(message, protocol=5)
    stream.write(LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next message; EOFError where the other side is gone."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(head)
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)


def main() -> None:
    """Work until the input ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever a user's policy prints must not end up among the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        while True:
            chunks = receive(sys.stdin.buffer)
            try:
                answer: object = [outcome for chunk in chunks for outcome in run_chunk(chunk)]
            except Exception as error:
                answer = error
            send(answers, answer)
    except (EOFError, BrokenPipeError):
        pass
