"""What if: a change of a site, a machine, a policy or the jobs, simulated over the same log."""

from __future__ import annotations

from headway.what_if.answer import Answer, answer, simulate_all, with_seeds
from headway.what_if.sentences import sentences

__all__ = ["Answer", "answer", "sentences", "simulate_all", "with_seeds"]
