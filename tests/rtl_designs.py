"""Verilog around a unit: registers with a clock that can be followed, and with one that cannot."""

# ruff: noqa: E501
from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

UNIT = "valpey@terms=2"
#: The unit's own export inside, and `x`, its result.
_HEAD = """
module {name}(input clk, input clk2, input [1:0] clks, input rst_n, input en,
              input [15:0] a, input [15:0] b, input [31:0] c, output wire [31:0] d, output reg [3:0] other);
  wire [31:0] x; tcformal_valpey_terms_2 u(.a(a), .b(b), .c(c), .d(x));
  {body}
endmodule
{more}
"""


@dataclass(frozen=True, slots=True)
class Design:
    """A module's body, other modules, ties, and when its result is there."""

    body: str
    more: str = ""
    ties: dict[str, int] = field(default_factory=dict)
    latency: int = 1
    #: The clock and its edge in the answer, or the sentence of the refusal.
    clock: tuple[str, str] | None = ("clk", "rising")
    sentence: str = ""
    undefined: int = 0

    def verilog(self, name: str) -> str:
        """The text of the module under a name; modules that it uses are named after it."""
        text = _HEAD.format(name=name, body=self.body, more=self.more)
        return text.replace("inner", f"{name}_inner")


def simulated(folder: Path, *files: Path) -> str:
    """What a test bench prints in Verilator."""
    command = [
        "verilator",
        "--binary",
        "--timing",
        "--top",
        "tcformal_bench",
        "--Mdir",
        folder / "built",
        *files,
    ]
    # Designs are written to be read wrongly: what Verilator warns of is their business.
    command += ["-Wno-fatal", "-Wno-lint", "-Wno-MULTIDRIVEN", "-Wno-INITIALDLY"]
    # What is compiled runs for a moment: not worth a compiler's optimisation.
    command += [x for name in ("FAST", "SLOW", "GLOBAL") for x in ("-MAKEFLAGS", f"OPT_{name}=-O0")]
    built = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
    assert built.returncode == 0, built.stderr[-2000:]
    done = subprocess.run([folder / "built" / "Vtcformal_bench"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    return done.stdout


def _refused(body: str, sentence: str, more: str = "", **ties: int) -> Design:
    return Design(body, more, ties, sentence=sentence)


_STORE = "reg [31:0] q; always @(posedge {g}) q <= x; assign d = q;"

#: Designs that are the unit, with what the answer has to say of their clock.
FOLLOWED = {
    "rising edge": Design(_STORE.format(g="clk")),
    "falling edge": Design(_STORE.replace("posedge", "negedge").format(g="clk"), clock=("clk", "falling")),
    "inverted clock": Design("wire g = ~clk; " + _STORE.format(g="g"), clock=("clk", "falling")),
    "inverted twice": Design("wire g = !clk, h = ~g; " + _STORE.format(g="h")),
    "bit of a port": Design(_STORE.format(g="clks[1]"), clock=("clks[1]", "rising")),
    "gate that is tied open": Design("wire g = clk & en; " + _STORE.format(g="g"), ties={"en": 1}),
    "clock that is chosen by a tie": Design(
        "wire g = en ? clk2 : clk; " + _STORE.format(g="g"), ties={"en": 1}, clock=("clk2", "rising")
    ),
    "through two levels": Design(
        "wire [31:0] y; inner_one i(.tick(clk), .s(x), .t(y)); inner_two j(.clk(clk), .x(y), .q(d));",
        "module inner_one(input tick, input [31:0] s, output [31:0] t);\n"
        "inner_two k(.clk(tick), .x(s), .q(t)); endmodule\n"
        "module inner_two(input clk, input [31:0] x, output reg [31:0] q);\n"
        "always @(posedge clk) q <= x; endmodule",
        latency=2,
    ),
    "asynchronous reset": Design(
        "reg [31:0] q; always @(posedge clk or negedge rst_n) if (!rst_n) q <= 0; else q <= x; assign d = q;",
        ties={"rst_n": 1},
    ),
    "asynchronous load": Design(
        "reg [31:0] q; always @(posedge clk or negedge rst_n) if (!rst_n) q <= c; else q <= x; assign d = q;",
        ties={"rst_n": 1},
    ),
    "reset synchroniser": Design(
        "reg r, s; always @(posedge clk or negedge rst_n) if (!rst_n) {s, r} <= 0; else {s, r} <= {r, 1'b1};\n"
        "reg [31:0] q; always @(posedge clk or negedge s) if (!s) q <= 0; else q <= x; assign d = q;",
        ties={"rst_n": 1},
        latency=3,
    ),
    "synchronous reset and enable": Design(
        "reg [31:0] q; always @(posedge clk) if (!rst_n) q <= 0; else if (en) q <= x; assign d = q;",
        ties={"rst_n": 1, "en": 1},
    ),
    "initial values": Design(
        "reg go = 0; reg [31:0] q = 7; always @(posedge clk) begin go <= 1; q <= go ? x : 0; end assign d = q;",
        latency=2,
    ),
    "memory that is written": Design(
        "reg [31:0] m[0:3]; always @(posedge clk) m[2] <= x; assign d = m[2];",
    ),
    "memory with a content": Design(
        "reg [31:0] m[0:1]; initial begin m[0] = 0; m[1] = 0; end assign d = x ^ m[a[0]];",
        latency=0,
        clock=None,
    ),
    "latch that is tied open": Design(
        "reg [31:0] q; always @* if (en) q = x; assign d = q;", ties={"en": 1}, latency=0, clock=None
    ),
    "another clock beside": Design(
        "always @(posedge clk2) other <= other + 1; " + _STORE.format(g="clk"),
    ),
    "a kept hierarchy": Design(
        "inner i(.clk(clk), .x(x), .q(d));",
        "(* keep_hierarchy *) module inner(input clk, input [31:0] x, output reg [31:0] q);\n"
        "always @(posedge clk) q <= x; endmodule",
    ),
    "undefined bits that nobody sees": Design(
        "wire [31:0] y = en ? x : 32'bx; " + _STORE.replace("x;", "y;").format(g="clk"),
        ties={"en": 1},
    ),
}

_MADE = "clocked by {}, which logic makes"
#: Designs that are refused, each in one sentence.
REFUSED = {
    "gated by data": _refused("wire g = clk & (c != 32'h3f800000); " + _STORE.format(g="g"), _MADE.format("g")),
    "gated by an enable": _refused("wire g = clk & en; " + _STORE.format(g="g"), _MADE.format("g")),
    "gated by a latch": _refused(
        "reg l; always @* if (!clk) l = en; wire g = clk & l; " + _STORE.format(g="g"), "expected", en=1
    ),
    "xored": _refused("wire g = clk ^ (c == 32'h3f800000); " + _STORE.format(g="g"), _MADE.format("g")),
    "divided": _refused(
        "reg h; always @(posedge clk) h <= ~h; " + _STORE.format(g="h"), _MADE.format("h")
    ),
    "made by a register of data": _refused(
        "reg h; always @(posedge clk) h <= c[0]; " + _STORE.format(g="h"), _MADE.format("h")
    ),
    "from a table": _refused(
        "wire [1:0] t = 2'b10; wire g = t[clk ^ c[0]]; " + _STORE.format(g="g"), "which logic makes"
    ),
    "from a choice": _refused("wire g = en ? clk : clk2; " + _STORE.format(g="g"), _MADE.format("g")),
    "result": _refused("wire g = x[31]; " + _STORE.format(g="g"), "clocked by"),
    "bit of an operand": _refused(_STORE.format(g="c[0]"), "clocked by c[0], which carries c"),
    "tied": _refused(_STORE.format(g="clk"), "but clk is constant once ports are tied", clk=1),
    "tied enable": _refused(_STORE.format(g="en"), "but en is constant once ports are tied", en=1),
    "constant": _refused(_STORE.format(g="1'b0"), "is constant"),
    "two clocks": _refused(
        "reg [31:0] q, r; always @(posedge clk) q <= x; always @(posedge clk2) r <= q; assign d = r;",
        "expected one edge of one clock, but got 2",
    ),
    "two bits of one port": _refused(
        "reg [31:0] q, r; always @(posedge clks[0]) q <= x; always @(posedge clks[1]) r <= q; assign d = r;",
        "expected one edge of one clock, but got 2",
    ),
    "two edges": _refused(
        "reg [31:0] q, r; always @(posedge clk) q <= x; always @(negedge clk) r <= q; assign d = r;",
        "expected one edge of one clock, but got 2",
    ),
    "two edges under one name": _refused(
        "wire [31:0] y; inner i(.clk(clk), .x(x), .q(y)); inner j(.clk(~clk), .x(y), .q(d));",
        "expected one edge of one clock, but got 2",
        "module inner(input clk, input [31:0] x, output reg [31:0] q);\n"
        "always @(posedge clk) q <= x; endmodule",
    ),
    "clock as a value": _refused(
        "reg [31:0] q; always @(posedge clk) q <= x; assign d = clk ? q : c;", "got more: clk[0:0]"
    ),
    "latch on the clock": _refused(
        "reg [31:0] q; always @* if (clk) q = x; assign d = q;", "enable of a latch to be constant"
    ),
    "latch on data": _refused(
        "reg [31:0] q; always @* if (c[0]) q = x; assign d = q;", "enable of a latch to be constant"
    ),
    "latch on an enable": _refused(
        "reg [31:0] q; always @* if (en) q = x; assign d = q;", "enable of a latch to be constant"
    ),
    "closed latch": _refused(
        "reg [31:0] q; always @* if (en) q = x; assign d = q;", "registers held before", en=0
    ),
    "asynchronous reset by data": _refused(
        "reg [31:0] q; always @(posedge clk or posedge c[0]) if (c[0]) q <= 0; else q <= x; assign d = q;",
        "expected the reset to be constant",
    ),
    "asynchronous set by data": _refused(
        "reg [31:0] q; always @(posedge clk or negedge c[0]) if (!c[0]) q <= ~0; else q <= x; assign d = q;",
        "expected the reset to be constant",
    ),
    "asynchronous load by data": _refused(
        "reg [31:0] q; always @(posedge clk or posedge c[0]) if (c[0]) q <= x; else q <= x; assign d = q;",
        "expected",
    ),
    "asynchronous load of data": _refused(
        "reg [31:0] q; always @(posedge clk or posedge en) if (en) q <= c; else q <= x; assign d = q;",
        "expected the load to be constant",
    ),
    "set and reset by data": _refused(
        "reg q; always @(posedge clk or posedge c[0] or posedge c[1])\n"
        "if (c[0]) q <= 0; else if (c[1]) q <= 1; else q <= x[0]; assign d = {x[31:1], q};",
        "to be constant",
    ),
    "never loaded": _refused(
        "reg [31:0] q = 5; always @(posedge clk) if (!rst_n) q <= x; assign d = q;",
        "registers held before", rst_n=1,
    ),
    "gates that hold": _refused(
        "wire s, r; assign s = ~(r & c[0]); assign r = ~(s & c[1]); assign d = {x[31:1], s};", "a loop"
    ),
    "tri-state": _refused("assign d = (c != 32'h3f800000) ? x : 32'bz;", "expected RTL without tri-state"),
    "tri-state primitive": _refused(
        "assign d[31:1] = x[31:1]; bufif1 i(d[0], x[0], c[0]);", "expected"
    ),
    "always z": _refused("assign d = 32'bz;", "expected RTL without tri-state"),
    "tri-state below": _refused(
        "inner i(.x(x), .s(c[0]), .q(d));", "expected RTL without tri-state",
        "module inner(input [31:0] x, input s, output [31:0] q); assign q = s ? x : 32'bz; endmodule",
    ),
    "black box": _refused(
        "inner i(.x(x), .q(d));", "black box",
        "(* blackbox *) module inner(input [31:0] x, output [31:0] q); endmodule",
    ),
    "missing module": _refused("inner i(.x(x), .q(d));", "expected RTL that yosys reads"),
    "memory without content": _refused(
        "reg [31:0] m[0:3]; assign d = x ^ m[a[1:0]];", "expected memories that are written"
    ),
    "memory without clock": _refused(
        "reg [31:0] m[0:3]; always @* if (en) m[a[1:0]] = x; assign d = m[a[1:0]];", "expected"
    ),
    "nothing drives": _refused("wire [31:0] y; assign d = x ^ y;", "nothing drives"),
    "register that nothing loads": _refused("reg [31:0] y; assign d = x ^ y;", "nothing drives"),
    "unconnected input": _refused(
        "inner i(.s(), .q(d)); ", "nothing drives",
        "module inner(input [31:0] s, output [31:0] q); assign q = s; endmodule",
    ),
    "two assignments": _refused("assign d = x; assign d = c;", "expected one driver of each wire"),
    "two constants": _refused(
        "wire [31:0] y; assign y[3:0] = 0; assign y = 32'h1; assign d = x ^ y;", "expected one driver of each wire"
    ),
    "wire and constant": _refused("assign d = x; assign d = 32'h0;", "driving constant bits"),
    "two processes": _refused(
        "reg [31:0] q; always @(posedge clk) q <= x; always @(posedge clk) q <= c; assign d = q;",
        "expected one driver of each wire",
    ),
    "register and constant": _refused(
        "reg [31:0] q; always @(posedge clk) q <= x; assign q[3] = 1'b0; assign d = q;",
        "expected one driver of each wire",
    ),
    "logic and constant": _refused(
        "assign d = x ^ c; assign d[3] = 1'b0;", "expected one driver of each wire"
    ),
    "input that is driven": _refused("assign c = 32'h0; assign d = x;", "expected one driver of each wire"),
    "free value": _refused("wire [31:0] y = $anyconst; assign d = x ^ y;", "expected"),
}  # fmt: skip
