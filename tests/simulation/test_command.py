"""The command that shows a dot product: a shell reads it, and it means the same operands."""

from __future__ import annotations

import shlex
from itertools import pairwise

from tcformal.design.names import resolve
from tcformal.oracle.values import parse_value
from tcformal.simulation.operands.witness import Witness, by_value, explain_command, in_hex

VOLTA = resolve("volta/mma.m8n8k4.f32.f16.f16.f32")
NV = resolve("blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3")


def options(command: str) -> dict[str, str]:
    """What a shell makes of a command's options."""
    return {x: y for x, y in pairwise(shlex.split(command)) if x.startswith("--")}


def test_zeros_at_the_end_are_left_out() -> None:
    w = Witness((0x3C00, 0, 0x7400, 0), (0x3C00, 0, 0, 0), 0)
    assert explain_command([VOLTA.name], w, in_hex(VOLTA)) == (
        f"tcformal explain {VOLTA.name} --a 0x3c00,0x0000,0x7400,... --b 0x3c00,0x0000,0x0000,... "
        "--c 0x00000000"
    )


def test_nothing_is_left_out_of_a_full_one() -> None:
    full = Witness((0x3C00,) * 4, (0x3C00,) * 4, 0)
    assert "..." not in explain_command([VOLTA.name], full, in_hex(VOLTA))
    assert options(explain_command([VOLTA.name], full, in_hex(VOLTA), longer=True))["--a"].endswith(
        "0x3c00:4,..."
    )


def test_one_product_stays_of_zeros() -> None:
    w = Witness((0,) * 4, (0,) * 4, 0x3F800000)
    assert options(explain_command([VOLTA.name], w, by_value(VOLTA))) == {
        "--a": "0,...", "--b": "0,...", "--c": "1"
    }  # fmt: skip


def test_values_come_back_from_a_shell() -> None:
    """Powers, signs, negative zeros, NaNs by their words; names with parameters."""
    w = Witness((0x0001, 0x8000, 0xFE01, 0xFC00), (0x3E00,) * 4, 0xFFC00001)
    name = f"{VOLTA.name}@fraction_bits=25,zero_sign=ieee"
    command = explain_command([VOLTA.name, name], w, by_value(VOLTA))
    assert shlex.split(command)[2:4] == [VOLTA.name, name]
    found, o = options(command), VOLTA.operands
    assert tuple(parse_value(o.a, text) for text in found["--a"].split(",")) == w.a
    assert parse_value(o.c, found["--c"]) == w.c


def test_scales_are_among_the_options() -> None:
    w = Witness((2, *[0] * 63), (2, *[0] * 63), 0, (0x38,) * 4, (0x40,) * 4)
    found = options(explain_command([NV.name], w, in_hex(NV)))
    assert (found["--scale-a"], found["--scale-b"]) == ("0x38:4", "0x40:4")
