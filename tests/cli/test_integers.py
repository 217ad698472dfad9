"""Units of integers as a user types them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

import tcformal
from tcformal.cli import main


def run(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(main, list(words))
    assert done.exit_code == code, done.output
    return " ".join(done.output.split())


def test_a_format_and_a_unit_are_shown() -> None:
    assert "integers from -128" in run("formats", "int8")
    shown = run("units", "h100:int8")
    assert "integer DPA, d = c + Σ a_k·b_k, modulo 2^32" in shown
    assert "PTX ISA, wgmma" in shown


def test_values_and_what_is_none() -> None:
    assert run("eval", "h100:int8", "--a", "3,...", "--b", "-4,...", "--c", "7").startswith("d = -5")
    for text, reason in (("1.5", "its neighbours are 1 and 2"), ("128", "the largest is 127"),
                         ("-129", "the least is -128"), ("-0", "the format has no -0")):  # fmt: skip
        assert reason in run("eval", "h100:int8", "--a", f"{text},...", "--b", "1,...", code=2)


def test_the_least_inputs_that_overflow() -> None:
    made = run("separate", "x86/vpdpbusd", "x86/vpdpbusds")
    assert made.startswith("SEPARATED: 1·(-1) - 2147483648 is 2147483647 on x86/vpdpbusd and -2147483648")
    assert "WRAP-INT32 = -2147483648" in run(
        "explain", "x86/vpdpbusd", "--a", "1,...", "--b", "1,...", "--c", "2147483647"
    )


@pytest.mark.slow
def test_from_which_length_on_sums_overflow() -> None:
    shown = run("accuracy", "h100:int8", "--length", "131072")
    assert "exact up to 131,071 products; from 131,072 on it can overflow: all a = -128, b = -128" in shown
    assert "the sum is 2147483648, and the result -2147483648" in shown
    assert "is exact for c = 0" in run("accuracy", "h100:int8", "--length", "131071")


@pytest.mark.parametrize("command", ["monotonicity", "statistics"])
def test_questions_about_roundings_are_refused(command: str) -> None:
    assert "whose sums of integers are exact unless they overflow" in run(command, "h100:int8", code=2)


def test_a_unit_of_integers_is_identified(tmp_path: Path) -> None:
    given = ("--formats", "uint8,int8,int32,int32", "--vectors", "200", "--results", str(tmp_path))
    shown = run("identify", "--device", "model:x86/vpdpbusds", *given, "--k", "4")
    assert shown.startswith("IDENTIFIED: model:x86/vpdpbusds is x86/vpdpbusds")
    assert "one sum of 4 products and c; the result saturated to int32" in shown
    # What is kept is replayed without the device.
    assert "1 record holds" in run("results", "verify", "--results", str(tmp_path))
    refused = run(
        "identify", "--device", "model:h100:int8", "--formats", "int8,int8,int32,int32", "--k", "512", code=2
    )
    assert "expected at most 256 products of integers to identify, but got 512" in refused


def test_two_outputs_are_compared(tmp_path: Path) -> None:
    a, b = np.full((2, 64), -128, np.int8), np.full((64, 2), -128, np.int8)
    c = np.full((2, 2), 2**31 - 5, np.int32)
    units = ("h100:int8", "hopper/wgmma.m64n8k32.satfinite.s32.s8.s8")
    outputs = [tcformal.simulate(u, a, b, c) for u in units]
    named: dict[str, NDArray[Any]] = {"a": a, "b": b, "c": c, "x": outputs[0], "y": outputs[1]}
    for name, array in named.items():
        np.save(tmp_path / f"{name}.npy", array)
    files = {name: str(tmp_path / f"{name}.npy") for name in named}
    operands = ("--a", files["a"], "--b", files["b"], "--c", files["c"])
    assert run("compare", files["x"], files["y"], *operands).startswith("ROUNDING: EXPECTED is made by")
    wrong = outputs[0].copy()
    wrong[0, 1] += 1
    np.save(tmp_path / "y.npy", wrong)
    shown = run("compare", files["x"], files["y"], *operands, code=1)
    assert shown.startswith("BUG: in GOT one element is wrong")


def _pairs(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    parts = (a[:, :, None] * b[None]).reshape(len(a), -1, 2, b.shape[1]).sum(2)
    return np.asarray(np.clip(parts, -(1 << 15), (1 << 15) - 1).sum(1))


@pytest.mark.parametrize(
    ("faulty", "said"),
    [
        (lambda a, b: np.clip(a @ b, -(1 << 15), (1 << 15) - 1), "sums saturate at the ends of int16"),
        (lambda a, b: (a @ b).astype(np.int16), "sums wrap as int16"),
        (_pairs, "sums of 2 products saturate at the ends of int16 before they are added"),
        (lambda a, b: a @ b >> 1, "results are halved, rounded down"),
        (lambda a, b: (a & 255) @ b, "A is read as uint8"),
        (lambda a, b: a[:, 1:] @ b[1:], "the product of k = 0 is missing"),
    ],
)
def test_a_faulty_product_of_integers_is_explained(
    tmp_path: Path, faulty: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]], said: str
) -> None:
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-128, 128, shape) for shape in ((6, 32), (32, 5)))
    a[0], b[:, 0], a[1] = -128, -128, 127
    files: dict[str, NDArray[Any]] = {"a": a.astype(np.int8), "b": b.astype(np.int8)}
    files |= {"x": (a @ b).astype(np.int32), "y": faulty(a, b).astype(np.int32)}
    for name, array in files.items():
        np.save(tmp_path / f"{name}.npy", array)
    x, y, *operands = (str(tmp_path / f"{name}.npy") for name in "xyab")
    shown = run("compare", x, y, "--a", operands[0], "--b", operands[1], code=1)
    assert shown.startswith(f"BUG: in GOT {said}")


def test_noise_in_sums_of_integers_is_no_named_bug(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    a, b = (rng.integers(-128, 128, shape) for shape in ((6, 32), (32, 5)))
    files: dict[str, NDArray[Any]] = {"a": a.astype(np.int8), "b": b.astype(np.int8)}
    files["x"] = (a @ b).astype(np.int32)
    files["y"] = (a @ b + rng.integers(-9, 10, (6, 5))).astype(np.int32)
    for name, array in files.items():
        np.save(tmp_path / f"{name}.npy", array)
    x, y, *operands = (str(tmp_path / f"{name}.npy") for name in "xyab")
    done = CliRunner().invoke(main, ["compare", x, y, "--a", operands[0], "--b", operands[1]])
    assert not any(word in done.output for word in ("saturate", "wrap", "halved", "read as", "missing"))
