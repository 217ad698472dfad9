"""`check-rtl`: does somebody's Verilog of a dot product ever differ from a unit?"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from tcformal.cli.group import NO_ANSWER, OK, OTHERWISE, Answer, json_option, main, write_output
from tcformal.cli.solver_options import SolverOptions, solver_options
from tcformal.design.names import resolve
from tcformal.query.assume import from_texts
from tcformal.query.engine import answer
from tcformal.query.pair import EqualityQuestion
from tcformal.query.question import Kind
from tcformal.query.rtl import RtlModule, read_module, rtl_question, tied, witness_bench
from tcformal.query.yosys import RtlSource
from tcformal.report.escape import say
from tcformal.report.parts import telling
from tcformal.report.tables import verdict_view
from tcformal.report.text import console


@main.command(name="check-rtl")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--top", required=True, help="The module.")
@click.option("--against", "unit", required=True, metavar="UNIT", help="The unit that it should be.")
@click.option("--map", "maps", multiple=True, metavar="a[0]=PORT[15:0]", help="Where an operand, "
              "one element of it, or d is; by default in a port of its own name.")  # fmt: skip
@click.option("--tie", "ties", multiple=True, metavar="PORT=VALUE", help="An input that stays constant.")
@click.option("--latency", default=0, show_default=True, help="Clock edges from the operands to d.")
@click.option("--param", multiple=True, metavar="NAME=VALUE", help="A parameter of the module.")
@click.option("-D", "--define", multiple=True, metavar="NAME=VALUE", help="A macro.")
@click.option("-I", "--include", multiple=True, metavar="DIR", help="A folder of included files.")
@click.option(
    "--yosys", default="yosys", show_default=True, metavar="PROGRAM", help="yosys-compatible program."
)
@click.option("--slang", is_flag=True, help="Read by the frontend slang, which that program must have.")
@click.option("--assume", multiple=True, metavar="WHAT", help="As of separate; may be repeated.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="A test bench that shows the witness.")
@solver_options("fresh", "folder")
@json_option
def check_rtl(
    files: Sequence[str], top: str, unit: str, maps: Sequence[str], ties: Sequence[str], latency: int,
    param: Sequence[str], define: Sequence[str], include: Sequence[str], yosys: str, slang: bool,
    assume: Sequence[str], output: str | None, how: SolverOptions,
) -> Answer:  # fmt: skip
    """Compare Verilog of one dot product with a unit (exit 0 if they are equal on all inputs).

    yosys reads FILE and flattens the module; its netlist and the unit become one question for the solvers.
    SEPARATED comes with a shrunk witness, replayed by yosys on the RTL, and with -o as a test bench.

    Operands are packed with element 0 in the lowest bits, unless --map names the bits of each element.  A
    module with registers is followed for --latency clock edges, its inputs held, from registers of any
    content; enables, resets, rounding modes and the like are given their values by --tie.  Registers have to
    be clocked by one edge of one port; the answer names it.  Undefined bits (x) count as zeros.  Answers are
    not kept.
    """
    spec = resolve(unit)
    source = RtlSource(
        files=[Path(name) for name in files], top=top, parameters=param, defines=define,
        includes=[Path(name) for name in include], program=yosys, slang=slang,
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="tcformal-rtl-") as name:
        module = read_module(source, spec, Path(name), maps=maps, ties=dict(map(tied, ties)), latency=latency)
        q: EqualityQuestion = rtl_question(spec, module, from_texts(spec.operands.c, assume))
        with telling(unit, how.limits.time_s) as tell:
            v = answer(q, replace(how, progress=tell))
        if output is not None and v.replayed is not None:
            write_output(output, witness_bench(q, module, v.replayed).encode())
    data = v.to_json() | {"module": module.assumed(), "undefined": module.undefined}
    otherwise = OTHERWISE if v.kind in (Kind.SEPARATED, Kind.VACUOUS) else NO_ANSWER

    def text() -> None:
        console().print(verdict_view(v))
        say(_assumed(module))

    return Answer(data, text, OK if v.kind is Kind.EQUIVALENT else otherwise)


def _assumed(module: RtlModule) -> str:
    """What the answer assumes of the module, in a sentence."""
    clock, edges = module.clocking, "1 edge" if module.latency == 1 else f"{module.latency} edges"
    held = [f"{port}={value}" for port, value in module.ties.items()]
    parts = ["no registers" if clock.port is None else
             f"registers of any content, clocked by the {clock.edge} edge of {clock.signal}, {edges} after "
             "the operands"]  # fmt: skip
    parts += [f"{', '.join(held)} held"] if held else []
    parts += [c.text for c in clock.controls]
    if module.undefined:
        parts.append(f"{module.undefined} undefined bits (x) counted as zeros")
    return f"assumed of {module.source.top}: {'; '.join(parts)}"
