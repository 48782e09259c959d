"""Every module can be imported, and the examples in its docstrings are true."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

from test_layers import dotted, modules


def test_every_module_can_be_imported() -> None:
    for path in modules():
        import_module(dotted(path))


WITH_EXAMPLES = [path for path in modules() if re.search("^ *>>> ", path.read_text("utf-8"), re.MULTILINE)]


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=dotted)
def test_examples_in_docstrings(path: Path) -> None:
    failed, tried = doctest.testmod(import_module(dotted(path)))
    assert tried > 0 and failed == 0
