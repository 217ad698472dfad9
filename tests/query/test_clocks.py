"""Clocks, resets and drivers of somebody's RTL: what is followed, and what is refused in a sentence."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from exported_runs import design_of
from rtl_designs import FOLLOWED, REFUSED, UNIT, Design, simulated
from tcformal.backends.export.formats import written
from tcformal.cli import main

pytestmark = pytest.mark.debian


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's own Verilog of the unit."""
    path = tmp_path_factory.mktemp("core") / "core.sv"
    path.write_bytes(written(design_of(UNIT), "verilog"))
    return path


def checked(design: Design, core: Path, folder: Path, *words: str) -> Result:
    """The design under `check-rtl`."""
    (folder / "top.v").write_text(design.verilog("top"))
    ties = [x for name, value in design.ties.items() for x in ("--tie", f"{name}={value}")]
    files = [str(core), str(folder / "top.v")]
    command = ["check-rtl", *files, "--top", "top", "--against", UNIT, "--latency", str(design.latency)]
    return CliRunner().invoke(main, [*command, *ties, *words])


@pytest.mark.parametrize("name", FOLLOWED)
def test_one_clock_is_followed_and_said(name: str, core: Path, tmp_path: Path) -> None:
    design = FOLLOWED[name]
    run = checked(design, core, tmp_path, "--json")
    assert run.exit_code == 0, run.output
    data = json.loads(run.stdout)
    assert data["verdict"] == "EQUIVALENT"
    said = data["module"]["clock"]
    assert (None if said is None else (said["signal"], said["edge"])) == design.clock
    assert data["module"]["ties"] == design.ties
    assert data["undefined"] == 0


@pytest.mark.parametrize("name", REFUSED)
def test_other_clocks_and_drivers_are_refused(name: str, core: Path, tmp_path: Path) -> None:
    design = REFUSED[name]
    run = checked(design, core, tmp_path)
    assert run.exit_code == 2, run.output
    assert design.sentence in run.output
    assert run.output.startswith("error: expected")
    assert run.output.count("\n") == 1


#: A bit of d that is undefined on some operands, and one that a choice beyond a word's end gives.
UNDEFINED = {
    "a value": Design("assign d = (c != 32'h3f800000) ? x : 32'bx;", latency=0, clock=None, undefined=32),
    "some bits": Design(
        "assign d = (c == 32'h3f800000) ? 32'b01x1x : x;", latency=0, clock=None, undefined=2
    ),
    "beyond a word": Design(
        "wire [2:0] w = 3'b111; assign d = x & ~w[a[1:0]];", latency=0, clock=None, undefined=1
    ),
    "a full case": Design(
        "reg [31:0] y; always @* (* full_case *) case (c[1:0]) 0: y = x; 1: y = x; 2: y = x; endcase\n"
        "assign d = y;", latency=0, clock=None, undefined=32,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNDEFINED)
def test_undefined_bits_are_zeros_and_are_said(name: str, core: Path, tmp_path: Path) -> None:
    """No value of x is chosen for a simpler circuit: the zeros make these differ from the unit."""
    run = checked(UNDEFINED[name], core, tmp_path, "--json")
    data = json.loads(run.stdout)
    assert (run.exit_code, data["verdict"]) == (1, "SEPARATED")
    assert data["undefined"] == UNDEFINED[name].undefined
    text = checked(UNDEFINED[name], core, tmp_path).output
    assert f"{data['undefined']} undefined bits (x) counted as zeros" in text


def test_overlapping_parallel_cases_take_the_first(core: Path, tmp_path: Path) -> None:
    """As Verilog says, whatever the word promises."""
    case = "case (1'b1) c[0]: y = x; c[1]: y = 1; a[0]: y = 2; default: y = 3; endcase"
    chain = "c[0] ? x : c[1] ? 1 : a[0] ? 2 : 3"
    for word in ("(* parallel_case *) ", "unique "):
        right = f"reg [31:0] y; always @* {word}{case} assign d = (y ^ ({chain})) ^ x;"
        run = checked(Design(right, latency=0), core, tmp_path)
        assert run.exit_code == 0, run.output


def test_followed_designs_are_the_unit_in_a_simulator(core: Path, tmp_path: Path) -> None:
    """Every design that is called equal, in Verilator: its result after the edges is the unit's at once."""
    rng, names = random.Random(1), list(FOLLOWED)
    files = [core]
    for i, name in enumerate(names):
        files.append(tmp_path / f"m{i}.v")
        files[-1].write_text(FOLLOWED[name].verilog(f"m{i}"))
    lines, checks, widths = [], [], {"clk": 1, "clk2": 1, "clks": 2, "rst_n": 1, "en": 1}
    for i, name in enumerate(names):
        design = FOLLOWED[name]
        given = {port: str(design.ties.get(port, 0)) for port in widths}
        if design.clock is not None:
            port, bit, _ = [*design.clock[0].replace("[", " ").replace("]", " ").split(), "0", ""][:3]
            level = "phase" if design.clock[1] == "rising" else "~phase"
            given[port] = f"({level} << {bit})"
        places = ", ".join(f".{port}({given[port]})" for port in widths)
        lines.append(f"wire [31:0] d{i}; m{i} i{i}({places}, .a(a), .b(b), .c(c), .d(d{i}));")
        checks.append(f'if (edges == {design.latency} && d{i} !== x) $display("{name}: %h, %h", d{i}, x);')
    rows = [(rng.getrandbits(16), rng.getrandbits(16), rng.getrandbits(32)) for _ in range(40)]
    rows += [(0x3C00, 0x3C00, 0x3F800000)] * 2
    values = ", ".join(f"64'h{a:04x}{b:04x}{c:08x}" for a, b, c in rows)
    (tmp_path / "bench.sv").write_text(
        f"`timescale 1ns / 1ns\nmodule tcformal_bench; logic phase = 0; int edges; reg [15:0] a, b; "
        f"reg [31:0] c; wire [31:0] x; tcformal_valpey_terms_2 u(.*, .d(x));\n{chr(10).join(lines)}\n"
        f"reg [63:0] rows[{len(rows)}] = '{{{values}}};\n"
        "initial begin foreach (rows[r]) begin {a, b, c} = rows[r]; #1;\n"
        f"for (edges = 0; edges < 4; edges++) begin {chr(10).join(checks)}\n"
        'phase = 1; #1; phase = 0; #1; end end $display("DONE"); $finish; end endmodule\n'
    )
    printed = simulated(tmp_path, tmp_path / "bench.sv", *files)
    assert printed.startswith("DONE\n"), printed
