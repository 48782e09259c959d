"""Names that stand for other names: the same for the same, and nothing to be read from them."""

from __future__ import annotations

import hashlib
import hmac


class Pseudonyms:
    """One list of names for each kind, such as users or accounts.

    Without a key names are numbered in the order in which they appear. With a key each is a keyed hash (48
    bits of HMAC-SHA-256), so that several files get the same names and nobody without the key can try out
    who is who.
    """

    def __init__(self, key: str | None = None) -> None:
        self._key = None if key is None else key.encode()
        self._numbers: dict[str, dict[str, int]] = {}

    def number(self, kind: str, name: str) -> int:
        """A number above 0 for a name."""
        known = self._numbers.setdefault(kind, {})
        if name not in known:
            if self._key is None:
                known[name] = len(known) + 1
            else:
                digest = hmac.digest(self._key, f"{kind}\0{name}".encode(), hashlib.sha256)
                known[name] = int.from_bytes(digest[:6]) + 1
        return known[name]

    def name(self, kind: str, name: str) -> str:
        """A word for a name: its kind's letters and a number."""
        number = self.number(kind, name)
        return f"{kind}{number}" if self._key is None else f"{kind}{number:012x}"

    def counts(self) -> dict[str, int]:
        """How many names of each kind were replaced."""
        return {kind: len(known) for kind, known in self._numbers.items()}
