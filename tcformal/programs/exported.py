"""Units and programs as exportable designs; apart, because the exporters are imported with it."""

from __future__ import annotations

from collections.abc import Iterator

from tcformal.backends.export.exportable import RESULT, ExportedDesign, ExportPort, identifier
from tcformal.design.operations import operation
from tcformal.design.unit import UnitSpec, formats_text
from tcformal.ir.walk import digest
from tcformal.programs.dag import program_circuit
from tcformal.programs.program import Program
from tcformal.semantics.chain import circuit, scale_count
from tcformal.version import VERSION


def exported(spec: UnitSpec) -> ExportedDesign:
    """One call of a unit as an exportable design.

    Shapes: K elements of a and of b, c, and the scales of a unit that has them; the result d.
    Zero, NaN, Inf: raw encodings go in and come out, special values included.
    """
    graph, root = circuit(spec, spec.k)
    return ExportedDesign(
        name=f"tcformal_{identifier(spec.name)}",
        graph=graph,
        root=root,
        ports=tuple(_ports(spec)),
        encoding=spec.operands.d.name,
        header=tuple(_header(spec, digest(graph, {RESULT: root}))),
    )


def exported_program(p: Program, products: int) -> ExportedDesign:
    """A program over units, for vectors of `products` elements, as an exportable design.

    Shapes: `products` elements of a and of b, and c; the result d.
    Zero, NaN, Inf: raw encodings go in and come out, special values included.
    Errors: InputError for a length that the program does not take.
    """
    plan = p.plan(products)
    graph, made = program_circuit(plan)
    ports = []
    for x in "abc":
        names, fmt = [f"{x}[{i}]" for i in range(products)] if x != "c" else ["c"], plan.input_format(x)
        ports.append(ExportPort(x, tuple(names), fmt.width, fmt.name, array=x != "c"))
    head = f"{p.name}: one dot product d = a·b + c of {products} products; {p.title}"
    definition = digest(graph, {RESULT: made.result})
    return ExportedDesign(
        name=f"tcformal_{identifier(p.name)}", graph=graph, root=made.result, ports=tuple(ports),
        encoding=plan.fmt.name,
        header=(
            head, f"definition: SHA-256 {definition}, written by tcformal {VERSION}", f"source: {p.source}",
            *(f"calls: {unit.name}" for unit in p.units(products)),
        ),
    )  # fmt: skip


def _ports(spec: UnitSpec) -> Iterator[ExportPort]:
    o, k = spec.operands, spec.k
    for name, f in (("a", o.a), ("b", o.b)):
        yield ExportPort(name, tuple(f"{name}[{i}]" for i in range(k)), f.width, f.name, array=True)
    yield ExportPort("c", ("c",), o.c.width, o.c.name, array=False)
    if spec.scale_format is not None:
        f = spec.scale_format
        for name in ("scale_a", "scale_b"):
            inputs = tuple(f"{name}[{i}]" for i in range(scale_count(spec, k)))
            yield ExportPort(name, inputs, f.width, f.name, array=True)


def _header(spec: UnitSpec, definition: str) -> Iterator[str]:
    op = operation(spec)
    yield f"{spec.name}: one dot product d = a·b + c of K = {spec.k} products"
    yield f"{op.name}: {op.formula} [{op.source}]"
    yield f"formats: {formats_text(spec)}; operands and result are raw encodings"
    yield f"definition: SHA-256 {definition}, written by tcformal {VERSION}"
    for source in spec.sources:
        yield f"source: {source}"
    for note in spec.notes:
        yield f"note: {note}"
