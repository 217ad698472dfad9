"""Properties of one unit: claims about its results on every input, and the kind of question about them.

A property evaluates the unit once or twice on operands made from the free inputs, and defines when these
results violate it: as a node of the DAG, for the solvers, and on exact values, for the replay.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tcformal.backends.concrete import Concrete
from tcformal.backends.vector import Vector
from tcformal.checks import check_choice
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.errors import InputError, RecordError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.oracle.values import NumberClass, decode, value_data
from tcformal.query.assume import Assumptions, assume_of_unit, from_texts
from tcformal.query.pair import VECTORS
from tcformal.query.question import Kind, Question, RawInputs
from tcformal.semantics.chain import OperandNodes, chained_dot, declare_inputs, scale_count
from tcformal.semantics.unpack import unpack
from tcformal.shown import JsonObject, short
from tcformal.simulation.operands.batch import columns
from tcformal.simulation.operands.inputs import inputs_to_try
from tcformal.simulation.operands.witness import Witness, by_value, explain_command, read_value
from tcformal.simulation.replay import oracle_result


@dataclass(frozen=True, slots=True)
class Call:
    """One evaluation of the unit."""

    #: Name in texts: `Φ(A, B, C)`.
    label: str
    operands: OperandNodes
    #: Of the raw result.
    result: Node


@dataclass(frozen=True, slots=True)
class Case:
    """A property of one unit, as a DAG.

    Shapes: `violated` has width 1.  `check` decides the same on the operands and raw results of every
    call.
    """

    calls: tuple[Call, ...]
    violated: Node
    check: Callable[[Sequence[Witness], Sequence[int]], bool]


@dataclass(frozen=True, slots=True)
class Property:
    """A claim about the results of a unit."""

    #: The claim as one sentence.
    text: str
    build: Callable[[Graph, UnitSpec, OperandNodes], Case]


def _call(g: Graph, spec: UnitSpec, label: str, x: OperandNodes) -> Call:
    with g.scope(f"call{label}"):
        return Call(label, x, chained_dot(g, spec, x).result)


def _sign_bit(fmt: Format) -> int:
    if fmt.sign is not Sign.PRESENT:
        raise InputError(f"expected a format with a sign, but got {fmt.name}")
    return 1 << (fmt.width - 1)


def _negated(g: Graph, word: Node, fmt: Format) -> Node:
    """The negated encoding; zero without -0, and NaN, stay unchanged."""
    flipped = g.xor(word, g.const(_sign_bit(fmt), fmt.width))
    if fmt.specials is not Specials.NEGATIVE_ZERO_NAN:
        return flipped
    alone = g.eq(g.extract(word, fmt.width - 2, 0), g.const(0, fmt.width - 1))
    return g.ite(alone, word, flipped)


def _same_number(g: Graph, fmt: Format, x: Node, y: Node) -> Node:
    """The node that is 1 for equal encodings, two zeros, or two NaNs."""
    u, v = unpack(g, x, fmt), unpack(g, y, fmt)
    zeros = g.and_(u.term.zero, v.term.zero)
    return g.or_(g.eq(x, y), g.and_(u.nan, v.nan), zeros)


def _are_same_number(fmt: Format, x: int, y: int) -> bool:
    u, v = decode(fmt, x), decode(fmt, y)
    if NumberClass.NAN in (u.kind, v.kind):
        return u.kind is v.kind
    if NumberClass.INF in (u.kind, v.kind):
        return u.kind is v.kind and u.sign == v.sign
    return u.number == v.number


def _are_opposite(fmt: Format, x: int, y: int) -> bool:
    """Whether two exact values are opposite; two NaNs count."""
    u, v = decode(fmt, x), decode(fmt, y)
    if NumberClass.FINITE in (u.kind, v.kind):
        return u.kind is v.kind and u.number == -v.number
    return u.kind is v.kind and (u.kind is NumberClass.NAN or u.sign != v.sign)


def nan_word(g: Graph, spec: UnitSpec, x: OperandNodes) -> Case:
    """Every NaN result has the NaN encoding of the design."""
    d, word = spec.operands.d, spec.design.nan_word
    call = _call(g, spec, "Φ(A, B, C)", x)
    wrong = g.and_(unpack(g, call.result, d).nan, g.not_(g.eq(call.result, g.const(word, d.width))))
    return Case((call,), wrong, lambda _, r: decode(d, r[0]).kind is NumberClass.NAN and r[0] != word)


def no_nan_from_numbers(g: Graph, spec: UnitSpec, x: OperandNodes) -> Case:
    """Finite operands never give NaN."""
    d, o = spec.operands.d, spec.operands
    call = _call(g, spec, "Φ(A, B, C)", x)
    finite = _all_finite(g, x, o.a, o.b, o.c)
    wrong = g.and_(finite, unpack(g, call.result, d).nan)
    return Case(
        (call,), wrong, lambda w, r: _witness_finite(spec, w[0]) and decode(d, r[0]).kind is NumberClass.NAN
    )


def no_negative_zero(g: Graph, spec: UnitSpec, x: OperandNodes) -> Case:
    """No result is -0."""
    d = spec.operands.d
    call = _call(g, spec, "Φ(A, B, C)", x)
    minus = _sign_bit(d)
    return Case((call,), g.eq(call.result, g.const(minus, d.width)), lambda _, r: r[0] == minus)


def negation_symmetry(g: Graph, spec: UnitSpec, x: OperandNodes) -> Case:
    """Φ(−A, B, −C) = −Φ(A, B, C), zeros of either sign and NaNs counted as equal."""
    o = spec.operands
    one = _call(g, spec, "Φ(A, B, C)", x)
    turned = OperandNodes(
        [_negated(g, w, o.a) for w in x.a], x.b, _negated(g, x.c, o.c), x.scale_a, x.scale_b
    )
    other = _call(g, spec, "Φ(−A, B, −C)", turned)
    wrong = g.not_(_same_number(g, o.d, _negated(g, one.result, o.d), other.result))

    def check(w: Sequence[Witness], r: Sequence[int]) -> bool:
        pairs = [(o.c, w[0].c, w[1].c), *((o.a, x, y) for x, y in zip(w[0].a, w[1].a, strict=True))]
        turned = w[0].b == w[1].b and all(_are_opposite(*pair) for pair in pairs)
        return turned and not _are_opposite(o.d, r[0], r[1])

    return Case((one, other), wrong, check)


def factors_commute(g: Graph, spec: UnitSpec, x: OperandNodes) -> Case:
    """Φ(B, A, C) = Φ(A, B, C): exchanging the factors of every product changes nothing."""
    o = spec.operands
    if o.a != o.b:
        raise InputError(f"expected A and B of one format, but got {o.a.name} and {o.b.name} in {spec.name}")
    one = _call(g, spec, "Φ(A, B, C)", x)
    other = _call(g, spec, "Φ(B, A, C)", OperandNodes(x.b, x.a, x.c, x.scale_b, x.scale_a))
    wrong = g.not_(_same_number(g, o.d, one.result, other.result))
    return Case((one, other), wrong, lambda _, r: not _are_same_number(o.d, r[0], r[1]))


def monotonic_in_c(g: Graph, spec: UnitSpec, x: OperandNodes) -> Case:
    """c ≤ c′ implies Φ(A, B, c) ≤ Φ(A, B, c′), for finite operands."""
    larger = OperandNodes(x.a, x.b, g.input("c2", spec.operands.c.width), x.scale_a, x.scale_b)
    return _monotonic(g, spec, x, larger, "Φ(A, B, c′)", in_a=False)


def monotonic_in_a(g: Graph, spec: UnitSpec, x: OperandNodes) -> Case:
    """a₀ ≤ a₀′ implies Φ(A, B, c) ≤ Φ(A′, B, c), where b₀ ≥ 0 and for finite operands."""
    a2 = g.input("a2", spec.operands.a.width)
    larger = OperandNodes([a2, *x.a[1:]], x.b, x.c, x.scale_a, x.scale_b)
    return _monotonic(g, spec, x, larger, "Φ(A′, B, c)", in_a=True)


def _monotonic(
    g: Graph, spec: UnitSpec, x: OperandNodes, larger: OperandNodes, label: str, *, in_a: bool
) -> Case:
    """The results do not fall where c, or with `in_a` a₀ times a b₀ of no sign, becomes larger."""
    o = spec.operands
    one, other = _call(g, spec, "Φ(A, B, c)", x), _call(g, spec, label, larger)
    finite = g.and_(_all_finite(g, x, o.a, o.b, o.c), _all_finite(g, larger, o.a, o.b, o.c))
    if in_a:
        rises = g.not_(_below(g, o.a, larger.a[0], x.a[0]))
        rises = g.and_(rises, g.not_(unpack(g, x.b[0], o.b).term.sign))
    else:
        rises = g.not_(_below(g, o.c, larger.c, x.c))
    wrong = g.and_(finite, rises, _below(g, o.d, other.result, one.result))

    def check(w: Sequence[Witness], r: Sequence[int]) -> bool:
        if not all(_witness_finite(spec, v) for v in w) or (in_a and decode(o.b, w[0].b[0]).sign):
            return False
        low, high = (_order(o.a, v.a[0]) if in_a else _order(o.c, v.c) for v in w)
        return low <= high and _order(o.d, r[1]) < _order(o.d, r[0])

    return Case((one, other), wrong, check)


def no_subnormal_result(g: Graph, spec: UnitSpec, x: OperandNodes) -> Case:
    """No result is subnormal: violated where the unit returns subnormals."""
    d = spec.operands.d
    call = _call(g, spec, "Φ(A, B, C)", x)
    number = unpack(g, call.result, d)
    normal = g.or_(number.nan, number.inf, number.term.zero, g.top(number.term.significand))

    def check(_: Sequence[Witness], r: Sequence[int]) -> bool:
        value = decode(d, r[0])
        return value.kind is NumberClass.FINITE and value.is_subnormal

    return Case((call,), g.not_(normal), check)


def check_halves(spec: UnitSpec) -> None:
    """Raise InputError unless half of a unit's products, with their scales, form an instruction."""
    design, scales = spec.design, scale_count(spec, spec.k)
    # A step that hands on the NaN of the first of two factors has two products.
    of_two = design.summation == "fused" and design.c_position == "last" and design.nan_rule != "word"
    pairs = design.order == "odd_first" or of_two
    whole_calls = spec.emulation is not None or spec.tree is not None
    if spec.k % (4 if pairs else 2) or scales % 2 or whole_calls:
        n, what = (scales, "scale block") if scales else (spec.k, "product")
        why = "calls others" if whole_calls else f"has {n} {what}{'s' * (n > 1)}{' in pairs' * pairs}"
        raise InputError(f"expected an instruction that half the products make one of, but {spec.name} {why}")


def zero_products(g: Graph, spec: UnitSpec, x: OperandNodes) -> Case:
    """Padding with zero products changes nothing: Φ(A‖0, B‖0, C) = Φ(A, B, C), the added scales being 1."""
    check_halves(spec)
    half, o, fmt = spec.k // 2, spec.operands, spec.scale_format
    scales = len(x.scale_a) // 2
    zero_a, zero_b = (g.const(0, f.width) for f in (o.a, o.b))
    ones = [] if fmt is None else [g.const(fmt.bias << fmt.fraction_bits, fmt.width)] * scales
    part = OperandNodes(x.a[:half], x.b[:half], x.c, x.scale_a[:scales], x.scale_b[:scales])
    whole = OperandNodes(
        part.a + [zero_a] * half, part.b + [zero_b] * half, x.c, part.scale_a + ones, part.scale_b + ones
    )
    one, other = _call(g, spec, "Φ(A‖0, B‖0, C)", whole), _call(g, spec, "Φ(A, B, C)", part)
    return Case((one, other), g.not_(g.eq(one.result, other.result)), lambda _, r: r[0] != r[1])


def _all_finite(g: Graph, x: OperandNodes, a: Format, b: Format, c: Format) -> Node:
    numbers = [unpack(g, w, fmt) for fmt, row in ((a, x.a), (b, x.b), (c, [x.c])) for w in row]
    return g.not_(g.or_(g.truth(False), *(f for n in numbers for f in (n.nan, n.inf))))


def _witness_finite(spec: UnitSpec, w: Witness) -> bool:
    o = spec.operands
    rows = ((o.a, w.a), (o.b, w.b), (o.c, (w.c,)))
    return all(decode(fmt, raw).kind is NumberClass.FINITE for fmt, row in rows for raw in row)


def _key(g: Graph, word: Node, fmt: Format) -> Node:
    """An order-preserving map of encodings to unsigned integers; -0 comes right below +0."""
    minus = g.const(_sign_bit(fmt), fmt.width)
    return g.ite(g.top(word), g.not_(word), g.xor(word, minus))


def _below(g: Graph, fmt: Format, x: Node, y: Node) -> Node:
    """The node that is 1 where x < y as values; 0 where x or y is NaN."""
    u, v = unpack(g, x, fmt), unpack(g, y, fmt)
    same = g.and_(u.term.zero, v.term.zero)
    return g.and_(g.ult(_key(g, x, fmt), _key(g, y, fmt)), g.not_(g.or_(u.nan, v.nan, same)))


def _order(fmt: Format, raw: int) -> Fraction | float:
    """The exact value as a comparable number; NaN becomes a float NaN."""
    value = decode(fmt, raw)
    if value.kind is NumberClass.NAN:
        return float("nan")
    if value.kind is NumberClass.INF:
        return float("-inf" if value.sign else "inf")
    return value.number


#: Every property by the name that a query file uses.
PROPERTIES: Mapping[str, Property] = {
    "nan-word": Property("every NaN result has the encoding that the design names", nan_word),
    "no-nan-from-numbers": Property("finite operands never give NaN", no_nan_from_numbers),
    "no-negative-zero": Property("no result is -0", no_negative_zero),
    "negation-symmetry": Property("Φ(−A, B, −C) = −Φ(A, B, C)", negation_symmetry),
    "factors-commute": Property("Φ(B, A, C) = Φ(A, B, C)", factors_commute),
    "monotonic-in-c": Property("c ≤ c′ implies Φ(A, B, c) ≤ Φ(A, B, c′)", monotonic_in_c),
    "monotonic-in-a": Property("a₀ ≤ a₀′ and b₀ ≥ 0 imply Φ(A, B, c) ≤ Φ(A′, B, c)", monotonic_in_a),
    "zero-products": Property("Φ(A‖0, B‖0, C) = Φ(A, B, C), with half the products +0·+0", zero_products),
    "no-subnormal-result": Property("no result is subnormal", no_subnormal_result),
}


#: Exponents above 2^0 at which a step of an operand is tried.
_ABOVE = 24


@dataclass(frozen=True, slots=True)
class PropertyQuestion(Question):
    """The question whether a property holds of a unit on every input: VIOLATED with inputs, or HOLDS.

    Shapes: inputs a[0], b[0], …, c and those that the property adds (such as c2) are raw encodings.
    """

    KIND = "property"
    FOUND = Kind.VIOLATED
    NONE = Kind.HOLDS

    name: str
    unit: UnitSpec
    k: int
    assumptions: Assumptions
    graph: Graph
    case: Case
    #: 1 where every assumption holds.
    assumed: Node
    #: 1 where the assumptions hold and the property does not.
    violated: Node

    @property
    def asked(self) -> Node:
        return self.violated

    @property
    def c_format(self) -> Format:
        return self.unit.operands.c

    def outcome(self, kind: Kind) -> str:
        return f"{self.name} of {short(self.unit.shown)}{self.assumptions.phrase()}"

    def replay(self, inputs: RawInputs) -> PropertyReplay:
        """Run inputs through every call on integers and on the oracle, and check the property on both."""
        operands, results = [c.operands for c in self.case.calls], [c.result for c in self.case.calls]
        words = (n for x in operands for n in (*x.a, *x.b, x.c, *x.scale_a, *x.scale_b))
        roots = list(dict.fromkeys([self.assumed, self.violated, *words, *results]))
        at = dict(zip(roots, Concrete(self.graph, roots)(inputs), strict=True))

        def row(nodes: Sequence[Node]) -> tuple[int, ...]:
            return tuple(at[n] for n in nodes)

        witnesses = tuple(
            Witness(row(x.a), row(x.b), at[x.c], row(x.scale_a), row(x.scale_b)) for x in operands
        )
        oracle = tuple(oracle_result(self.unit, w) for w in witnesses)
        violated = bool(at[self.violated]), self.case.check(witnesses, oracle)
        return PropertyReplay(bool(at[self.assumed]), witnesses, row(results), oracle, violated)

    def shrink(self, inputs: RawInputs, seconds: float) -> dict[str, int]:
        """Greedy shrinking: inputs that still violate the property, with more zeros and fewer bits."""
        deadline = time.monotonic() + seconds
        best = dict(inputs)
        changed = True
        while changed and time.monotonic() < deadline:
            changed = False
            for name in best:
                for value in _simpler(best[name]):
                    tried = {**best, name: value}
                    if time.monotonic() < deadline and self.replay(tried).confirms:
                        best, changed = tried, True
                        break
        return best

    def search(self, seed: int) -> dict[str, int] | None:
        """The first seeded vector that violates the property; None where none does.

        An input that a property adds to an operand (c2 to c) is the next encoding above it.  In every second
        vector that operand is the last number below a power of two and large beside the products, all of them
        positive: one step then changes how much alignment cuts off.
        """
        tried = columns(inputs_to_try(self.unit, self.k, VECTORS, seed))
        if self.assumptions.c is not None:
            tried["c"] = np.full(VECTORS, self.assumptions.c, np.uint64)
        o = self.unit.operands
        beside = {"c2": ("c", o.c), "a2": ("a[0]", o.a)}
        for name, (operand, fmt) in beside.items():
            if name in self.graph.inputs:
                for column in tried:
                    magnitude = (1 << ((o.a if column[0] == "a" else o.b).width - 1)) - 1
                    if column[0] in "ab":
                        tried[column][::2] &= np.uint64(magnitude)
                shift = fmt.fraction_bits + fmt.ignored_low_bits
                ones = np.uint64((1 << shift) - (1 << fmt.ignored_low_bits))
                above = np.arange(VECTORS, dtype=np.uint64) % np.uint64(_ABOVE) + np.uint64(fmt.bias)
                base = np.array(tried[operand], dtype=np.uint64)
                base[::2] = (np.minimum(above, np.uint64(fmt.e_max + fmt.bias)) << np.uint64(shift) | ones)[
                    ::2
                ]
                tried[operand] = base
                tried[name] = (base + np.uint64(1 << fmt.ignored_low_bits)) & np.uint64((1 << fmt.width) - 1)
        (violated,) = Vector(self.graph, tried).run([self.violated])
        for row in np.flatnonzero(np.broadcast_to(violated, (VECTORS,))):
            model = {name: int(column[row]) for name, column in tried.items()}
            if self.replay(model).confirms:
                return model
        return None

    def conditions(self) -> list[str]:
        return self.assumptions.texts()

    def found_text(self, finder: str) -> str:
        text = PROPERTIES[self.name].text
        return f"not always: {text}; {finder} found inputs, replayed on integers and on exact fractions"

    def none_text(self, deciders: str) -> str:
        return f"{PROPERTIES[self.name].text}: {deciders} found no inputs that violate it"

    def parts(self) -> JsonObject:
        o = self.unit.operands
        return {
            "kind": self.KIND,
            "property": self.name,
            "unit": self.unit.name,
            "k": self.k,
            "formats": o.names(),
            "assumptions": self.assumptions.spellings(),
        }

    @staticmethod
    def build(parts: Mapping[str, Any], graph: Graph | None = None) -> PropertyQuestion:
        unit = resolve(parts["unit"])
        return property_question(
            parts["property"], unit, from_texts(unit.operands.c, parts["assumptions"]), graph
        )

    def witness_data(self, inputs: RawInputs) -> JsonObject:
        return {name: value_data(self._format(name), inputs.get(name, 0)) for name in self.graph.inputs}

    def read_witness(self, data: Mapping[str, Any]) -> dict[str, int]:
        if data.keys() != self.graph.inputs.keys():
            raise RecordError(
                f"expected inputs {', '.join(self.graph.inputs)}, but got {', '.join(data) or 'none'}"
            )
        return {name: read_value(self._format(name), value) for name, value in data.items()}

    def results_data(self, replayed: PropertyReplay) -> JsonObject:
        d = self.unit.operands.d
        pairs = zip(self.case.calls, replayed.integers, strict=True)
        return {"results": {call.label: value_data(d, raw) for call, raw in pairs}}

    def commands(self, replayed: PropertyReplay) -> list[str]:
        words = by_value(self.unit)
        return [explain_command([self.unit.name], w, words, command="eval") for w in replayed.operands]

    def to_json(self) -> JsonObject:
        return {"property": self.name, "unit": self.unit.name, "k": self.k}

    def _format(self, name: str) -> Format:
        """The format of an input: an extra input such as c2 has the format of its operand."""
        row = name.partition("[")[0]
        return self.unit.input_formats()[row if row.startswith("scale_") else name[0]]


@dataclass(frozen=True, slots=True)
class PropertyReplay:
    """The results of all calls of a property on one set of inputs.

    Ranges and units: results are raw encodings of the D format, one for each call.
    """

    assumed: bool
    operands: tuple[Witness, ...]
    integers: tuple[int, ...]
    oracle: tuple[int, ...]
    #: Whether the property is violated: on the DAG, and on exact values.
    violated: tuple[bool, bool]

    @property
    def confirms(self) -> bool:
        """Whether DAG, integers and oracle agree that the inputs satisfy the assumptions and violate the
        property."""
        return self.assumed and self.integers == self.oracle and all(self.violated)


def property_question(
    name: str, unit: UnitSpec, what: Assumptions, graph: Graph | None = None
) -> PropertyQuestion:
    """Build the question whether the named property holds of a unit, in an empty or a new graph.

    Errors: UnknownNameError for an unknown property, InputError for a unit that the property does not
    fit.
    """
    check_choice("property", name, list(PROPERTIES))
    g = Graph() if graph is None else graph
    x = declare_inputs(g, unit, unit.k)
    case = PROPERTIES[name].build(g, unit, x)
    assumed = assume_of_unit(g, what, unit, x)
    return PropertyQuestion(name, unit, unit.k, what, g, case, assumed, g.and_(assumed, case.violated))


def _simpler(raw: int) -> list[int]:
    """Smaller encodings: zero, and the encoding without its low bits or without one bit."""
    bits = [i for i in range(raw.bit_length()) if raw >> i & 1]
    tried = [0, *(raw >> i << i for i in reversed(bits)), *(raw & ~(1 << i) for i in bits)]
    return [value for value in dict.fromkeys(tried) if value != raw]
