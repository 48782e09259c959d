"""All commands, in the order in which ``headway --help`` lists them."""

from __future__ import annotations

from headway.cli import simulate as simulate  # isort: skip
from headway.cli import compare as compare  # isort: skip
from headway.cli import sweep as sweep  # isort: skip
from headway.cli import reproduce as reproduce  # isort: skip
from headway.cli import audit as audit  # isort: skip
from headway.cli import explain as explain  # isort: skip
from headway.cli import plot as plot  # isort: skip
from headway.cli import report as report  # isort: skip
from headway.cli import inspect as inspect  # isort: skip
from headway.cli import site as site  # isort: skip
from headway.cli import convert as convert  # isort: skip
from headway.cli import generate as generate  # isort: skip
from headway.cli import weeks as weeks  # isort: skip
from headway.cli import anonymise as anonymise  # isort: skip
from headway.cli import datasets as datasets  # isort: skip
from headway.cli import what_if as what_if  # isort: skip
from headway.cli import replay as replay  # isort: skip
from headway.cli import when as when  # isort: skip
from headway.cli import forecast as forecast  # isort: skip
from headway.cli import batsim as batsim  # isort: skip
from headway.cli import decide as decide  # isort: skip
from headway.cli import policies as policies  # isort: skip
from headway.cli import cache as cache  # isort: skip
from headway.cli import demo as demo  # isort: skip
from headway.cli import live as live  # isort: skip
from headway.cli import agent as agent  # isort: skip
from headway.cli import server as server  # isort: skip
from headway.cli import submit as submit  # isort: skip
from headway.cli import tasks as tasks  # isort: skip
from headway.cli import shadow as shadow  # isort: skip
