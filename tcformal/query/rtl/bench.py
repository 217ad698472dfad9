"""A test bench that shows a witness in the user's own simulator."""

from __future__ import annotations

from tcformal.oracle.values import value_data
from tcformal.query.pair import EqualityQuestion
from tcformal.query.replay import EqualityReplay
from tcformal.query.rtl.check import RtlModule

_BENCH = """\
// {module} against {unit}: on these inputs the unit gives {expected} and the netlist {got}.
// Prints both and ends.
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

    Shapes: input ports that carry no operand, are not tied and are no clock are zero.
    """
    values, p = module.port_values(q.first, replayed.witness), module.result
    lines, clock = [], module.clocking
    for port, width in module.flat.inputs.items():
        idle = 0 if port != clock.port or clock.rising else (1 << width) - 1
        value, _ = values.get(port, (idle, width))
        lines.append(f"  reg [{width - 1}:0] {port} = {width}'h{value:x};")
    edges = ""
    if module.latency and clock.port is not None:
        edges = f"    repeat ({2 * module.latency}) begin #1; {clock.port} = ~{clock.port}; end\n"
    whole = module.flat.outputs[p.port]
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
        connections=", ".join(f".{port}({port})" for port in [*module.flat.inputs, p.port]),
        edges=edges,
        result=p.port if p.high - p.low + 1 == whole else f"{p.port}[{p.high}:{p.low}]",
        width=p.high - p.low + 1,
        expected_hex=f"{replayed.integers[0]:0{-(-d.width // 4)}x}",
    )
