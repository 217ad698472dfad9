"""`tcformal check-rtl`: modules that are a unit, modules that are not, and test benches that show it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from exported_runs import design_of
from rtl_designs import simulated
from tcformal.backends.export.formats import written
from tcformal.cli import main

UNIT = "valpey@terms=3"
NAME = "tcformal_valpey_terms_3"


def check(*words: str | Path, unit: str = UNIT) -> Result:
    """One call of the command."""
    return CliRunner().invoke(main, ["check-rtl", *map(str, words), "--against", unit])


def exported_verilog(folder: Path, name: str = UNIT) -> Path:
    """The project's own Verilog of a unit."""
    path = folder / "unit.sv"
    path.write_bytes(written(design_of(name), "verilog"))
    return path


#: The same unit behind two stages of registers, with other ports, an enable, and a reset of the first stage.
PIPELINE = """
module pipeline (
  input wire clk, input wire rst_n, input wire enable,
  input wire [15:0] x0, input wire [15:0] x1, input wire [39:0] y, input wire [31:0] z,
  output wire [35:0] r
);
  reg [15:0] x0_q, x1_q;
  reg [31:0] y_q, z_q, d_q;
  wire [31:0] d;
  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin x0_q <= 0; x1_q <= 0; y_q <= 0; z_q <= 0; end
    else if (enable) begin x0_q <= x0; x1_q <= x1; y_q <= y[35:4]; z_q <= z; end
  tcformal_valpey_terms_3 dot (.a({x1_q, x0_q}), .b(y_q), .c(z_q), .d(d));
  always @(posedge clk) d_q <= d;
  assign r = {d_q, 4'b0};
endmodule
"""
MAPS = ["--map", "a[0]=x0", "--map", "a[1]=x1", "--map", "b=y[35:4]", "--map", "c=z", "--map", "d=r[35:4]"]
TIES = ["--tie", "rst_n=1", "--tie", "enable=1'b1"]


def pipeline(folder: Path) -> list[str | Path]:
    """The files and options of the pipeline; its latency is not among them."""
    path = folder / "pipeline.v"
    path.write_text(PIPELINE)
    return [path, exported_verilog(folder), "--top", "pipeline", *MAPS, *TIES]


def changed(path: Path, text: str, becomes: str) -> None:
    """One wrong place in a file."""
    before = path.read_text()
    assert before.count(text) == 1, text
    path.write_text(before.replace(text, becomes))


# ------------------------------------------------------------------------------ what yosys is asked for
def test_without_yosys_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    run = check(exported_verilog(tmp_path), "--top", NAME)
    assert (run.exit_code, run.output) == (
        3, "error: expected the program yosys, but it is not installed: apt-get install yosys\n",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["gone.v", "--top", "m"], "expected a file of RTL, but got gone.v"),
        (["gone.v", "--top", "m", "--latency", "257"], "from 0 to 256 for --latency, but got 257"),
        (["gone.v", "--top", "m", "--tie", "x"], "expected NAME=VALUE"),
    ],
)
def test_other_arguments_reject(words: list[str], sentence: str) -> None:
    run = check(*words)
    assert run.exit_code == 2
    assert sentence in run.output


@pytest.mark.debian
@pytest.mark.parametrize(
    ("text", "words", "sentence"),
    [
        ("module m(input a, output d); assign d = ; endmodule", [], "expected RTL that yosys reads"),
        (
            "module m(input [31:0] a, output d); assign d = a[0]; endmodule",
            [],
            "expected b in a port of the module",
        ),
        ("module n(input a, output d); assign d = a; endmodule", [], "expected RTL that yosys reads"),
        (
            "module m(input [31:0] a, b, c, input s, output [31:0] d); assign d = s ? a : c; endmodule",
            [],
            "to be mapped or tied, but got more: s[0:0]",
        ),
        (
            "module m(input [31:0] a, b, c, d, output [31:0] e); assign e = a; endmodule",
            [],
            "expected operands in inputs and d in an output",
        ),
        (
            "module m(input clk, input [31:0] a, b, c, output reg [31:0] d);\n"
            "always @(posedge clk) d <= d + c; endmodule",
            ["--latency", "5"],
            "what 1 registers held before",
        ),
    ],
    ids=["syntax", "port", "module", "free", "direction", "feedback"],
)
def test_other_modules_reject(tmp_path: Path, text: str, words: list[str], sentence: str) -> None:
    path = tmp_path / "m.v"
    path.write_text(text + "\n")
    run = check(path, "--top", "m", *words)
    assert run.exit_code == 2
    assert sentence in run.output


# ------------------------------------------------------------------------------ equal and unequal
@pytest.mark.debian
def test_the_exported_unit_is_the_unit(tmp_path: Path) -> None:
    run = check(exported_verilog(tmp_path), "--top", NAME, "--json")
    data: dict[str, Any] = json.loads(run.stdout)
    assert (run.exit_code, data["verdict"]) == (0, "EQUIVALENT")
    assert data["certificate"] or data["confirmed_by"]


@pytest.mark.debian
def test_a_certificate_is_made_where_it_is_asked_for(tmp_path: Path) -> None:
    run = check(exported_verilog(tmp_path), "--top", NAME, "--certify", "--json")
    assert json.loads(run.stdout)["certificate"] is not None


@pytest.mark.debian
@pytest.mark.parametrize(
    "fault",
    [
        ("b[31:16]", "b[31:17], 1'b0"),
        ("c;", "c & 32'hfffffffe;"),
    ],
    ids=["a bit of b is dropped", "a bit of c is dropped"],
)
def test_another_module_is_separated_and_its_bench_shows_it(tmp_path: Path, fault: tuple[str, str]) -> None:
    """A wrapper with one wrong connection; Verilator prints the result that the replay gave."""
    dot = exported_verilog(tmp_path)
    wrapper = tmp_path / "wrapper.v"
    wrapper.write_text(
        "module wrapper(input [31:0] a, b, c, output [31:0] d);\n"
        "  wire [31:0] b_used = {b[31:16], b[15:0]}, c_used = c;\n"
        f"  {NAME} dot (.a(a), .b(b_used), .c(c_used), .d(d));\nendmodule\n"
    )
    changed(wrapper, *fault)
    bench = tmp_path / "bench.sv"
    run = check(wrapper, dot, "--top", "wrapper", "--json", "-o", bench)
    data = json.loads(run.stdout)
    assert (run.exit_code, data["verdict"]) == (1, "SEPARATED")
    unit, module = (data["results"][name]["hex"].removeprefix("0x") for name in ("unit", "module"))
    assert unit != module
    printed = simulated(tmp_path, bench, wrapper, dot)
    assert f"wrapper: {module}, {UNIT}: {unit}\nDIFFER\n" in printed


@pytest.mark.debian
def test_the_bench_of_a_right_module_agrees(tmp_path: Path) -> None:
    """The bench of a wrong module, run on the right one: the difference is the module's."""
    dot = exported_verilog(tmp_path)
    right = dot.read_text()
    changed(dot, "  assign d = ", "  assign d = 32'h1 ^ ")
    bench = tmp_path / "bench.sv"
    assert check(dot, "--top", NAME, "-o", bench).exit_code == 1
    dot.write_text(right)
    assert "\nAGREE\n" in simulated(tmp_path, bench, dot)


@pytest.mark.debian
def test_a_pipeline_is_the_unit_after_its_latency(tmp_path: Path) -> None:
    words = pipeline(tmp_path)
    assert check(*words, "--latency", "2").output.startswith("EQUIVALENT")
    early = check(*words, "--latency", "1")
    assert early.exit_code == 2
    assert "registers held before: a pipeline has a larger latency" in early.output


@pytest.mark.debian
def test_the_bench_of_a_pipeline_has_its_clock(tmp_path: Path) -> None:
    words = pipeline(tmp_path)
    changed(tmp_path / "pipeline.v", "d_q <= d;", "d_q <= d + 1;")
    bench = tmp_path / "bench.sv"
    run = check(*words, "--latency", "2", "--json", "-o", bench)
    module = json.loads(run.stdout)["results"]["module"]["hex"].removeprefix("0x")
    printed = simulated(tmp_path, bench, tmp_path / "pipeline.v", tmp_path / "unit.sv")
    assert f"pipeline: {module}, " in printed
    assert "\nDIFFER\n" in printed


@pytest.mark.debian
def test_parameters_macros_and_includes(tmp_path: Path) -> None:
    """A parameter and a macro say which bits are dropped: none, as it should be."""
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "mask.vh").write_text("wire [31:0] masked = c & ~(MASK | `EXTRA);\n")
    wrapper = tmp_path / "wrapper.v"
    wrapper.write_text(
        "module wrapper #(parameter MASK = 1) (input [31:0] a, b, c, output [31:0] d);\n"
        f'`include "mask.vh"\n  {NAME} dot (.a(a), .b(b), .c(masked), .d(d));\nendmodule\n'
    )
    words: list[str | Path] = [
        wrapper,
        exported_verilog(tmp_path),
        "--top",
        "wrapper",
        "-I",
        tmp_path / "inc",
    ]
    assert check(*words, "-D", "EXTRA=0", "--param", "MASK=0").exit_code == 0
    assert check(*words, "-D", "EXTRA=0").exit_code == 1
    assert check(*words, "-D", "EXTRA=2", "--param", "MASK=0").exit_code == 1
