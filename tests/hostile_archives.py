"""Archives that claim more than they hold, hold more than anyone wants, or confuse tarfile."""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import Callable

END = bytes(1024)


def member(name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, claims: int | None = None) -> bytes:
    """A file of an archive, which may claim to have another length."""
    info = tarfile.TarInfo(name)
    info.size, info.type = len(data) if claims is None else claims, kind
    return info.tobuf(tarfile.GNU_FORMAT) + data + bytes(-len(data) % 512)


def sparse(name: str, claims: int) -> bytes:
    """A file with a hole, as GNU tar packs it."""
    header = bytearray(member(name, bytes(512), tarfile.GNUTYPE_SPARSE)[:512])
    numbers = (0, 512, claims, 0)
    header[386:434] = b"".join(b"%011o\0" % number for number in numbers)
    header[483:495] = b"%011o\0" % claims
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + b"x" * 512


def pax_sparse(name: str, claims: int, holes: bytes | None = None) -> bytes:
    """A file with a hole, as POSIX tar packs it: the map of holes stands before the data."""
    holes = b"2\n0\n512\n%d\n0\n" % claims if holes is None else holes
    info = tarfile.TarInfo(f"GNUSparseFile.0/{name}")
    data = holes + bytes(-len(holes) % 512) + b"x" * 512
    info.size = len(data)
    info.pax_headers = {
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.name": name,
        "GNU.sparse.realsize": str(claims),
    }
    return info.tobuf(tarfile.PAX_FORMAT) + data


CONF = member("site/slurm.conf", b"ClusterName=x\nNodeName=n1\nPartitionName=p Nodes=n1\n")


CLAIMS = 3 << 30
HOSTILE: dict[str, Callable[[int], bytes]] = {
    "sparse": lambda size: sparse("site/groups.txt", CLAIMS),
    "PAX sparse": lambda size: pax_sparse("site/groups.txt", CLAIMS),
    "short map": lambda size: pax_sparse("site/groups.txt", CLAIMS, b"5\n0\n"),
    "map of words": lambda size: pax_sparse("site/groups.txt", CLAIMS, b"many\n"),
    "endless map": lambda size: pax_sparse("site/groups.txt", CLAIMS, b"900000000\n" + b"0\n" * (size // 2)),
    "large file": lambda size: member("site/groups.txt", bytes(size)),
    "packed file": lambda size: member("site/groups.txt.gz", gzip.compress(bytes(size), 1, mtime=0)),
    "long name": lambda size: member("x", bytes(size), tarfile.GNUTYPE_LONGNAME),
    "long header": lambda size: member("x", bytes(size), tarfile.XHDTYPE),
    "names of names": lambda size: member("x", b"abc\0", tarfile.GNUTYPE_LONGNAME) * 900 + member("y"),
    "hidden beyond": lambda size: member("site/.x", claims=9 << 30),
    "backwards": lambda size: member("site/.x", claims=-4096),
    "short file": lambda size: member("site/groups.txt", b"x", claims=1 << 20),
}
"""What stands in an archive by what is wrong with it; what is large in it has so many bytes."""


def hostile(trick: str, size: int) -> bytes:
    """A site's archive with something that must be refused."""
    return CONF + HOSTILE[trick](size) + END


def nested() -> bytes:
    """An archive with archives in it, one packed twice."""
    inner = CONF + END
    once = gzip.compress(inner, mtime=0)
    files = {"inner.tar": inner, "inner.tar.gz": once, "twice.gz": gzip.compress(once, mtime=0)}
    return CONF + b"".join(member(f"site/{name}", content) for name, content in files.items()) + END
