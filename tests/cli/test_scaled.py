"""Block-scaled units on the command line: what is printed can be pasted, and says the scales."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable

from click.testing import Result

from tcformal.encodings.catalog import FORMATS
from tcformal.oracle.values import format_value

MX = "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"
MX4 = MX.replace("e4m3", "e2m1")
MXF4 = "blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"
NV = "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
PATIENT = ["--time-limit", "300"]

Run = Callable[..., Result]


def test_the_printed_command_explains_a_scaled_witness(run: Run) -> None:
    """The bound keeps the scales away from 1, so that they have to be in the command."""
    bound = ["--assume", "finite", "--assume", "scale_exponents=3..5"]
    result = run("separate", MX4, f"{MX4}@fraction_bits=24", *bound, *PATIENT)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    (shown,) = (line for line in lines if line.startswith("k = 0…31: scale_a[0] = "))
    command = lines[-1].removeprefix("bit by bit: ")
    typed = re.search(r" --scale-a (\d+) --scale-b (\d+)$", command)
    assert typed
    assert re.findall(r"= (\d+) \(0x8[234]\)", shown) == list(typed.groups())
    start = lines.index(next(line for line in lines if line.startswith("They diverge at")))
    again = run(*shlex.split(command)[1:])
    assert again.exit_code == 0, again.stderr
    pasted = again.stdout.splitlines()
    assert pasted[: len(lines[start:-1])] == lines[start:-1]
    # Both results of the verdict are those of the explanation.
    words = [line.split()[-1] for line in lines if line.startswith("blackwell/") and "0x" in line]
    assert len(words) == 2
    assert [w for w in words if not any(w in line for line in pasted if line.startswith("result"))] == []


def test_a_nan_scale_is_typed_by_its_word(run: Run) -> None:
    words = ["--assume", "c=0", *PATIENT]
    result = run("separate", MX4, f"{MX4}@nan_word=0x7fc00000", *words)
    assert result.exit_code == 0, result.stderr
    command = result.stdout.splitlines()[-1].removeprefix("bit by bit: ")
    assert "0xff" in command
    again = run(*shlex.split(command)[1:])
    assert again.exit_code == 0
    assert "is NaN; so the result is NaN" in again.stdout


def test_a_witness_of_scaled_units_as_data(run: Run) -> None:
    result = run("separate", MX4, MXF4, "--explain", "--json", *PATIENT)
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    assert data["formats"]["scale"] == "e8m0"
    for name in ("scale_a", "scale_b"):
        raw = [int(x["hex"], 16) for x in data["witness"][name]]
        values = [format_value(FORMATS["e8m0"], x) for x in raw]
        assert len(raw) == 2
        assert values == [x["value"] for x in data["witness"][name]]
    assert " at block" in data["explanation"]["part_at"]["stage"]


def test_scaled_units_are_proved_equal(run: Run) -> None:
    other = "rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"
    result = run("prove", NV, other, *PATIENT)
    assert result.exit_code == 0, result.stdout
    assert result.stdout.startswith("EQUIVALENT: both units build the same definition")


def test_scaled_units_are_explained_from_the_command_line(run: Run) -> None:
    scales = ["--scale-a", "2^-6,1,1,1", "--scale-b", "1.5,1,1,nan"]
    result = run("explain", NV, f"{NV}@fraction_bits=9", "--a", "6,...", "--b", "6,...", *scales)
    assert result.exit_code == 0
    assert "block0: scale_b[3] is NaN; so the result is NaN" in result.stdout
    assert "The two units do the same on these operands." in result.stdout
    result = run("explain", NV, f"{NV}@fraction_bits=9", "--a", "6,...", "--b", "6,...", *scales[:2])
    assert "Σ a·b[0…15]·2^-6 = 0.5625" in result.stdout
    assert "k = 0…15: scale_a[0] = 0.015625 (0x08), scale_b[0] = 1 (0x38)" in result.stdout
