"""The file of a trained agent (.npz): its layers, and what it was trained to do.

``kind`` is *shared*, where one small network gives a score to each slot from the slot's features, a mark for
*wait* and the machine's features; or *dense*, where one network gives the scores of all slots and of waiting
from all that is seen. For weights the network is dense and gives the four of them, cut to -1..1, every
``period`` seconds. Layers are ``w0, b0, w1, b1, ...`` with weights [out, in]; ``activation`` stands
between them.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.documents import read_bytes
from headway.errors import InputError
from headway.policies.agent.features import OF_MACHINE, OF_SLOT, VERSION, WEIGHED
from headway.writing import replacing

TASKS = ("choose", "backfill", "weights")
KINDS = ("shared", "dense")
ACTIVATIONS = ("tanh", "relu")
OF_SCORE = OF_SLOT + 1 + OF_MACHINE
"""What a shared network is given for each slot."""
LONGEST_PERIOD = 7 * 86_400.0
LARGEST = 4_000_000
"""Weights that a network may have."""
MOST_BYTES = 16 * LARGEST
"""Bytes of its file, packed or not."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Network:
    """Layers and what they were trained for."""

    layers: tuple[tuple[Floats, Floats], ...]
    task: str = "choose"
    window: int = 16
    kind: str = "shared"
    activation: str = "tanh"
    period: float = 3600.0
    """Seconds between two settings of weights; for the other tasks it is nothing."""
    may_wait: bool = True
    """Whether it may leave processors idle though a job could start."""
    digest: str = ""

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("task", self.task, TASKS),
            ("kind", self.kind, KINDS),
            ("activation", self.activation, ACTIVATIONS),
        ):
            if value not in choices:
                raise ValueError(f"{name} is {value!r}, which is none of {', '.join(choices)}")
        if not self.layers or not 1 <= self.window <= 1024:
            raise ValueError("it has no layers, or a window that is not from 1 to 1024")
        for (weights, bias), width in zip(self.layers, self.widths, strict=False):
            if weights.ndim != 2 or bias.shape != (weights.shape[0],) or weights.shape[1] != width:
                raise ValueError(f"a layer of {weights.shape} does not fit where {width} numbers come in")
            if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
                raise ValueError("it has weights that are not numbers")
        if self.task == "weights" and self.kind == "shared":
            raise ValueError("weights are of the whole machine: their network is dense, not shared")
        if not 1 <= self.period <= LONGEST_PERIOD:
            raise ValueError(f"its period is {self.period} s, which is not from 1 to {LONGEST_PERIOD:.0f}")
        given = WEIGHED if self.task == "weights" else 1 if self.kind == "shared" else self.window + 1
        if self.widths[-1] != given:
            raise ValueError(f"its last layer gives {self.widths[-1]} numbers where {given} are wanted")
        if sum(weights.size for weights, _ in self.layers) > LARGEST:
            raise ValueError(f"it has more than {LARGEST} weights")

    @property
    def widths(self) -> list[int]:
        """Numbers that go into each layer, and out of the last."""
        first = OF_SCORE if self.kind == "shared" else self.window * OF_SLOT + OF_MACHINE
        return [first, *(len(bias) for _, bias in self.layers)]

    @property
    def flat(self) -> Floats:
        """All weights one after the other: of each layer its weights row by row, then its biases."""
        return np.concatenate([part.ravel() for layer in self.layers for part in layer])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file."""
        what: dict[str, Any] = {
            "version": VERSION,
            "task": self.task,
            "window": self.window,
            "kind": self.kind,
            "activation": self.activation,
            "period": self.period,
            "may_wait": self.may_wait,
        }
        for i, (weights, bias) in enumerate(self.layers):
            what |= {f"w{i}": weights, f"b{i}": bias}
        with replacing(path) as draft, draft.open("wb") as file:
            np.savez(file, **what)


def from_flat(flat: Floats, widths: Sequence[int], **what: str | int | float) -> Network:
    """The network of these widths whose weights stand one after the other."""
    layers, at = [], 0
    for entering, leaving in itertools.pairwise(widths):
        weights = flat[at : at + entering * leaving].reshape(leaving, entering)
        at += entering * leaving
        layers.append((weights.copy(), flat[at : at + leaving].copy()))
        at += leaving
    return Network(tuple(layers), **what)  # type: ignore[arg-type]


def load_network(path: str | os.PathLike[str]) -> Network:
    """Read the file; what is wrong with it is said in a sentence."""
    name = str(path)
    try:
        data = read_bytes(name, MOST_BYTES)
        digest = hashlib.sha256(data).hexdigest()
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            if sum(part.file_size for part in packed.infolist()) > MOST_BYTES:
                raise ValueError(f"it unpacks to more than {MOST_BYTES >> 20} MiB")
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            found = {key: file[key] for key in file.files}
        if odd := [key for key, value in found.items() if value.dtype.kind not in "biufU"]:
            raise ValueError(f"{odd[0]} of it is of another kind")
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError("there is no such file", file=name) from None
    except (OSError, ValueError, EOFError, KeyError) as error:
        raise InputError(f"is not a file of an agent (.npz): {error}", file=name) from None
    except Exception as error:  # a damaged archive raises whatever its parts raise
        raise InputError(f"is not a file of an agent (.npz): {error}", file=name) from None
    try:
        if int(found["version"]) != VERSION:
            raise ValueError(
                f"it sees version {int(found['version'])} of the features, and this is {VERSION}"
            )
        for key, value in found.items():
            if key[0] in "wb" and key[1:].isdigit() and value.dtype.kind not in "iuf":
                raise ValueError(f"{key} has weights that are not numbers")
        count = sum(key.startswith("w") and key[1:].isdigit() for key in found)
        layers = tuple(
            tuple(np.ascontiguousarray(found[f"{part}{i}"], np.float64) for part in "wb")
            for i in range(count)
        )
        words = {key: str(found[key]) for key in ("task", "kind", "activation")}
        period = float(found.get("period", Network.period))
        rest = {"period": period, "may_wait": bool(found.get("may_wait", True)), "digest": digest}
        return Network(layers, window=int(found["window"]), **rest, **words)  # type: ignore[arg-type]
    except (KeyError, ValueError, TypeError) as error:
        raise InputError(f"is not a usable agent file: {error}", file=name) from None
