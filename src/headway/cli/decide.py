"""``headway decide``: one of our policies behind Batsim."""

from __future__ import annotations

from typing import Annotated

from headway.cli import options
from headway.cli.display import output
from headway.cli.frame import command
from headway.errors import UsageError
from headway.plain import counted
from headway.policies.spec import parse_spec


@command("decide", example="headway decide 'easy(backfill=sjf)' --socket tcp://127.0.0.1:28000")
def decide(
    policy: Annotated[str, options.argument("SPEC", "Policy; see headway policies.")],
    socket: Annotated[
        str,
        options.value(
            "--socket", "URL", "Where to listen for Batsim; 'tcp://*:28000' lets other machines in, too."
        ),
    ] = "tcp://127.0.0.1:28000",
    quiet: options.Quiet = False,
) -> None:
    """Let a policy decide for Batsim. It listens and answers Batsim's questions until the simulation ends."""
    from headway.batsim.decide import Decider
    from headway.batsim.exchange import LARGEST_MESSAGE, check_port, received, zmq
    from headway.batsim.messages import parse

    decider, library = Decider(parse_spec(policy)), zmq()
    with library.Context() as context, context.socket(library.REP) as listening:
        listening.setsockopt(library.LINGER, 1000)
        listening.setsockopt(library.MAXMSGSIZE, LARGEST_MESSAGE)
        check_port(socket)
        try:
            listening.bind(socket)
        except library.ZMQError as error:
            raise UsageError(f"--socket {socket}: {error}; write it as tcp://127.0.0.1:28000") from None
        while not decider.over:
            listening.send_string(decider.answer(parse(received(listening), "Batsim")).text())
    if not quiet:
        output().print(
            f"{counted(decider.finished, 'job')} ended, {counted(decider.messages, 'message')} answered"
        )
