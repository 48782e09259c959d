"""Requests between clients, agent and servers: JSON over HTTP, on a Unix socket or on TCP.

    unix:/path/to/socket         the default: only the owner can open it
    http://127.0.0.1:8901        this machine alone; requests need the token
    https://host:8901            other machines; requests need the token, the connection is TLS

A request is ``POST /name`` with a JSON object, the answer a JSON object; ``{"error": sentence}`` says what is
wrong with it. No answer is never an answer: it raises :class:`NoAnswer`.
"""

from __future__ import annotations

import hmac
import http.client
import ipaddress
import json
import os
import re
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from headway.errors import HeadwayError, UsageError

Handler = Callable[[str, dict[str, Any]], Any]
Pages = Callable[[str], tuple[str, bytes] | None]

LARGEST = 64 << 20
NUMBER = re.compile("[0-9]{1,18}")
"""Bytes of a request at most."""
SOCKET_PATH = 100
"""Characters of a socket's path at most: what every system allows."""


class NoAnswer(HeadwayError):
    """Nobody answered in time: what happened there is unknown."""


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
    parts = urlsplit(address)
    if parts.scheme == "unix":
        path = address.removeprefix("unix:")
        if len(path.encode()) > SOCKET_PATH:
            raise UsageError(
                f"the path of the socket {path} has more than {SOCKET_PATH} characters, which systems do not "
                "allow; give a shorter folder"
            )
        return address
    if parts.scheme in ("http", "https") and parts.hostname and parts.port is not None:
        if parts.scheme == "http" and not is_loopback(parts.hostname):
            raise UsageError(
                f"{address} can be reached from other machines, so it must be https://: give tls_cert, "
                "tls_key and token in GRID.toml"
            )
        return address
    raise UsageError(
        f"{address!r} is not an address; give unix:PATH, http://127.0.0.1:PORT or https://HOST:PORT"
    )


def read_token(file: Path) -> str:
    """The secret of a file that nobody else may read."""
    try:
        token = file.read_text("utf-8").strip()
        shared = os.name == "posix" and file.stat().st_mode & 0o077
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise UsageError(f"the token file {file} cannot be read ({reason})") from None
    if shared:
        raise UsageError(f"the token file {file} can be read by others; chmod 600 {file}")
    if len(token) < 16:
        raise UsageError(f"the token in {file} is shorter than 16 characters; write a longer one into it")
    return token


# ---- listening -------------------------------------------------------------------------------------------


class _Requests(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    timeout = 60
    server: Any

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not NUMBER.fullmatch(length) or int(length) > LARGEST:
            self.close_connection = True
            return self._reply(413, {"error": "the request is too large, or does not say its length"})
        body = self.rfile.read(int(length))
        if not self._is_trusted():
            return self._reply(403, {"error": "the token is wrong; both sides must read the same token file"})
        try:
            try:
                data = json.loads(body or b"{}")
            except RecursionError:
                raise UsageError("a request is not nested so deeply") from None
            if not isinstance(data, dict):
                raise UsageError("a request is a JSON object")
            answer = self.server.handler(self.path.strip("/"), data)
        except NoAnswer as error:  # somebody behind us did not answer: that is unknown there, too
            return self._reply(503, {"error": str(error)})
        except (HeadwayError, ValueError) as error:
            return self._reply(400, {"error": str(error)})
        except Exception as error:  # a fault of ours must not leave the other side without an answer
            self.server.failed(error)
            return self._reply(500, {"error": f"{type(error).__name__}: {error}"})
        self._reply(200, answer if answer is not None else {})

    def do_GET(self) -> None:
        found = self.server.pages(self.path.partition("?")[0]) if self._is_local() else None
        if found is None:
            return self._send(404, "text/plain", b"not here\n")
        self._send(200, *found)

    def _is_local(self) -> bool:
        """A page is for this machine: by its own name, so that no other site's name can stand for it."""
        host = self.headers.get("Host", "").rpartition(":")[0].strip("[]")
        return self.server.pages is not None and (self.server.unix or is_loopback(host))

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

    def address_string(self) -> str:
        return "client"


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    unix = False
    handler: Handler
    pages: Pages | None = None
    token: str | None = None
    failed: Callable[[Exception], None] = staticmethod(lambda error: None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is the other side's affair."""


class _UnixListener(_Listener):
    unix = True
    address_family = getattr(socket, "AF_UNIX", socket.AF_INET)

    def server_bind(self) -> None:
        path = Path(str(self.server_address))
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            socketserver.TCPServer.server_bind(self)
        finally:
            os.umask(before)
        self.server_name, self.server_port = "unix", 0

    def get_request(self) -> tuple[Any, Any]:
        connection, _ = super().get_request()
        return connection, ("unix", 0)


class _TlsListener(_Listener):
    context: ssl.SSLContext

    def finish_request(self, request: Any, client_address: Any) -> None:
        # The handshake is made in the connection's own thread, so that a silent client stops nobody.
        request.settimeout(10)
        with self.context.wrap_socket(request, server_side=True) as secured:
            super().finish_request(secured, client_address)


def listen(
    address: str,
    handler: Handler,
    *,
    pages: Pages | None = None,
    token: str | None = None,
    tls: tuple[str, str] | None = None,
    failed: Callable[[Exception], None] | None = None,
) -> _Listener:
    """Answer requests, each connection in a thread of its own, until ``close``."""
    parts = urlsplit(checked(address))
    try:
        if parts.scheme == "unix":
            made: _Listener = _UnixListener(address.removeprefix("unix:"), _Requests)  # type: ignore[arg-type]
        elif parts.scheme == "https":
            if tls is None or token is None:
                raise UsageError(f"{address} needs tls_cert, tls_key and token in GRID.toml")
            made = secure = _TlsListener((str(parts.hostname), int(parts.port or 0)), _Requests)
            secure.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            secure.context.load_cert_chain(*tls)
        else:
            made = _Listener((str(parts.hostname), int(parts.port or 0)), _Requests)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"cannot listen on {address} ({error.strerror or error})") from None
    made.handler, made.pages, made.token = handler, pages, token
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
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Remote:
    """The other side of an address. One connection is kept; a broken one is made anew once."""

    def __init__(
        self, address: str, *, token: str | None = None, ca: str | None = None, timeout: float = 15
    ) -> None:
        self.address, self.token, self.ca, self.timeout = checked(address), token, ca, timeout
        self._connection: http.client.HTTPConnection | None = None
        self._lock = threading.Lock()

    def ask(self, request: str, **data: Any) -> dict[str, Any]:
        """The answer, or NoAnswer, or Refused with the other side's sentence."""
        body = json.dumps(data).encode()
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        with self._lock:
            status, text = self._exchange(request, body, headers)
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
        fresh = self._connection is None
        try:
            return self._once(request, body, headers)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            # Only a kept connection that was closed meanwhile is tried again: nothing was read of it.
            closed = isinstance(error, (ConnectionError, http.client.RemoteDisconnected, BrokenPipeError))
            if fresh or not closed:
                raise self._silent(error) from None
        try:
            return self._once(request, body, headers)
        except (OSError, http.client.HTTPException) as error:
            self.close()
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
        context = ssl.create_default_context(cafile=self.ca)
        return http.client.HTTPSConnection(host, port, timeout=self.timeout, context=context)

    def _silent(self, error: Exception) -> NoAnswer:
        if isinstance(error, ssl.SSLCertVerificationError):
            return NoAnswer(f"{self.address} shows a certificate that is not trusted: {error.verify_message}")
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return NoAnswer(f"{self.address} does not answer ({why})")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
