"""A plan as Coq reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tcformal.ir.node import Node
from tcformal.semantics.number import Exponent, Number
from tcformal.semantics.stages import Floored, Maximum
from tcformal.theory.refinement.ending import Ending
from tcformal.theory.refinement.products import Product
from tcformal.theory.refinement.sums import After, At, Down, Exact, Framed, Front, Fused, Summed
from tcformal.theory.refinement.values import span_of
from tcformal.theory.terms import Claim, Expr


def product_text(x: Product) -> str:
    """A product as `Unit.v`, leaf_plan."""
    wide = normal = "None"
    if x.exact.converted:
        wide = f"(Some ({', '.join(name(to.word) for _, to in x.exact.converted)})%positive)"
    if x.normal is not None:
        normal = f"(Some ({', '.join(map(number_text, x.normal))}))"
    sigs = "; ".join(maybe(y.significand) for y in x.exact.factors)
    numbers = f"{number_text(x.exact.number)} {number_text(x.adjusted)}"
    return f"LeafPlan {wide} [{sigs}] {normal} {numbers} {_rounding(x.rounding)}"


def _rounding(x: Ending | None) -> str:
    """The rounding of one number, if there is one."""
    return "None" if x is None else f"(Some ({_span(x.of.operands[0])}, {ending_text(x)}))"


def _span(r: Number) -> int:
    return span_of(r.term.exponent)


def _operand(r: Number) -> str:
    return f"Operand {number_text(r)} {name(r.term.zero)} {_span(r)}"


def block_text(x: Summed | After | Down | Framed) -> str:
    """The sum of a block as `Unit.v`, summed_block."""
    if isinstance(x, Summed):
        return f"(InTree {tree_text(x)})"
    if isinstance(x, Framed):
        front, first = front_text(x.front), ending_text(x.first)
        return f"(FramedSum (FramedPlan {front} {number_text(x.c)} {first} {_rounding(x.narrowed)}))"
    if isinstance(x, Down):
        return f"(DownSum {_down(x)})"
    of = " ".join(f"({_operand(r)})" for r in (x.made, x.c))
    return (
        f"(AfterSum (After {front_text(x.first)} {x.first.total.fraction_bits} {of} {front_text(x.leads)}"
        f" {x.leads.total.fraction_bits} {ending_text(x.ending)}))"
    )


def _down(x: Down) -> str:
    def level(e: Exponent) -> str:
        return f"(Level {name(e.bits)} {_z(e.low)} {span_of(e)})"

    def floored(y: Floored) -> str:
        return f"(Floored {name(y.shift)} {name(y.kept)})"

    sides = "None"
    if x.two:
        kept, e = " ".join(f"{floored(y)}," for y in x.joined.floored), level(x.joined.e_max)
        sides = f"(Some ({front_text(x.fronts[1])}, {kept} {e}, {name(x.joined.bits)}%positive))"
    c = f"{number_text(x.c)} {floored(x.c_floored)} {x.c_largest} {_span(x.c)}"
    last = f"{level(x.total.e_max)} {name(x.total.bits)} {x.floor.rounded.target.e_max}"
    return (
        f"(DownPlan {front_text(x.fronts[0])} {sides} {floored(x.products_floored)} {c} {last}"
        f" {ending_text(x.floor)} {_span(x.floor.outcome)} {ending_text(x.ending)})"
    )


def ending_text(x: Ending) -> str:
    """A rounding as `Finish.v`, ending."""
    r = x.rounded
    return f"(Ending {name(r.kept)} {name(r.away)} {name(r.height)} {number_text(x.outcome)})"


def tree_text(x: At | Summed) -> str:
    """A tree of sums as `Stage.v`, tree_plan."""
    if isinstance(x, At):
        return f"(At {number_text(x.number)})"
    flushed = f"(Some {number_text(x.result)})" if x.flushed else "None"
    return f"(Sum {sum_text(x.sum)} {flushed} [{'; '.join(map(tree_text, x.children))}])"


def sum_text(x: Fused) -> str:
    """A sum as `Stage.v`, summed."""
    f, fused = x.front.total.fraction_bits, f"(Fused {front_text(x.front)} {ending_text(x.ending)})"
    if not isinstance(x.front, Exact):
        return f"(One {f} {fused})"
    return f"(Two {f} [{'; '.join(map(_operand, x.front.operands))}] {fused})"


def shared_text(claims: Sequence[Claim]) -> tuple[list[str], str]:
    """Definitions of expressions that occur more than once, and the claims with their names."""
    count: Counter[Expr] = Counter()

    def visit(x: Expr) -> None:
        count[x] += 1
        if count[x] == 1:
            for y in x.args:
                if isinstance(y, Expr):
                    visit(y)

    for claim in claims:
        for e in (*claim.given, claim.goal):
            visit(e)
    names: dict[Expr, str] = {}
    lines: list[str] = []

    def text(x: Expr) -> str:
        known = names.get(x)
        if known is not None:
            return known
        made = x.coq_with(name, text)
        if count[x] > 1 and len(made) > 12:
            names[x] = f"e{len(names)}"
            lines.append(f"Definition {names[x]} := {made}.")
            return names[x]
        return made

    rows = [f"Claim [{'; '.join(map(text, x.given))}] {text(x.goal)}" for x in claims]
    return lines, ";\n  ".join(rows)


def name(node: Node) -> str:
    """A node's name: names start at 2."""
    return str(node.index + 2)


def maybe(node: Node | None) -> str:
    """A node, or None."""
    return "None" if node is None else f"(Some {name(node)}%positive)"


def _z(value: int) -> str:
    return f"({value})" if value < 0 else str(value)


def number_text(r: Number) -> str:
    """A number as `Finish.v`, number."""
    t = r.term
    nodes = [name(x) for x in (t.sign, t.significand, t.exponent.bits)]
    return f"(Number {' '.join(nodes)} {_z(t.exponent.low)} {t.fraction_bits} {name(r.nan)} {name(r.inf)})"


def front_text(x: Front) -> str:
    """A sum before it is rounded as `Fused.v`, front."""
    addends = [
        f"Addend {number_text(r)} {name(r.term.zero)} {name(t.shift)} {name(t.aligned)}"
        f" {x.largest(i)} {_span(r)}"
        for i, (t, r) in enumerate(zip(x.total.terms, x.numbers, strict=True))
    ]

    def partial(node: Node) -> str:
        if node not in x.sums:
            return f"(Leaf {name(node)} {x.places[node]}%nat)"
        return f"(Partial {name(node)} {' '.join(partial(y) for y in x.sums[node].of)})"

    places = iter(range(len(x.numbers)))

    def compared(t: Maximum) -> str:
        if not t.halves:
            i = next(places)
            least, most = x.code_range(i)
            return f"(Only {name(t.code)} {i}%nat {least} {most})"
        return f"(Larger {name(t.code)} {' '.join(compared(y) for y in t.halves)})"

    e = x.total.e_max
    return (
        f"(Front [{'; '.join(addends)}] {compared(x.largest_of)} {_z(x.largest_of.low)}"
        f" {name(e.bits)} {_z(e.low)} {span_of(e)}"
        f" {partial(x.tree)} {name(x.total.bits)})"
    )


_NAMES = {
    "not_": "Not", "and_": "And", "or_": "Or", "xor": "Xor", "add_mod": "Add", "sub_mod": "Sub",
    "neg_mod": "Neg",
    "mul_expand": "Mul", "shl_mod": "Shl", "lshr": "Lshr", "ashr": "Ashr", "eq": "Eq", "ult": "Ult",
    "ule": "Ule",
    "slt": "Slt", "sle": "Sle", "ite": "Ite", "concat": "Concat", "zero_extend": "Zext",
    "sign_extend": "Sext",
}  # fmt: skip


def operator_text(x: Node) -> str:
    """A node's operator as `Circuit.v`."""
    args = " ".join(name(y) for y in x.args)
    if x.op == "input":
        return "Input"
    if x.op == "const":
        return f"(Const {x.params[1]})"
    if x.op == "extract":
        return f"(Extract {x.params[1]} {args})"
    return f"({_NAMES[x.op]} {args})"
