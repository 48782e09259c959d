"""Get a file over HTTP: resumed where it broke off, whole or not at all, checked where a sum is known."""

from __future__ import annotations

from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from headway.documents import digest_of
from headway.errors import InputError
from headway.plain import Progress
from headway.writing import check_replaceable

BLOCK = 1 << 16
PATIENCE = 30
"""Seconds without a byte after which a connection counts as lost."""


def download(
    url: str, target: Path, sha256: str = "", progress: Progress | None = None, *, unencrypted: bool = False
) -> str:
    """Write the file at `url` to `target` and give its SHA-256.

    What an earlier attempt left in `target.part` is continued if the server still has the same file. Only
    https is used, also where a server sends us elsewhere, unless `unencrypted` allows http too.
    """
    part, tag = target.with_name(target.name + ".part"), target.with_name(target.name + ".part.tag")
    check_address(url, unencrypted)
    check_replaceable(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _fetch(url, part, tag, progress, unencrypted)
    except HTTPError as error:
        error.close()
        reason = "there is no such file" if error.code == 404 else f"the server answers {error.code}"
        message = f"{reason}; look for it on the dataset's page, and register it with 'headway datasets add'"
        raise InputError(message, file=url) from None
    except (URLError, HTTPException, TimeoutError, ConnectionError) as error:
        reason = str(getattr(error, "reason", None) or error)
        message = f"cannot be reached ({reason}); try again, or copy it here and use 'headway datasets add'"
        raise InputError(message, file=url) from None
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", file=target) from None
    digest = digest_of(part)
    tag.unlink(missing_ok=True)
    if sha256 and digest != sha256.lower():
        part.unlink()
        message = f"has the checksum {digest[:12]}... and not {sha256[:12].lower()}...; it was not kept"
        raise InputError(message, file=url)
    part.replace(target)
    return digest


def check_address(url: str, unencrypted: bool) -> None:
    """Refuse what is no address of a web server, and one that is not encrypted unless that is allowed."""
    if not url.startswith(("https://", "http://")):
        raise InputError("is not an address that begins with https://", file=url)
    if not unencrypted and not url.startswith("https://"):
        message = "is not encrypted, so the file could be changed on the way; --allow-http takes it"
        raise InputError(message, file=url)


class _Guarded(HTTPRedirectHandler):
    """Follows a server elsewhere only where the first address could have been there."""

    def __init__(self, unencrypted: bool) -> None:
        self.unencrypted = unencrypted

    def redirect_request(self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: str) -> Any:
        check_address(newurl, self.unencrypted)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def urlopen(request: Request, *, unencrypted: bool = False) -> HTTPResponse:
    """Open an address; what is no web server, such as file://, is not known to it."""
    opened: HTTPResponse = build_opener(_Guarded(unencrypted)).open(request, timeout=PATIENCE)
    return opened


def _fetch(url: str, part: Path, tag: Path, progress: Progress | None, unencrypted: bool) -> None:
    """Append to `part` until it is whole."""
    have = part.stat().st_size if part.exists() else 0
    request = Request(url, headers={"User-Agent": "headway"})
    if have and tag.exists():
        request.add_header("Range", f"bytes={have}-")
        request.add_header("If-Range", tag.read_text("utf-8"))
    try:
        response = urlopen(request, unencrypted=unencrypted)
    except HTTPError as error:
        size = (error.headers.get("Content-Range") or "").rpartition("/")[2]
        if error.code == 416 and size == str(have):
            error.close()
            return  # it was whole already
        raise
    with response:
        resumed = response.status == 206 and _begins(response) == have
        have = have if resumed else 0
        identity = response.headers.get("ETag") or response.headers.get("Last-Modified")
        if identity and not identity.startswith("W/"):
            tag.write_text(identity, "utf-8")
        length = response.headers.get("Content-Length")
        total = have + int(length) if length is not None and length.isdigit() else 0
        with part.open("ab" if resumed else "wb") as file:
            while block := response.read(BLOCK):
                file.write(block)
                have += len(block)
                if progress is not None:
                    progress(have, total)
    if total and have != total:
        message = f"ended after {have} of {total} bytes; run the same command again to continue from there"
        raise InputError(message, file=url)


def _begins(response: HTTPResponse) -> int:
    """The first byte of a partial answer, -1 where it does not say."""
    first = (response.headers.get("Content-Range") or "").removeprefix("bytes ").partition("-")[0]
    return int(first) if first.isdigit() else -1
