"""Block-scaled units on the command line: what is printed can be pasted, and says the scales."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

from click.testing import Result

MX = "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"
MX4 = MX.replace("e4m3", "e2m1")
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
    assert pasted[pasted.index(lines[start]) :] == lines[start:-1]
    # Both results of the verdict are those of the explanation.
    words = [line.split()[-1] for line in lines if line.startswith("blackwell/") and "0x" in line]
    assert len(words) == 2
    assert [w for w in words if not any(w in line for line in pasted if line.startswith("result"))] == []
