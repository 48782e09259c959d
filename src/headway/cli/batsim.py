"""``headway batsim``: schedulers that speak Batsim's protocol on our engine, and our policies for Batsim."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

from headway.cli import options
from headway.cli.application import FAULT, command, group, this_command
from headway.cli.display import output, print_json
from headway.cli.options import Inputs, check_choices, parse_rules
from headway.errors import HeadwayError, UsageError
from headway.plain import counted
from headway.policies.spec import parse_spec
from headway.writing import check_replaceable

batsim = group("batsim", "Run Batsim's schedulers here, or our policies in Batsim.")

Socket = Annotated[
    str | None, options.value("--socket", "URL", "Where the scheduler listens, as tcp://localhost:28000.")
]


@command("run", "headway batsim run log.swf --socket tcp://localhost:28000 --out result", of=batsim)
def run(
    trace: options.Trace,
    socket: Socket = None,
    procs: options.Procs = None,
    rule: options.Rules = None,
    dynamic: Annotated[
        bool, options.flag("--enable-dynamic-jobs", "The scheduler may register jobs.")
    ] = False,
    acknowledge: Annotated[
        bool,
        options.flag(
            "--acknowledge-dynamic-jobs/--no-acknowledge", "Tell the scheduler when such a job is submitted."
        ),
    ] = True,
    forward_profiles: Annotated[
        bool, options.flag("--forward-profiles-on-submission", "Send each job's profile with it.")
    ] = False,
    record: Annotated[
        Path | None, options.value("--record", "FILE", "Write every message into this file.")
    ] = None,
    replay: Annotated[
        Path | None, options.value("--replay", "FILE", "Take the answers of a recorded exchange; no socket.")
    ] = None,
    patience: Annotated[
        float, options.value("--timeout", "SECONDS", "How long the scheduler may take to answer.")
    ] = 3600,
    out: options.Out = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int | None:
    """Run a scheduler that speaks Batsim's protocol on a log.

    Jobs are delays. With --out the folder has Batsim's files (out_jobs.csv, out_schedule.csv,
    out_machine_states.csv) next to ours. The schedule is audited.
    """
    from headway.schedule.files import refuse_occupied

    check_choices(procs, None, json, quiet)
    if (socket is None) == (replay is None):
        raise UsageError("give either --socket URL, where the scheduler listens, or --replay FILE")
    if out is not None:
        refuse_occupied(out, force)

    import headway
    from headway.batsim import exchange
    from headway.batsim.outcome import schedule_of, write_files
    from headway.batsim.simulation import Settings, Simulation
    from headway.schedule.files import save

    refuse_profiles(trace)
    inputs = Inputs.read(trace, procs, None, None, parse_rules(rule), quiet=quiet, sizes="--procs N")
    settings = Settings(dynamic, acknowledge, forward_profiles)
    with ExitStack() as stack:
        if replay is not None:
            say = exchange.replayed(replay)
        else:
            say = stack.enter_context(exchange.connected(str(socket), round(patience * 1000)))
        if record is not None:
            check_replaceable(record)
            say = exchange.recorded(say, stack.enter_context(record.open("w", encoding="utf-8")))
        simulation = Simulation(inputs.workload, inputs.platform.total_procs, exchange.asking(say), settings)
        with inputs.display.working("the scheduler decides") as progress:
            simulation.run(progress)
    schedule = schedule_of(simulation, "batsim")
    schedule.provenance["command"] = this_command()
    verdict = headway.audit(schedule)
    if out is not None:
        save(schedule, out, schedule.summary(), force=force)
        write_files(simulation, out / "out")
    if json:
        print_json(schedule.summary() | {"audit": str(verdict), "ledger": schedule.workload.ledger.rows()})
    elif not quiet:
        from headway.cli.tables import ledger_table, summary_table

        console = output()
        ledger_table(console, schedule.workload.ledger)
        summary_table(console, schedule, schedule.summary())
        wall, theirs = simulation.wall_seconds, simulation.scheduler_seconds
        console.print(
            f"\n{counted(simulation.messages, 'message')} in {wall:.2f} s, "
            f"of which {100 * theirs / wall:.0f} % were "
            f"spent in the scheduler and on the way to it\naudit: {verdict}"
        )
        if out is not None:
            console.print(f"written to {out}")
    return None if verdict.ok else FAULT


def refuse_profiles(trace: str) -> None:
    """Refuse a workload of Batsim's with profiles that need what is not modelled, before anything runs."""
    import gzip
    import json
    import zlib

    from headway.batsim.profiles import refuse_others
    from headway.documents import up_to

    path = Path(trace)
    if not path.is_file() or not path.name.removesuffix(".gz").endswith(".json"):
        return
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            document = json.loads(up_to(file, path))
    except (OSError, EOFError, zlib.error, HeadwayError, ValueError, RecursionError):
        return  # the reader says what is wrong with it
    if isinstance(document, dict) and isinstance(document.get("profiles"), dict):
        refuse_others(document["profiles"], trace)


@command("decide", "headway batsim decide 'easy(backfill=sjf)' --socket tcp://127.0.0.1:28000", of=batsim)
def decide(
    policy: Annotated[str, options.argument("SPEC", f"Policy: {options.SPEC}")],
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
