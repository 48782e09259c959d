"""Finds the line of a policy in Python that returned the answer of one pass."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from headway.policies.own import faults
from headway.policies.own.view import View


class Watched:
    """A policy whose pass number ``number`` is watched; ``line`` is then where it returned."""

    def __init__(self, policy: Any, number: int) -> None:
        self.policy, self.left, self.line = policy, number, ""
        self._decide = getattr(policy, "decide", policy)

    def decide(self, view: View) -> Any:
        """The policy's answer."""
        self.left -= 1
        code, before = faults.code_of(self.policy), sys.gettrace()
        if self.left or code is None:
            return self._decide(view)

        def follow(frame: FrameType, event: str, value: Any) -> Any:
            if frame.f_code is not code:
                return None
            if event == "return":
                self.line = faults.shown_line(code.co_filename, frame.f_lineno)
            return follow

        sys.settrace(follow)
        try:
            return self._decide(view)
        finally:
            sys.settrace(before)
