"""Every exported file gives the results of the integer interpretation in the tools that read it."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dags import random_graph
from exported_runs import (
    DEBIAN,
    READERS,
    Given,
    Reader,
    design_of,
    expected,
    narrow,
    of_graph,
    random_rows,
    read_c,
    read_verilator,
    read_yosys,
    read_z3_gates,
    run,
    seeded,
)
from sampled import one_in
from tcformal.backends.export import formats
from tcformal.backends.export.aiger import AndGraph
from tcformal.backends.export.btor2 import Btor2Text
from tcformal.backends.export.c import CText
from tcformal.backends.export.exportable import ExportedDesign, identifier
from tcformal.backends.export.formats import FORMATS, written
from tcformal.backends.export.smtlib import SmtlibStages
from tcformal.backends.export.verilog import VerilogText
from tcformal.design.catalog import distinct_designs
from tcformal.design.names import resolve
from tcformal.design.operations import operation
from tcformal.errors import UnknownNameError
from tcformal.ir.walk import digest, to_json
from tcformal.programs.exported import exported
from tcformal.version import VERSION

SEED = 20261101
#: Small designs: two products in one sum, VALPEY's accumulator, a chain with flushes, 106-bit products.
DOUBLES = ",".join(f"{x}_format=fp64" for x in "abcd")
WIDE = f"sequential@products=1,{DOUBLES},nan_word=0x7ff8000000000000"
SMALL = ["tfdpa@products=2", "valpey@terms=3,carry_bits=2", "x86/vdpbf16ps", WIDE]
SCALED = "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"

LINT = ["verilator", "--lint-only", "-Wall", "-Wno-UNUSED", "-Wno-DECLFILENAME"]
COMPILE = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c"]

debian = pytest.mark.debian
long = pytest.mark.long


@cache
def by_operation() -> list[str]:
    """The shortest design of each operation of the catalogue."""
    found: dict[str, str] = {}
    for name in sorted(distinct_designs(), key=lambda name: (resolve(name).k, name)):
        found.setdefault(operation(resolve(name)).name, name)
    return list(found.values())


def results(design: ExportedDesign, to: str, read: Reader, rows: list[Given], folder: Path) -> list[int]:
    """What a tool says of a design that is written in one of the formats."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "design"
    path.write_bytes(written(design, to))
    return read(design, path, rows)


def check_compiler(reader: str) -> None:
    """Skip where the reader is a compiler that is not here."""
    if reader == "gcc" and shutil.which("gcc") is None:
        pytest.skip("there is no gcc here")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", one_in(2, SMALL))
def test_small_designs(name: str, reader: str, tmp_path: Path) -> None:
    """NaN, Inf, subnormals and zeros are among the inputs."""
    check_compiler(reader)
    design, (to, read) = design_of(name), READERS[reader]
    rows = seeded(name, 12 if reader == "btor2" else 60, SEED)
    assert results(design, to, read, rows, tmp_path) == expected(design, rows)


@pytest.mark.parametrize("reader", ["json", "gcc", "bitwuzla"])
def test_a_design_with_scales(reader: str, tmp_path: Path) -> None:
    """Elements of 4 bits in bytes, and scales as operands of their own."""
    check_compiler(reader)
    design, (to, read) = design_of(SCALED), READERS[reader]
    rows = seeded(SCALED, 12, SEED)
    assert results(design, to, read, rows, tmp_path) == expected(design, rows)


def any_designs(count: int, nodes: int) -> list[tuple[ExportedDesign, list[Given]]]:
    """Random DAGs over the whole vocabulary, narrow and wide, with inputs."""
    rng = random.Random(SEED)
    made = []
    for i in range(count):
        widest = 65  # operands have at most 64 bits
        while widest > 64:
            graph, roots = random_graph(rng, 3, nodes, (3, 9, 40, 70, 150)[i % 5])
            widest = max(node.width for node in graph.inputs.values())
        design = of_graph(*narrow(graph, roots, 37))
        made.append((design, random_rows(rng, design.graph, 20)))
    return made


@pytest.mark.parametrize("reader", READERS)
def test_random_graphs(reader: str, tmp_path: Path) -> None:
    """Every operator, shifts by amounts wider than what is shifted, values of several limbs."""
    check_compiler(reader)
    to, read = READERS[reader]
    for i, (design, rows) in enumerate(any_designs(5, 60)):
        some = rows[:4] if reader == "btor2" else rows
        assert results(design, to, read, some, tmp_path / str(i)) == expected(design, some)


#: For each format a writer with one handler that takes the place of another.
MUTANTS: dict[str, tuple[str, type, str, str]] = {
    "smtlib": ("bitwuzla", SmtlibStages, "on_add_mod", "on_sub_mod"),
    "btor2": ("btor2", Btor2Text, "on_add_mod", "on_sub_mod"),
    "aiger": ("aiger", AndGraph, "on_xor", "on_and"),
    "verilog": ("yosys", VerilogText, "on_add_mod", "on_sub_mod"),
    "c": ("gcc", CText, "on_lshr", "on_ashr"),
}


@pytest.mark.parametrize("to", [to if to != "verilog" else pytest.param(to, marks=debian) for to in MUTANTS])
def test_a_wrong_operator_is_noticed(to: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that says one operator in place of another does not pass."""
    reader, writer, name, other = MUTANTS[to]
    check_compiler(reader)
    _, read = {**READERS, **DEBIAN}[reader]
    design, rows = design_of(SMALL[0]), seeded(SMALL[0], 12, SEED)
    monkeypatch.setattr(writer, name, getattr(writer, other))
    assert results(design, to, read, rows, tmp_path) != expected(design, rows)


def test_a_wrong_operator_in_json_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for the DAG, which is written as a whole."""
    design, rows = design_of(SMALL[0]), seeded(SMALL[0], 60, SEED)
    monkeypatch.setattr(formats, "to_json", lambda *args: to_json(*args).replace('"add_mod"', '"sub_mod"'))
    assert results(design, "json", READERS["json"][1], rows, tmp_path) != expected(design, rows)


@pytest.mark.parametrize("to", FORMATS)
def test_the_header_names_unit_definition_and_sources(to: str) -> None:
    """Every format says what it is of."""
    name = "volta/mma.m8n8k4.f32.f16.f16.f32"
    design, spec = design_of(name), resolve(name)
    text = written(design, to).decode(errors="replace")
    assert name in text
    assert digest(design.graph, {"d": design.root}) in text
    assert f"tcformal {VERSION}" in text
    assert spec.sources
    for source in spec.sources:
        assert source in text


@pytest.mark.parametrize("to", ["smtlib", "btor2", "verilog", "c", "json"])
def test_stages_have_names(to: str) -> None:
    """e_max and sum are found by their names, with how their bits are read."""
    text = written(design_of("tfdpa@products=2"), to).decode()
    for stage in ("block0.e_max", "block0.sum"):
        assert stage in text or identifier(stage) in text
    if to != "json":
        assert re.search(r"block0.sum = x \* 2\^-\d+, x signed", text)


def test_json_names_operands_and_stages() -> None:
    """Formats and readings stand beside the DAG."""
    data = json.loads(written(design_of("tfdpa@products=2"), "json"))
    assert [(p["name"], p["elements"], p["format"]) for p in data["operands"]] == [
        ("a", ["a[0]", "a[1]"], "fp16"),
        ("b", ["b[0]", "b[1]"], "fp16"),
        ("c", ["c"], "fp32"),
    ]
    assert data["result"] == {"name": "d", "width": 32, "format": "fp32"}
    assert data["stages"].keys() == data["roots"].keys() - {"d"}


def test_names_are_identifiers() -> None:
    """A name's signs and punctuation become what C and Verilog take, and no two designs one name."""
    assert exported(resolve("tfdpa@zero_exponent=-19")).name == "tcformal_tfdpa_zero_exponent_minus19"
    names = [f"tcformal_{identifier(name)}" for name in distinct_designs()]
    assert len(set(names)) == len(names)


def test_an_unknown_format_is_rejected() -> None:
    """One sentence with what is known."""
    with pytest.raises(UnknownNameError, match="expected a known format, but got 'vhdl'"):
        written(design_of("tfdpa@products=2"), "vhdl")


def test_scripts_take_assertions(tmp_path: Path) -> None:
    """A user's question about stages and result: can a sum of two products be NaN where no input is?"""
    bitwuzla: Any = pytest.importorskip("bitwuzla")
    text = written(design_of("tfdpa@products=2"), "smtlib").decode()
    finite = " ".join(f"(not (= ((_ extract 14 10) {x}) #b11111))" for x in ("a_0", "a_1", "b_0", "b_1"))
    text += f"(assert (and {finite} (= c #x00000000)))(assert (= d #x7fffffff))"
    parser = bitwuzla.Parser(bitwuzla.TermManager(), bitwuzla.Options())
    parser.parse(text, True, False)
    assert parser.bitwuzla().check_sat() == bitwuzla.Result.UNSAT


def test_two_headers_in_one_program(tmp_path: Path) -> None:
    """Headers share their helpers, and C++ takes them too."""
    if shutil.which("g++") is None:
        pytest.skip("there is no g++ here")
    lines = []
    for i, name in enumerate((WIDE, "tfdpa@products=2", WIDE)):
        (tmp_path / f"{i}.h").write_bytes(written(design_of(name), "c"))
        lines.append(f'#include "{i}.h"\n')
    (tmp_path / "both.cpp").write_text("".join(lines))
    run(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", tmp_path / "both.cpp"])


# ------------------------------------------------------------------------------- packages of Debian
@debian
@pytest.mark.parametrize("name", SMALL)
def test_yosys_evaluates_modules(name: str, tmp_path: Path) -> None:
    """yosys finds nothing wrong with the module, and its results are the model's."""
    design, rows = design_of(name), seeded(name, 60, SEED)
    assert results(design, "verilog", read_yosys, rows, tmp_path) == expected(design, rows)


@debian
def test_yosys_evaluates_random_graphs(tmp_path: Path) -> None:
    """Every operator as Verilog."""
    for i, (design, rows) in enumerate(any_designs(5, 60)):
        assert results(design, "verilog", read_yosys, rows, tmp_path / str(i)) == expected(design, rows)


@debian
def test_abc_finds_verilog_and_aiger_equivalent(tmp_path: Path) -> None:
    """yosys synthesises the module, and abc proves its gates equal to the exported ones; not to others."""
    design = design_of("tfdpa@products=1,a_format=e4m3,b_format=e4m3,fraction_bits=5")
    (tmp_path / "design.sv").write_bytes(written(design, "verilog"))
    (tmp_path / "ours.aig").write_bytes(written(design, "aiger"))
    other = design_of("tfdpa@products=1,a_format=e4m3,b_format=e4m3,fraction_bits=6")
    (tmp_path / "other.aig").write_bytes(written(other, "aiger"))
    script = f"read_verilog -sv design.sv; synth -flatten -top {design.name}; aigmap; write_aiger theirs.aig"
    run(["yosys", "-q", "-p", script], folder=tmp_path)
    said = run(["berkeley-abc", "-c", "cec -n ours.aig theirs.aig"], folder=tmp_path)
    assert "Networks are equivalent" in said
    said = run(["berkeley-abc", "-c", "cec -n other.aig theirs.aig"], folder=tmp_path)
    assert "NOT EQUIVALENT" in said


@debian
def test_yosys_reads_aiger(tmp_path: Path) -> None:
    """Names of inputs and outputs come through."""
    design = design_of("tfdpa@products=2")
    (tmp_path / "design.aig").write_bytes(written(design, "aiger"))
    said = run(["yosys", "-p", "read_aiger design.aig; check -assert; select -list i:* o:*"], folder=tmp_path)
    assert re.search(r"^\S+/a_1\[15\]$", said, re.MULTILINE)
    assert re.search(r"^\S+/d\[31\]$", said, re.MULTILINE)


@debian
@pytest.mark.parametrize("name", [SMALL[0], WIDE])
def test_verilator_runs_module_and_dpi_function(name: str, tmp_path: Path) -> None:
    """One test bench calls both on the same operands."""
    design, rows = design_of(name), seeded(name, 300, SEED)
    header = tmp_path / "design.h"
    header.write_bytes(written(design, "c"))

    def read(of: ExportedDesign, path: Path, given: Any) -> list[int]:
        return read_verilator(of, path, given, header)

    assert results(design, "verilog", read, rows, tmp_path) == expected(design, rows)


@debian
def test_verilator_has_no_complaint(tmp_path: Path) -> None:
    """All warnings on, but those about bits that nobody reads and names of files."""
    for i, name in enumerate((*SMALL, SCALED)):
        path = tmp_path / f"{i}.sv"
        path.write_bytes(written(design_of(name), "verilog"))
        run([*LINT, path])


# ------------------------------------------------------------------------------------------- longer
READ_BY: dict[str, Callable[[Path], list[str]]] = {
    "verilog": lambda path: [*LINT, str(path)],
    "c": lambda path: [*COMPILE, str(path)],
    "aiger": lambda path: ["berkeley-abc", "-c", f"read_aiger {path}; print_stats"],
}


@long
@debian
@pytest.mark.parametrize("name", distinct_designs())
def test_every_design_is_read(name: str, tmp_path: Path) -> None:
    """Each distinct design of the catalogue, in every format, by a tool of its users."""
    design, rows = design_of(name), seeded(name, 6, SEED)
    for to, command in READ_BY.items():
        path = tmp_path / f"design.{to[:3]}"
        path.write_bytes(written(design, to))
        done = subprocess.run(command(path), capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
        assert "error" not in (done.stdout + done.stderr).lower()
    for reader in ("json", "z3", "btor2", "aiger"):
        to, read = READERS[reader]
        some = rows[:1] if reader == "btor2" else rows
        assert results(design, to, read, some, tmp_path / reader) == expected(design, some)


@long
@debian
@pytest.mark.parametrize("name", by_operation())
def test_ten_thousand_vectors(name: str, tmp_path: Path) -> None:
    """Verilator, C and SMT-LIB agree with the model for a unit of every operation."""
    design, rows = design_of(name), seeded(name, 10_000, SEED)
    right = expected(design, rows)
    assert results(design, "c", read_c, rows, tmp_path / "c") == right
    assert results(design, "verilog", read_verilator, rows, tmp_path / "verilog") == right
    assert results(design, "smtlib", read_z3_gates, rows, tmp_path / "smtlib") == right
