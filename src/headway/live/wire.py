"""Requests between clients, agent and servers: JSON over HTTP, on a Unix socket or on TCP.

    unix:/path/to/socket         the default: only the owner can open it
    http://127.0.0.1:8901        this machine alone; requests need the token
    https://host:8901            other machines; requests need the token, the connection is TLS

A request is ``POST /name`` with a JSON object, the answer a JSON object; ``{"error": sentence}`` says what is
wrong with it. No answer is never an answer: it raises :class:`NoAnswer`.
"""

from __future__ import annotations

import errno
import hmac
import http.client
import ipaddress
import json
import os
import re
import select
import socket
import socketserver
import ssl
import stat
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from headway.errors import HeadwayError, UsageError
from headway.ownership import OTHERS, open_to_others

Handler = Callable[[str, dict[str, Any]], Any]
Pages = Callable[[str], tuple[str, bytes] | None]

LARGEST = 8 << 20
"""Bytes of a request at most."""
STRANGERS = 1 << 16
"""Bytes that are read of a request without the token, so that who sent a short one hears the answer."""
NUMBER = re.compile("[0-9]{1,18}")
STRANGE, KNOWN = 64, 256
"""Connections at once, of those that have not shown the token and of those that have. Where one more comes,
the client that has most of them loses one."""
SECONDS = 60
"""How long one that has shown the token may take for what follows."""
HUNG_UP = getattr(select, "POLLRDHUP", select.POLLHUP)
_REMEDIES = {
    **dict.fromkeys((9, 10), "make a new one for tls_cert there, or set the clocks"),
    **dict.fromkeys((62, 64), "one for tls_cert there must name the host of this address"),
}
"""What to do about a certificate, by the reason for which OpenSSL does not trust it: too young, too old, for
another name, for another address."""
SOCKET_PATH = 100
"""Characters of a socket's path at most: what every system allows."""


class NoAnswer(HeadwayError):
    """Nobody answered in time: what happened there is unknown."""


class TooSlow(NoAnswer):
    """It is there, but has not answered in time, or did not just before and is not asked again yet."""


class BrokenOff(NoAnswer):
    """It was there and went away, as one that is ended does, and may have done what it was asked for."""


class Untrusted(NoAnswer):
    """Nothing shows that who is there is the right one: certificate, or file of those to trust, fails."""


class Refused(HeadwayError):
    """The other side understood the request and will not do it."""


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def checked(address: str) -> str:
    """An address that can be listened on, or an error that says which are."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:  # such as a port of six digits
        raise _no_address(address) from None
    path = address.removeprefix("unix:")
    if parts.scheme == "unix" and path:
        if len(path.encode()) > SOCKET_PATH:
            raise UsageError(
                f"the path of the socket {path} has more than {SOCKET_PATH} characters, which systems do not "
                "allow; give a shorter folder"
            )
        return address
    if parts.scheme in ("http", "https") and parts.hostname and port:
        if parts.scheme == "http" and not is_loopback(parts.hostname):
            raise UsageError(
                f"{address} can be reached from other machines, so it must be https://: give tls_cert, "
                "tls_key and token in GRID.toml"
            )
        return address
    raise _no_address(address)


def _no_address(address: str) -> UsageError:
    return UsageError(
        f"{address!r} is not an address; give unix:PATH, http://127.0.0.1:PORT or https://HOST:PORT"
    )


def check_safe(folder: Path) -> None:
    """Refuse a folder where others than root can put something in the place of it, or of what it holds.

    The folders above it count as well, those of its name and those where it really is. A sticky one, such as
    /tmp, lets nobody rename what is another's; below one that is closed to all others nobody can do anything.
    """
    if os.name != "posix":
        return
    for path in dict.fromkeys((folder.absolute(), folder.resolve())):
        if (open_one := open_to_others(path)) is not None:
            part, theirs = open_one
            why = f"others can write to {part}; chmod {'700' if part == path else 'go-w'} {part}, or"
            if theirs:
                why = f"{part} belongs to somebody else, who can replace what is in it;"
            raise UsageError(f"{why} give the grid another folder")


def read_token(file: Path) -> str:
    """The secret of a file that nobody else may read."""
    try:
        token = file.read_text("utf-8").strip()
        shared = os.name == "posix" and file.stat().st_mode & OTHERS
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise UsageError(f"the token file {file} cannot be read ({reason})") from None
    if shared:
        raise UsageError(f"the token file {file} can be read by others; chmod 600 {file}")
    if len(token) < 16:
        raise UsageError(f"the token in {file} is shorter than 16 characters; write a longer one into it")
    if not (token.isascii() and token.isprintable()):
        raise UsageError(f"the token in {file} must be one line of ASCII characters; write another into it")
    return token


# ---- listening -------------------------------------------------------------------------------------------


class _CallerIsGone(Exception):
    """Nobody waits for the answer any more."""


IDLE, WAITING, WORKING = "idle", "waiting", "working"


class _Connection:
    """A connection, the client whose it is, and what it does."""

    def __init__(self, line: socket.socket, client: str, turn: threading.Lock) -> None:
        self.line, self.client, self.turn = line, client, turn
        self.known, self.state, self.since = False, IDLE, time.monotonic()

    def cut(self) -> None:
        """Hang up; whoever reads from it, or is in the middle of a handshake, finds its end."""
        with suppress(OSError):
            socket.socket.shutdown(self.line, socket.SHUT_RDWR)

    @property
    def is_gone(self) -> bool:
        poll = select.poll()
        poll.register(self.line, HUNG_UP)
        return bool(poll.poll(0))


class _Requests(BaseHTTPRequestHandler):
    """What comes over one connection; the listener gives its connection in the place of an address."""

    protocol_version = "HTTP/1.1"
    timeout = SECONDS
    server: Any
    client_address: Any

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait until no other request of the client is in work, then until none is; what somebody has asked
        for who has hung up by then is dropped."""
        mine: _Connection = self.client_address
        mine.state = WAITING
        try:
            with mine.turn, self.server.turn:
                if mine.is_gone:
                    raise _CallerIsGone
                mine.state = WORKING
                yield
        finally:
            mine.state, mine.since = IDLE, time.monotonic()

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not NUMBER.fullmatch(length) or int(length) > LARGEST:
            self.close_connection = True
            return self._reply(413, {"error": "the request is too large, or does not say its length"})
        if not self._is_trusted():
            self.close_connection = True
            self.rfile.read(min(int(length), STRANGERS))
            return self._reply(403, {"error": "the token is wrong; both sides must read the same token file"})
        if not self.client_address.known:
            self.server.admit(self.client_address, known=True)
        body = self.rfile.read(int(length))
        try:
            try:
                data = json.loads(body or b"{}")
            except RecursionError:
                raise UsageError("a request is not nested so deeply") from None
            if not isinstance(data, dict):
                raise UsageError("a request is a JSON object")
            with self._turn():
                answer = self.server.handler(self.path.strip("/"), data)
        except _CallerIsGone:
            self.close_connection = True
            return None
        except NoAnswer as error:  # somebody behind us did not answer: that is unknown there, too
            return self._reply(503, {"error": str(error)})
        except (HeadwayError, ValueError) as error:
            return self._reply(400, {"error": str(error)})
        except Exception as error:  # a fault of ours must not leave the other side without an answer
            self.server.failed(error)
            return self._reply(500, {"error": f"{type(error).__name__}: {error}"})
        return self._reply(200, answer if answer is not None else {})

    def do_GET(self) -> None:
        found = None
        if self._is_local():
            try:
                with self._turn():
                    found = self.server.pages(self.path.partition("?")[0])
            except _CallerIsGone:
                self.close_connection = True
                return None
        if found is None:
            return self._send(404, "text/plain", b"not here\n")
        return self._send(200, *found)

    def _is_local(self) -> bool:
        """A page is for this machine: by its own name, so that no other site's name can stand for it."""
        host = self.headers.get("Host", "").rpartition(":")[0].strip("[]")
        near = is_loopback(self.client_address.client) and is_loopback(host)
        return self.server.pages is not None and (self.server.unix or near)

    def _is_trusted(self) -> bool:
        if self.server.token is None:
            return bool(self.server.unix)
        given = self.headers.get("Authorization", "").removeprefix("Bearer ")
        return hmac.compare_digest(given.encode(), self.server.token.encode())

    def _reply(self, status: int, answer: object) -> None:
        self._send(status, "application/json", json.dumps(answer).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Requests are not logged; what they do is journalled."""


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    patience = 5.0
    """Seconds for a stranger's handshake and its request, which shows the token."""
    unix = False
    handler: Handler
    pages: Pages | None = None
    token: str | None = None
    turn: AbstractContextManager[Any] = nullcontext()
    failed: Callable[[Exception], None] = staticmethod(lambda error: None)

    def __init__(self, address: Any, requests: type[BaseHTTPRequestHandler]) -> None:
        self.connections: set[_Connection] = set()
        self.turns: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
        self.door = threading.Lock()
        if not self.unix and ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, requests)

    def get_request(self) -> tuple[Any, Any]:
        line, address = super().get_request()
        client = self.client_of(line, address)
        return line, _Connection(line, client, self.turns.setdefault(client, threading.Lock()))

    def client_of(self, line: socket.socket, address: Any) -> str:
        """Whose a connection is."""
        return str(address[0])

    def admit(self, connection: _Connection, known: bool) -> None:
        """Let a connection in among the strangers, or among those that have shown the token.

        Where too many are there, the client that has most loses one: rather one on which nothing is asked
        than one that waits for its turn, the oldest first, and none for which work has begun.
        """
        with self.door:
            self.connections.add(connection)
            connection.known, connection.since = known, time.monotonic()
            alike = [each for each in self.connections if each.known == known]
            if len(alike) > (KNOWN if known else STRANGE):
                have = Counter(each.client for each in alike)
                ranks = {
                    each: (have[each.client], each.state == IDLE, -each.since)
                    for each in alike
                    if each is not connection and each.state != WORKING
                }
                loser = max(ranks, key=ranks.__getitem__, default=connection)
                self.connections.discard(loser)
                loser.cut()

    def service_actions(self) -> None:
        """Strangers that take long are cut off; connections are few, and a client that sends byte by byte has
        no longer than one that is silent."""
        with self.door:
            for each in self.connections:
                if not each.known and each.state == IDLE and time.monotonic() - each.since > self.patience:
                    each.cut()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.admit(client_address, known=False)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self.door:
                self.connections.discard(client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is the other side's affair."""


def _make_way(path: Path) -> None:
    """Remove the socket of a process that has ended, and nothing else."""
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise UsageError(f"cannot listen on {path}: it is a file and not a socket; give another path")
        with socket.socket(socket.AF_UNIX) as other:
            other.settimeout(1)
            other.connect(str(path))
    except FileNotFoundError:
        return
    except ConnectionRefusedError:
        path.unlink()
    except TimeoutError:
        raise UsageError(f"cannot listen on {path}: another process has it, and hangs") from None
    else:
        raise UsageError(f"cannot listen on {path}: another process does; end it first")


class _UnixListener(_Listener):
    unix = True
    address_family = getattr(socket, "AF_UNIX", socket.AF_INET)

    def server_bind(self) -> None:
        path = Path(str(self.server_address))
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            check_safe(path.parent)
        except UsageError as error:
            raise UsageError(f"cannot listen on {path}: {error}") from None
        _make_way(path)
        before = os.umask(0o177)
        try:
            socketserver.TCPServer.server_bind(self)
        finally:
            os.umask(before)
        self.server_name, self.server_port = "unix", 0

    def client_of(self, line: socket.socket, address: Any) -> str:
        """The process, where the system tells it."""
        if not hasattr(socket, "SO_PEERCRED"):
            return "unix"
        process, _, _ = struct.unpack("3i", line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        return str(process)


class _TlsListener(_Listener):
    context: ssl.SSLContext

    def finish_request(self, request: Any, client_address: Any) -> None:
        # The handshake is made in the connection's own thread, so that a silent client stops nobody.
        request.settimeout(SECONDS)
        whole = self.context.wrap_socket(request, server_side=True, do_handshake_on_connect=False)
        with whole as client_address.line:
            if client_address in self.connections:  # it may have been cut before this was its line
                whole.do_handshake()
                super().finish_request(whole, client_address)


def _own_certificate(cert: str, key: str) -> ssl.SSLContext:
    """What a listener shows; nobody is asked for a pass phrase, because nobody sits there."""

    def locked() -> str:
        raise UsageError(f"tls_key: {key} is locked with a pass phrase; name a key without, chmod 600")

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    for entry, file in (("tls_cert", cert), ("tls_key", key)):
        _check_readable(entry, file)
    try:
        context.load_cert_chain(cert, key, password=locked)
    except ssl.SSLError as error:
        why = (error.reason or "one of them is neither").lower().replace("_", " ")
        raise UsageError(
            f"tls_cert {cert} and tls_key {key} do not belong together ({why}); name a pair"
        ) from None
    return context


def _trusting(ca: str | None) -> ssl.SSLContext:
    """Whom a client trusts: those that ``tls_ca`` names, or whom the system does."""
    try:
        if ca is not None:
            _check_readable("tls_ca", ca)
        return ssl.create_default_context(cafile=ca)
    except UsageError as error:
        raise Untrusted(str(error)) from None
    except ssl.SSLError:
        raise Untrusted(f"tls_ca: {ca} holds no certificate; name a file in PEM format") from None


def _check_readable(entry: str, file: str) -> None:
    try:
        Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"{entry}: {file} cannot be read ({error.strerror})") from None


def listen(
    address: str,
    handler: Handler,
    *,
    pages: Pages | None = None,
    token: str | None = None,
    tls: tuple[str, str] | None = None,
    turn: AbstractContextManager[Any] | None = None,
    failed: Callable[[Exception], None] | None = None,
) -> _Listener:
    """Answer requests, each connection in a thread of its own, until ``close``.

    ``turn`` is what a request waits for before it is handled.
    """
    parts = urlsplit(checked(address))
    try:
        if parts.scheme == "unix":
            made: _Listener = _UnixListener(address.removeprefix("unix:"), _Requests)
        elif parts.scheme == "https":
            if tls is None or token is None:
                raise UsageError(f"{address} needs tls_cert, tls_key and token in GRID.toml")
            context = _own_certificate(*tls)
            made = secure = _TlsListener((str(parts.hostname), int(parts.port or 0)), _Requests)
            secure.context = context
        else:
            made = _Listener((str(parts.hostname), int(parts.port or 0)), _Requests)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"cannot listen on {address} ({error.strerror or error})") from None
    made.handler, made.pages, made.token = handler, pages, token
    if turn is not None:
        made.turn = turn
    if failed is not None:
        made.failed = failed
    threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
    return made


def close(listener: _Listener) -> None:
    """Answer nothing more."""
    listener.shutdown()
    listener.server_close()
    if isinstance(listener, _UnixListener):
        Path(str(listener.server_address)).unlink(missing_ok=True)


# ---- asking ----------------------------------------------------------------------------------------------


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self) -> None:
        if os.name == "posix" and os.stat(self.path).st_uid not in (os.getuid(), 0):
            raise PermissionError(errno.EPERM, "the socket is somebody else's")
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Remote:
    """The other side of an address. One connection is kept; a broken one is made again once.

    Who has not answered in ``timeout`` seconds is not asked again for ``rest`` seconds.
    """

    def __init__(
        self,
        address: str,
        *,
        token: str | None = None,
        ca: str | None = None,
        timeout: float = 15,
        rest: float = 0,
    ) -> None:
        self.address, self.token, self.ca, self.timeout = checked(address), token, ca, timeout
        self.rest, self._rests_until = rest, 0.0
        self._connection: http.client.HTTPConnection | None = None
        self._lock = threading.Lock()

    def ask(self, request: str, **data: Any) -> dict[str, Any]:
        """The answer, or NoAnswer, or Refused with the other side's sentence."""
        body = json.dumps(data).encode()
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        with self._lock:
            if time.monotonic() < self._rests_until:
                raise self._silent(TimeoutError("timed out"))
            try:
                status, text = self._exchange(request, body, headers)
            except TooSlow:
                self._rests_until = time.monotonic() + self.rest
                raise
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            raise NoAnswer(f"{self.address} answers something that is not JSON") from None
        if status != 200 or not isinstance(answer, dict):
            said = answer.get("error") if isinstance(answer, dict) else None
            if status == 503:
                raise NoAnswer(str(said))
            raise Refused(str(said or f"{self.address} answers with status {status}"))
        return answer

    def _exchange(self, request: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        while True:
            fresh = self._connection is None
            try:
                return self._once(request, body, headers)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                # Only a kept connection that was closed meanwhile is tried again: nothing was read of it.
                closed = isinstance(error, (ConnectionError, http.client.RemoteDisconnected, BrokenPipeError))
                if fresh or not closed:
                    raise self._silent(error) from None

    def _once(self, request: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        if self._connection is None:
            self._connection = self._connect()
        self._connection.request("POST", f"/{request}", body, headers)
        response = self._connection.getresponse()
        return response.status, response.read()

    def _connect(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.address)
        if parts.scheme == "unix":
            return _UnixConnection(self.address.removeprefix("unix:"), self.timeout)
        host, port = str(parts.hostname), parts.port
        if parts.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=self.timeout)
        return http.client.HTTPSConnection(host, port, timeout=self.timeout, context=_trusting(self.ca))

    def _silent(self, error: Exception) -> NoAnswer:
        if isinstance(error, ssl.SSLCertVerificationError):
            remedy = _REMEDIES.get(error.verify_code, "tls_ca in GRID.toml names whom to trust")
            why = error.verify_message.rstrip(".")
            return Untrusted(f"{self.address} shows a certificate that is not trusted: {why}; {remedy}")
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        broken = isinstance(error, (ConnectionResetError, BrokenPipeError, http.client.HTTPException))
        kind = TooSlow if isinstance(error, TimeoutError) else BrokenOff if broken else NoAnswer
        return kind(f"{self.address} does not answer ({why}){self._other_scheme(error)}")

    def _other_scheme(self, error: Exception) -> str:
        """A hint where a port breaks off as one does that speaks TLS with who does not, or the reverse."""
        if self.address.startswith("https:") and isinstance(error, ssl.SSLError):
            return "; is its port without TLS, at http://?"
        broken = (ConnectionResetError, BrokenPipeError, http.client.BadStatusLine)
        if self.address.startswith("http:") and isinstance(error, broken):
            return "; its port may want TLS: then give https:// and tls_ca"
        return ""

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
