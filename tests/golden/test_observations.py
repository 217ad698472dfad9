"""Recorded hardware outputs, reproduced bit for bit by the catalogued units.

The recordings (KHATTAK; 1,000 dot products for each GPU and pair of formats) are in the
folder that the environment variable TCFORMAL_OBSERVATIONS names.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tcformal.design.catalog import catalogue
from tcformal.design.vendors.facts import RECORDED
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format
from tcformal.oracle.values import format_value, parse_value
from tcformal.simulation.matrix_unit import Unit, unit
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.replay import oracle_result
from vectors import Raw

#: Recording -> (unit, changes each of which the recording refutes).  A new recording joins here.
RECORDINGS: dict[str, tuple[str, tuple[str, ...]]] = {
    "V100_fp16_fp32": (
        "volta/mma.m8n8k4.f32.f16.f16.f32",
        ("fraction_bits=22", "fraction_bits=24", "products=2", "c_position=last", "rounding=RNE"),
    ),
    "V100_fp16_fp16": (
        "volta/mma.m8n8k4.f16.f16.f16.f16",
        # Rounded to fp16, these 1,000 results fit every F of at least 21.
        ("rounding=RZ", "product_rounding=RNE-FP16", "fraction_bits=20", "products=2"),
    ),
    "A100_fp16_fp32": (
        "ampere/mma.m16n8k8.f32.f16.f16.f32",
        ("fraction_bits=23", "fraction_bits=25", "products=4", "c_position=last", "rounding=RNE"),
    ),
    "A100_tf32_fp32": (
        "ampere/mma.m16n8k4.f32.tf32.tf32.f32",
        ("fraction_bits=23", "fraction_bits=25", "products=2", "c_position=last", "rounding=RNE"),
    ),
    "H100_bf16_fp32": (
        "hopper/mma.m16n8k16.f32.bf16.bf16.f32",
        ("fraction_bits=24", "fraction_bits=26", "products=8", "products=4", "c_position=last"),
    ),
    "H100_fp16_fp16": (
        "hopper/mma.m16n8k16.f16.f16.f16.f16",
        # Rounded to fp16, these 1,000 results fit every F of at least 22.
        ("rounding=RZ", "product_rounding=RNE-FP16", "fraction_bits=21", "products=8"),
    ),
    "B200_fp16_fp32": (
        "blackwell/mma.m16n8k16.f32.f16.f16.f32",
        ("fraction_bits=24", "fraction_bits=26", "products=8", "products=4", "c_position=last"),
    ),
    "Ada_E4M3_fp32": (
        "ada/mma.m16n8k32.f32.e4m3.e4m3.f32",
        ("fraction_bits=12", "fraction_bits=14", "products=32", "products=8", "conversion=RZ-FP32"),
    ),
}

#: Recordings whose unit the catalogue may lack.
PENDING = {"Ada_E4M3_fp32"}
#: Recordings whose unit is catalogued.
READY = [name for name, (unit_name, _) in RECORDINGS.items() if unit_name in catalogue()]


def folder() -> Path:
    """Where the recordings are; skips where no folder is named."""
    name = os.environ.get("TCFORMAL_OBSERVATIONS")
    if not name:
        pytest.skip("TCFORMAL_OBSERVATIONS names no folder of recorded hardware outputs")
    return Path(name)


def encoded(words: Raw, fmt: Format) -> Raw:
    """The encodings in `fmt` of values that are given as fp32 words; each must be one of `fmt` exactly."""
    distinct, inverse = np.unique(words, return_inverse=True)
    table = [parse_value(fmt, format_value(FORMATS["fp32"], int(word))) for word in distinct]
    return np.array(table, dtype=np.uint64)[inverse].reshape(words.shape)


@cache
def recording(path: Path, u: Unit) -> tuple[Raw, Raw, Raw, Raw]:
    """The operands and results of a recording in the encodings of its unit."""
    with np.load(path) as arrays:
        a, b, c, d = (arrays[key] for key in "abcd")
    if u.c_format.name == "fp16":
        # The recording's c was rounded to fp16, to nearest even, before it was used.
        halves = c.view(np.float32).astype(np.float16).view(np.uint16).astype(np.uint64)
    else:
        halves = encoded(c, u.c_format)
    return encoded(a, u.a_format), encoded(b, u.b_format), halves, encoded(d, u.d_format)


def compared(name: str, change: str = "") -> tuple[int, list[str]]:
    """How many dot products a recording has, and the mismatches, each as a command that explains it."""
    unit_name = RECORDINGS[name][0]
    u = unit(unit_name + change)
    a, b, c, d = recording(folder() / f"{name}.npz", unit(unit_name))
    found = u.dot_bits(a, b, c)
    wrong = []
    for i in np.flatnonzero(found != d):
        words_a, words_b = (",".join(f"{x:#x}" for x in words[i].tolist()) for words in (a, b))
        wrong.append(
            f"tcformal explain {u.name} --a {words_a} --b {words_b} --c {int(c[i]):#x}"
            f"   # {int(found[i]):#x}, recorded {int(d[i]):#x}"
        )
    return len(d), wrong


@pytest.mark.parametrize("name", READY)
def test_unit_reproduces_the_recording(name: str) -> None:
    """On lanes all of it, on the oracle the first hundred."""
    count, wrong = compared(name)
    assert count == 1000
    assert not wrong, f"{len(wrong)} of {count} results differ from {name}:\n" + "\n".join(wrong[:5])
    u = unit(RECORDINGS[name][0])
    a, b, c, d = (x[:100].tolist() for x in recording(folder() / f"{name}.npz", u))
    found = [oracle_result(u.spec, Witness(tuple(x), tuple(y), z)) for x, y, z in zip(a, b, c, strict=True)]
    assert found == d


@pytest.mark.parametrize(
    ("name", "change"), [(name, change) for name in READY for change in RECORDINGS[name][1]]
)
def test_recording_rejects(name: str, change: str) -> None:
    """A unit with one parameter changed does not reproduce what the hardware gave."""
    count, wrong = compared(name, f"@{change}")
    assert wrong, f"{name} does not tell {change} apart on {count} dot products"


def test_no_recording_is_left_out() -> None:
    names = {path.stem for path in folder().glob("*.npz")}
    assert names == RECORDINGS.keys()
    assert RECORDINGS.keys() - set(READY) <= PENDING


def test_recorded_evidence_is_what_is_reproduced() -> None:
    """A catalogued unit cites the recordings exactly where a recording here is of its arithmetic.

    Recordings with fp16 results fix products and conversion, but fit several values of fraction_bits.
    """
    specs = [unit(RECORDINGS[name][0]).spec for name in READY]
    reproduced = {(u.arch, u.operands.a.name, u.operands.d.name) for u in specs}
    for parameter in ("products", "conversion", "fraction_bits"):
        claimed = {
            (u.arch, u.operands.a.name, u.operands.d.name)
            for u in catalogue().values()
            if RECORDED in u.facts[parameter].source
        }
        narrow = {key for key in reproduced if key[2] == "fp16"}
        assert claimed == (reproduced - narrow if parameter == "fraction_bits" else reproduced)
