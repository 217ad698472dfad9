"""Exported designs in the tools of their users: one reader for each tool, which gives results on inputs."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import and_, or_, xor
from pathlib import Path
from typing import Any

import bitwuzla
import cvc5
import numpy as np
import z3

from dags import random_inputs
from tcformal.backends.concrete import Concrete
from tcformal.backends.export.exportable import ExportedDesign, ExportPort
from tcformal.design.names import resolve
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import from_json, to_json
from tcformal.programs.exported import exported
from tcformal.simulation.operands.batch import batch

#: Inputs of one run: a value for each input of the DAG.
Given = Mapping[str, int]
#: The results that a tool gives on inputs, for a design that is written in a file.
Reader = Callable[[ExportedDesign, Path, Sequence[Given]], list[int]]


def design_of(name: str) -> ExportedDesign:
    """A unit's design."""
    return exported(resolve(name))


def seeded(name: str, count: int, seed: int) -> list[Given]:
    """Inputs of all families: NaN, Inf, subnormals, zeros, cancelling products, any bits."""
    spec = resolve(name)
    made = batch(spec, spec.k, count, seed).named()
    rows: list[Given] = []
    for i in range(count):
        row: dict[str, int] = {"c": int(made["c"][i])}
        for port in made.keys() - {"c"}:
            row |= {f"{port}[{j}]": int(x) for j, x in enumerate(made[port][i])}
        rows.append(row)
    return rows


def of_graph(graph: Graph, root: Node) -> ExportedDesign:
    """Any DAG as a design: each of its inputs is a port called x0, x1, …"""
    ports = [
        ExportPort(f"x{i}", (name,), node.width, "bits", array=False)
        for i, (name, node) in enumerate(graph.inputs.items())
    ]
    return ExportedDesign("tcformal_any", graph, root, tuple(ports), "bits", ("any DAG",))


def narrow(graph: Graph, roots: Sequence[Node], width: int) -> tuple[Graph, Node]:
    """A DAG of at most 64 result bits from which every root can be seen, and only what it needs."""
    total = graph.const(0, width)
    for root in roots:
        grown = graph.concat(root, graph.const(0, -root.width % width)) if root.width % width else root
        total = graph.concat(graph.extract(total, width - 2, 0), graph.top(total))
        for low in range(0, grown.width, width):
            total = graph.xor(total, graph.extract(grown, low + width - 1, low))
    made, named = from_json(to_json(graph, {"d": total}))
    return made, named["d"]


def random_rows(rng: Any, graph: Graph, count: int) -> list[Given]:
    """Inputs for any DAG."""
    return [random_inputs(rng, graph) for _ in range(count)]


def expected(design: ExportedDesign, rows: Sequence[Given]) -> list[int]:
    """The results of the integer interpretation."""
    run = Concrete(design.graph, [design.root])
    return [run(row)[0] for row in rows]


def symbols(design: ExportedDesign, row: Given) -> dict[str, tuple[int, int]]:
    """The value and width of each element, by the name that it has in the files."""
    return {
        symbol: (row[name], p.width)
        for p in design.ports
        for name, symbol in zip(p.inputs, p.symbols, strict=True)
    }


def packed(design: ExportedDesign, row: Given) -> dict[str, tuple[int, int]]:
    """The value and width of each port, element 0 in the lowest bits."""
    return {
        p.name: (sum(row[x] << p.width * i for i, x in enumerate(p.inputs)), p.width * len(p.inputs))
        for p in design.ports
    }


def run(command: Sequence[str | Path], given: str = "", folder: Path | None = None) -> str:
    """What a program prints; its complaint where it fails."""
    done = subprocess.run(
        list(map(str, command)), input=given, cwd=folder, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


# ------------------------------------------------------------------------------------------- JSON, C
def read_json(_: ExportedDesign, path: Path, rows: Sequence[Given]) -> list[int]:
    """The DAG read back, on integers."""
    graph, roots = from_json(path.read_text())
    evaluate = Concrete(graph, [roots["d"]])
    return [evaluate(row)[0] for row in rows]


def c_program(design: ExportedDesign, path: Path) -> str:
    """A program that reads elements as hexadecimal numbers and prints results."""
    count = sum(len(p.inputs) for p in design.ports)
    lines = ["#include <stdio.h>", f'#include "{path.name}"', "int main(void)", "{"]
    lines += [f"    unsigned long long v[{count}];", "    for (;;) {"]
    lines += [f"        for (int i = 0; i < {count}; i++)", '            if (scanf("%llx", v + i) != 1)']
    lines += ["                return 0;"]
    at, arguments = 0, []
    for p in design.ports:
        word = f"uint{next(b for b in (8, 16, 32, 64) if b >= p.width)}_t"
        elements = ", ".join(f"({word})v[{at + i}]" for i in range(len(p.inputs)))
        at += len(p.inputs)
        if p.array:
            lines.append(f"        const {word} {p.name}[] = {{{elements}}};")
        arguments.append(p.name if p.array else elements)
    call = f"{design.name}({', '.join(arguments)})"
    lines += [f'        printf("%llx\\n", (unsigned long long){call});', "    }", "}"]
    return "\n".join(lines) + "\n"


def read_c(design: ExportedDesign, path: Path, rows: Sequence[Given]) -> list[int]:
    """The header compiled by gcc without a warning, and run with checks of undefined behaviour."""
    header = path.with_suffix(".h")
    header.write_bytes(path.read_bytes())
    main, program = path.with_suffix(".main.c"), path.with_suffix(".program")
    main.write_text(c_program(design, header))
    # A random DAG may compare a value with itself, or with what is never below it.
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-tautological-compare"]
    strict += ["-Wno-type-limits", "-fsanitize=undefined"]
    run(["gcc", *strict, "-fno-sanitize-recover", "-O0", "-o", program, main])
    text = "\n".join(" ".join(f"{x:x}" for x, _ in symbols(design, row).values()) for row in rows)
    return [int(x, 16) for x in run([program], text).split()]


# ------------------------------------------------------------------------------------------- solvers
def read_z3(design: ExportedDesign, path: Path, rows: Sequence[Given]) -> list[int]:
    """z3 reads the script; the definition of d is evaluated in a model."""
    width = design.root.width
    extra = f"(declare-const result (_ BitVec {width}))(assert (= d result))"
    (claim,) = z3.parse_smt2_string(path.read_text() + extra)
    (d,) = [x for x in claim.children() if not z3.is_const(x)]
    results = []
    for row in rows:
        model = z3.Model()
        for s, (x, w) in symbols(design, row).items():
            model.update_value(z3.BitVec(s, w), z3.BitVecVal(x, w))
        results.append(model.eval(d).as_long())
    return results


def read_cvc5(design: ExportedDesign, path: Path, rows: Sequence[Given]) -> list[int]:
    """cvc5 reads the script, and gives d for asserted inputs."""
    text = ["(set-option :incremental true)", "(set-option :produce-models true)", path.read_text()]
    for row in rows:
        given = [f"(= {s} (_ bv{x} {w}))" for s, (x, w) in symbols(design, row).items()]
        text.append(f"(push 1)(assert (and {' '.join(given)}))(check-sat)(get-value (d))(pop 1)")
    solver = cvc5.Solver(cvc5.TermManager())
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, "\n".join(text), path.name)
    replies = []
    while not (command := parser.nextCommand()).isNull():
        replies.append(str(command.invoke(solver, parser.getSymbolManager())).strip())
    answers = [reply for reply in replies if reply]
    assert answers[::2] == ["sat"] * len(rows)
    return [int(re.findall(r"#b([01]+)", reply)[0], 2) for reply in answers[1::2]]


def _parsed(text: str, language: str) -> tuple[Any, Any]:
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    manager = bitwuzla.TermManager()
    parser = bitwuzla.Parser(manager, options, language)
    parser.parse(text, True, False)
    return manager, parser


def read_bitwuzla(design: ExportedDesign, path: Path, rows: Sequence[Given]) -> list[int]:
    """bitwuzla reads the script, and gives d for assumed inputs."""
    manager, parser = _parsed(path.read_text(), "smt2")
    solver, d, results = parser.bitwuzla(), parser.parse_term("d"), []
    for row in rows:
        given = []
        for s, (x, w) in symbols(design, row).items():
            value = manager.mk_bv_value(manager.mk_bv_sort(w), x)
            given.append(manager.mk_term(bitwuzla.Kind.EQUAL, [parser.parse_term(s), value]))
        assert solver.check_sat(*given) == bitwuzla.Result.SAT
        results.append(int(solver.get_value(d).value(2), 2))
    return results


def read_btor2(design: ExportedDesign, path: Path, rows: Sequence[Given]) -> list[int]:
    """bitwuzla reads the netlist; for each row the bits of d are asked by constraints.

    Its parser knows no `output`: that line becomes the constraint that d is what was expected, or not.
    """
    body, _, last = path.read_text().rstrip("\n").rpartition("\n")
    place, word, d, name = last.split()
    assert (word, name) == ("output", "d")
    elements = dict(re.findall(r"^(\d+) input \d+ (\w+)", body, re.MULTILINE))
    numbers = {symbol: line for line, symbol in elements.items()}
    results = []
    for row, right in zip(rows, expected(design, rows), strict=True):
        lines, at = [body, f"{place} sort bitvec 1"], int(place)
        pairs = [(numbers[s], x, w) for s, (x, w) in symbols(design, row).items()]
        for line, value, width in [*pairs, (d, right, design.root.width)]:
            lines += [
                f"{at + 1} sort bitvec {width}",
                f"{at + 2} const {at + 1} {value:0{width}b}",
                f"{at + 3} eq {place} {line} {at + 2}",
                f"{at + 4} constraint {at + 3}",
            ]
            at += 4
        _, parser = _parsed("\n".join(lines) + "\n", "btor2")
        same = parser.bitwuzla().check_sat() == bitwuzla.Result.SAT
        lines[-1] = f"{at} not {place} {at - 1}\n{at + 1} constraint {at}"
        _, parser = _parsed("\n".join(lines) + "\n", "btor2")
        other = parser.bitwuzla().check_sat() == bitwuzla.Result.SAT
        results.append(right if same and not other else right ^ 1)
    return results


def planes(design: ExportedDesign, rows: Sequence[Given]) -> dict[str, list[int]]:
    """Each bit of each element as one number, whose i-th bit is that of the i-th run."""
    found = {}
    for p in design.ports:
        for name, symbol in zip(p.inputs, p.symbols, strict=True):
            words = np.array([row[name] for row in rows], "<u8")
            bits = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
            packed_rows = np.packbits(bits[:, : p.width].T, axis=1, bitorder="little")
            found[symbol] = [int.from_bytes(plane.tobytes(), "little") for plane in packed_rows]
    return found


def by_runs(bits: Sequence[int], count: int) -> list[int]:
    """The words of all runs, of numbers with a bit for each run."""
    size = -(-count // 8)
    rows = np.frombuffer(b"".join(x.to_bytes(size, "little") for x in bits), np.uint8).reshape(
        len(bits), size
    )
    words = np.packbits(
        np.unpackbits(rows, axis=1, bitorder="little")[:, :count].T, axis=1, bitorder="little"
    )
    return [int.from_bytes(word.tobytes(), "little") for word in words]


def read_z3_gates(design: ExportedDesign, path: Path, rows: Sequence[Given]) -> list[int]:
    """z3 reads the script and makes formulas of its bits; each is evaluated on all inputs at once."""
    width = design.root.width
    extra = f"(declare-const result (_ BitVec {width}))(assert (= d result))"
    (claim,) = z3.parse_smt2_string(path.read_text() + extra)
    (d,) = [x for x in claim.children() if not z3.is_const(x)]
    given: dict[str, int] = {}
    one, zero, elements = z3.BitVecVal(1, 1), z3.BitVecVal(0, 1), []
    for symbol, bits in planes(design, rows).items():
        given |= {f"{symbol}!{i}": plane for i, plane in enumerate(bits)}
        parts = [z3.If(z3.Bool(f"{symbol}!{i}"), one, zero) for i in reversed(range(len(bits)))]
        word = z3.Concat(*parts) if len(parts) > 1 else parts[0]
        elements.append((z3.BitVec(symbol, len(bits)), word))
    goal, named = z3.Goal(), z3.substitute(d, *elements)
    goal.add(*(z3.Bool(f"d!{i}") == (z3.Extract(i, i, named) == one) for i in range(width)))
    results = {}
    known: dict[int, int] = {}
    for equation in z3.Tactic("bit-blast").apply(goal)[0]:
        sides = equation.children()
        (name,) = [x.decl().name() for x in sides if x.num_args() == 0 and x.decl().name().startswith("d!")]
        (bit,) = [x for x in sides if x.decl().name() != name]
        results[name] = _formula(bit, given, known, (1 << len(rows)) - 1)
    return by_runs([results[f"d!{i}"] for i in range(width)], len(rows))


def _formula(root: Any, given: Mapping[str, int], known: dict[int, int], ones: int) -> int:
    """A formula of z3, a bit for each run; `known` keeps what is shared."""
    stack = [(root, root.get_id(), [(x, x.get_id()) for x in root.children()])]
    while stack:
        node, name, below = stack[-1]
        # Each node is looked at once: wrapping it in an object of Python is what takes the time.
        todo = [(x, i, [(y, y.get_id()) for y in x.children()]) for x, i in below if i not in known]
        if todo:
            stack += todo
            continue
        stack.pop()
        declared = node.decl()
        x, kind = [known[i] for _, i in below], declared.kind()
        if kind == z3.Z3_OP_UNINTERPRETED:
            value = given[declared.name()]
        elif kind == z3.Z3_OP_NOT:
            value = x[0] ^ ones
        elif kind == z3.Z3_OP_ITE:
            value = x[0] & x[1] | (x[0] ^ ones) & x[2]
        elif kind == z3.Z3_OP_EQ:
            value = x[0] ^ x[1] ^ ones
        else:
            start = ones if kind in (z3.Z3_OP_TRUE, z3.Z3_OP_AND) else 0
            value = reduce(_BITWISE[kind], x, start)
        known[name] = value
    return known[root.get_id()]


#: Formulas of any number of arguments.
_BITWISE = {
    z3.Z3_OP_TRUE: and_, z3.Z3_OP_AND: and_, z3.Z3_OP_FALSE: or_, z3.Z3_OP_OR: or_, z3.Z3_OP_XOR: xor,
}  # fmt: skip


# ------------------------------------------------------------------------------------------- AIGER
def read_aiger(design: ExportedDesign, path: Path, rows: Sequence[Given]) -> list[int]:
    """A small reader of binary AIGER: every literal is a row of bits, one for each run."""
    data = path.read_bytes()
    head, _, rest = data.partition(b"\n")
    kind, *counts = head.split()
    most, n, latches, n_outputs, n_ands = map(int, counts)
    assert (kind, latches, most) == (b"aig", 0, n + n_ands)
    outputs = []
    for _ in range(n_outputs):
        line, _, rest = rest.partition(b"\n")
        outputs.append(int(line))
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = rest[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    ands = []
    for i in range(n_ands):
        left = 2 * (n + i + 1)
        high = left - number()
        ands.append((high, high - number()))
    table = rest[at:].decode().split("\nc\n")[0].split("\n")
    named = dict(line.split(" ", 1) for line in table)
    assert [named[f"o{i}"] for i in range(n_outputs)] == [f"d[{i}]" for i in range(n_outputs)]
    ones = (1 << len(rows)) - 1
    values = [0] * (most + 1)
    given = planes(design, rows)
    for i in range(n):
        symbol, bit = re.fullmatch(r"(\w+)\[(\d+)\]", named[f"i{i}"]).groups()  # type: ignore[union-attr]
        values[i + 1] = given[symbol][int(bit)]

    def literal(x: int) -> int:
        return values[x >> 1] ^ (ones if x & 1 else 0)

    for i, (x, y) in enumerate(ands):
        assert 2 * (n + i + 1) > x >= y
        values[n + i + 1] = literal(x) & literal(y)
    return by_runs([literal(x) for x in outputs], len(rows))


# ------------------------------------------------------------------------------------------- Verilog
def read_yosys(design: ExportedDesign, path: Path, rows: Sequence[Given]) -> list[int]:
    """yosys reads the module, checks it, and evaluates it."""
    script = [f"read_verilog -sv {path.name}", f"hierarchy -check -top {design.name}", "proc; check -assert"]
    for row in rows:
        given = " ".join(f"-set {p} {w}'b{x:0{w}b}" for p, (x, w) in packed(design, row).items())
        script.append(f"eval {given} -show d")
    path.with_suffix(".ys").write_text("\n".join(script) + "\n")
    text = run(["yosys", "-s", path.with_suffix(".ys")], folder=path.parent)
    found = re.findall(r"^Eval result: \\d = (?:(\d+)|\d+'([01]+))\.", text, re.MULTILINE)
    return [int(decimal or bits, 10 if decimal else 2) for decimal, bits in found]


BENCH = """
module bench;
{declarations}
  wire [{width}-1:0] d;
  {name} unit ({connections});
{dpi}
  integer file, got;
  initial begin
    file = $fopen("inputs", "r");
    got = $fscanf(file, "{formats}\\n", {targets});
    while (got == {count}) begin
      {assignments}
      #1;
      {call}
      $display("%h {shown}", d{more});
      got = $fscanf(file, "{formats}\\n", {targets});
    end
    $finish;
  end
endmodule
"""


def read_verilator(
    design: ExportedDesign, path: Path, rows: Sequence[Given], header: Path | None = None
) -> list[int]:
    """Verilator runs the module in a test bench; with a C header, its DPI-C function must say the same."""
    source, bench = path.with_suffix(".sv"), path.with_suffix(".bench.sv")
    source.write_bytes(path.read_bytes())
    ports = [(p.name, p.width * len(p.inputs)) for p in design.ports]
    width, command = design.root.width, ["verilator", "--binary", "--top", "bench", "--Mdir", "built"]
    # What is compiled runs for a moment: not worth a compiler's optimisation.
    command += [x for name in ("FAST", "SLOW", "GLOBAL") for x in ("-MAKEFLAGS", f"OPT_{name}=-O0")]
    command += [source.name, bench.name]
    fill = {"dpi": "", "call": "", "shown": "", "more": ""}
    if header is not None:
        (imported,) = re.findall(r"import .*;", header.read_text())
        wrapper = path.with_suffix(".dpi.c")
        wrapper.write_text(f'#define TCFORMAL_DPI\n#include "{header.name}"\n')
        called = ", ".join(name for name, _ in ports)
        fill = {
            "dpi": f"  {imported}\n  bit [{width - 1}:0] other;",
            "call": f"{design.name}_dpi({called}, other);",
            "shown": "%h",
            "more": ", other",
        }
        command.append(wrapper.name)
    bench.write_text(
        BENCH.format(
            name=design.name,
            declarations="\n".join(f"  reg [{w - 1}:0] {name}, {name}_read;" for name, w in ports),
            width=width,
            connections=", ".join(f".{name}({name})" for name in [*(name for name, _ in ports), "d"]),
            formats=" ".join(["%h"] * len(ports)),
            targets=", ".join(f"{name}_read" for name, _ in ports),
            assignments=" ".join(f"{name} = {name}_read;" for name, _ in ports),
            count=len(ports),
            **fill,
        )
    )
    text = "\n".join(" ".join(f"{x:x}" for x, _ in packed(design, row).values()) for row in rows)
    (path.parent / "inputs").write_text(text + "\n")
    run(command, folder=path.parent)
    printed = run([path.parent / "built" / "Vbench"], folder=path.parent)
    found = [line.split() for line in printed.splitlines() if re.match(r"[0-9a-f]+( |$)", line)]
    assert all(len(set(values)) == 1 for values in found), "the module and the DPI-C function differ"
    return [int(values[0], 16) for values in found]


#: Readers that need nothing from Debian but a C compiler: format and reader by name.
READERS: dict[str, tuple[str, Reader]] = {
    "json": ("json", read_json),
    "gcc": ("c", read_c),
    "z3": ("smtlib", read_z3),
    "cvc5": ("smtlib", read_cvc5),
    "bitwuzla": ("smtlib", read_bitwuzla),
    "btor2": ("btor2", read_btor2),
    "aiger": ("aiger", read_aiger),
}

#: Readers that are packages of Debian.
DEBIAN: dict[str, tuple[str, Reader]] = {
    "yosys": ("verilog", read_yosys),
    "verilator": ("verilog", read_verilator),
}
