"""A test bench that shows a witness in the user's own simulator."""

from __future__ import annotations

from tcformal.oracle.values import value_data
from tcformal.query.pair import EqualityQuestion
from tcformal.query.replay import EqualityReplay
from tcformal.rtl.check import RtlModule

_BENCH = """\
// {module} against {unit}: on these inputs the unit gives {expected} and the netlist {got}.
// Prints both and ends; a register is clocked by every input that has no value here.
`timescale 1ns / 1ns
module tcformal_bench;
{declarations}
  wire [{top}:0] {output};
  {module}{parameters} dut ({connections});
  initial begin
{edges}    #1;
    $display("{module}: %h, {unit}: {expected_hex}", {result});
    if ({result} === {width}'h{expected_hex}) $display("AGREE");
    else $display("DIFFER");
    $finish;
  end
endmodule
"""


def witness_bench(q: EqualityQuestion, module: RtlModule, replayed: EqualityReplay) -> str:
    """A test bench in SystemVerilog: the witness at the ports, `latency` clock edges, the result.

    Shapes: input ports that carry no operand and are not tied are taken to be clocks; all are driven alike.
    """
    values, p = module.port_values(q.first, replayed.witness), module.result
    lines, clocks = [], []
    for port, width in module.netlist.inputs.items():
        value, _ = values.get(port, (0, width))
        lines.append(f"  reg [{width - 1}:0] {port} = {width}'h{value:x};")
        if port not in values:
            clocks.append(port)
    toggle = " ".join(f"{port} = ~{port};" for port in clocks)
    edges = f"    repeat ({2 * module.latency}) begin #1; {toggle} end\n" if module.latency else ""
    whole = module.netlist.outputs[p.port]
    d = q.first.operands.d
    settings = ", ".join(f".{name}({value})" for name, _, value in
                         (text.partition("=") for text in module.source.parameters))  # fmt: skip
    return _BENCH.format(
        module=module.source.top,
        parameters=f" #({settings})" if settings else "",
        unit=q.first.name,
        expected=value_data(d, replayed.integers[0])["value"],
        got=value_data(d, replayed.integers[1])["value"],
        declarations="\n".join(lines),
        top=whole - 1,
        output=p.port,
        connections=", ".join(f".{port}({port})" for port in [*module.netlist.inputs, p.port]),
        edges=edges,
        result=p.port if p.high - p.low + 1 == whole else f"{p.port}[{p.high}:{p.low}]",
        width=p.high - p.low + 1,
        expected_hex=f"{replayed.integers[0]:0{-(-d.width // 4)}x}",
    )
