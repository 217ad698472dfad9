"""Dot products whose every step is an operation of IEEE 754, on the processor's own floats.

A step that adds two numbers exactly and rounds to nearest in binary32 or binary64 is an IEEE addition.  If
one of them is an unrounded product it is a fused multiply-add; a product with its own rounding is a
multiplication.  Sums of several products, and rounding to odd, are computed in binary64 (below).  The
design must treat zeros, subnormals and overflow as IEEE 754 does; flushing works on encodings, and NaNs get
the design's words.  Operands of A and B are finite here: a NaN comes from c, or from infinities of both
signs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import partial

from tcformal.backends.lanes import DOUBLE, TRUTH, WORD, Code, LaneValue
from tcformal.backends.machine import floats
from tcformal.design.rounding import Conversion
from tcformal.design.steps import ScaledProduct, nan_word_of
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.stages import Dot, DotStep, Operand
from tcformal.simulation.kernels.rules import (
    Emit,
    LoweringRules,
    any_word,
    as_float,
    as_word,
    float_kind,
    vector_suffix,
)
from tcformal.simulation.lowering import encoded

# ------------------------------------------------------------------------------------ Operations on encodings
#: Formats whose values, NaN and Inf among them, a float of some bits holds without loss.
OPERANDS = {WORD: ("fp16", "bf16", "tf32", "fp32"), DOUBLE: ("fp64",)}


def holds_numbers(bits: int, fmt: Format) -> bool:
    """Whether a float of some bits holds every number of a format, to which `widened` converts it."""
    half = bits == WORD and encoded.plain(fmt) and encoded.as_half(fmt)
    return half or fmt.name in OPERANDS[bits]


def negated(bits: int, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """Negation: the number with its sign bit flipped."""
    text = code.apply("xor", bits, code.operand(given[0], bits), code.word(1 << (bits - 1), bits))
    return any_word(text, bits)


def constant(word: int, bits: int, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """A constant, given by its encoding."""
    return LaneValue(code.word(word, bits), word, word, bits)


def operation(name: str, bits: int, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """An addition, multiplication or fused multiply–add (`add`, `mul`, `fma`) of numbers of a width."""
    kind = float_kind(code, bits)
    x = [as_float(code, any_word(code.operand(value, bits), bits)) for value in given]
    if name == "fma":
        made = code.new(
            f"call {kind} @llvm.fma.{vector_suffix(code, 'f', bits)}({', '.join(f'{kind} {y}' for y in x)})"
        )
    else:
        made = code.new(f"f{name} {kind} {x[0]}, {x[1]}")
    return as_word(code, made, bits)


def widened(fmt: Format, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """Conversion to binary32; the encodings of binary32 and binary64 stay.

    NaN, Inf: of the formats of OPERANDS.
    """
    x = given[0]
    if fmt.name == "tf32":
        kept = (1 << fmt.width) - (1 << fmt.ignored_low_bits)
        return LaneValue(code.binary("and", x, code.const(kept), WORD), 0, kept, WORD)
    if fmt.width >= WORD:
        return x
    emit = encoded.number(fmt, -fmt.bias - fmt.fraction_bits)
    assert emit is not None, fmt
    return emit(code, given)


def narrowed(fmt: Format, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """Conversion from binary32 to fp16 or bf16, rounded to nearest.

    NaN: a NaN; which one is not said.
    """
    x = code.operand(given[0], WORD)
    if fmt.name == "fp16":
        half = "half" if code.lanes == 1 else f"<{code.lanes} x half>"
        kind = float_kind(code, WORD)
        made = code.new(f"fptrunc {kind} {as_float(code, any_word(x))} to {half}")
        made = code.new(f"bitcast {half} {made} to {code.kind(16)}")
        return LaneValue(code.resize("zext", made, 16, WORD), 0, (1 << 16) - 1, WORD)
    # Half a unit, less one where the bit that is kept last is 0; a NaN's word does not carry out of its top.
    last = code.apply("and", WORD, code.apply("lshr", WORD, x, code.word(16, WORD)), code.word(1, WORD))
    up = code.apply("add", WORD, last, code.word((1 << 15) - 1, WORD))
    size = code.apply("and", WORD, x, code.word(_SIZE_32, WORD))
    is_nan = code.relate("ult", WORD, code.word(_INF, WORD), size)
    made = code.choose(is_nan, WORD, x, code.apply("add", WORD, x, up))
    made = code.apply("lshr", WORD, made, code.word(16, WORD))
    return LaneValue(made, 0, (1 << 16) - 1, WORD)


def named(nan_word: int, fmt: Format, keeps: bool, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """NaN replacement: c's NaN made quiet where the design keeps payloads, else the design's `nan_word`."""
    bits = fmt.width
    sign = 1 << (bits - 1)
    quiet = 1 << (fmt.fraction_bits - 1)

    def is_nan(text: str) -> str:
        size = code.apply("and", bits, text, code.word(sign - 1, bits))
        return code.relate("ult", bits, code.word(fmt.infinity, bits), size)

    result = code.operand(given[0], bits)
    quieted = code.choose(is_nan(result), bits, code.word(nan_word, bits), result)
    if keeps:
        c = code.operand(given[1], bits)
        own = code.apply("or", bits, c, code.word(quiet, bits))
        quieted = code.choose(is_nan(c), bits, own, quieted)
    return any_word(quieted, bits)


# ------------------------------------------------------------------------------------ Tininess after rounding
# Binary32 results below 2^-126 with unbounded exponent, though they round to 2^-126.
#
# Tininess is read off the same operation on numbers 2^RAISED times as large: it rounds to as many bits, but
# within the normal range, unless a number overflows.  If the addend overflows, or a factor that is not
# multiplied by zero, the exact result is zero or has only bits far above 2^-126: an Inf or NaN is then not
# tiny, and no flush is needed.  If a factor overflows that is multiplied by zero, the result is the addend,
# which is never subnormal where that can happen.
#: The exponent of the power of two by which numbers are raised.
RAISED = 32
#: Encodings of binary32: that power, and the least normal number times it.
_POWER, _LEAST_RAISED = (127 + RAISED) << 23, (1 + RAISED) << 23
_SIGN = 1 << (WORD - 1)


def raised_number(code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """A number times 2^RAISED: Inf where that overflows."""
    x = as_float(code, any_word(code.operand(given[0], WORD)))
    power = as_float(code, any_word(code.word(_POWER, WORD)))
    return as_word(code, code.new(f"fmul {float_kind(code, WORD)} {x}, {power}"), WORD)


def zeroed(name: str, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """A result flushed to zero where the same operation (`mul`, `fma`) on raised numbers is tiny.

    Shapes: the raised operands, then the result; encodings of binary32.
    Zero, NaN, Inf: stay what they are.
    """
    *operands, made = given
    text = code.operand(made, WORD)
    word = code.operand(operation(name, WORD, code, operands), WORD)
    size = code.apply("and", WORD, word, code.word(_SIGN - 1, WORD))
    # Magnitudes are in the order of their encodings, and a NaN is above them.
    below = code.relate("ult", WORD, size, code.word(_LEAST_RAISED, WORD))
    sign = code.apply("and", WORD, text, code.word(_SIGN, WORD))
    return any_word(code.choose(below, WORD, sign, text))


# ------------------------------------------------------- Sums in binary64 with one final rounding to binary32
# Products of formats of up to 24 bits are exact in binary64.  A binary64 sum rounded to odd rounds to
# binary32 as the exact sum does, also if it was rounded to odd twice, or if it has three terms whose small
# parts were [Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008].  More than two products
# are added in two exact windows, if the format's exponents allow that.
#: Bits of a significand of binary64, and what it has beyond one of binary32.
_PRECISION, _BEYOND = 53, 29
#: The encoding of the least normal number of binary32 in binary64.
_LEAST = (1023 - 126) << 52
#: Inf of binary32, and all but the sign.
_INF, _SIZE_32 = 0xFF << 23, (1 << 31) - 1


def _lowest(a: Format, b: Format) -> int:
    """The exponent of a power of two of which all products of two formats are multiples."""
    return 2 - a.bias - b.bias - a.fraction_bits - b.fraction_bits


def _window(a: Format, b: Format, products: int) -> int | None:
    """The weight that splits a sum of `products` terms into two exact windows; None if none exists."""
    grown, lowest = products.bit_length(), _lowest(a, b)
    highest = (1 << a.exponent_bits) + (1 << b.exponent_bits) - a.bias - b.bias
    cut = (lowest + highest) // 2
    return cut if max(highest - cut, cut - lowest) + grown + 1 < _PRECISION else None


def fits(a: Format, b: Format, d: Format, products: int, values: int) -> bool:
    """Whether `rounded_sum` supports this number of products and of other numbers of `d`."""
    if a.precision + b.precision > _PRECISION - 4 or values > 1:
        return False
    if products == 1:
        # In binary32 the product is exact, and no sum overflows.
        return values == 1 and {a.name, b.name, d.name} == {"fp16"}
    # What a bf16 sum is below binary32's normal numbers, where it is not rounded to odd, has to be exact.
    if d.name == "bf16" and _lowest(a, b) < d.e_min - d.fraction_bits:
        return False
    return products == 2 or (products > 2 and _window(a, b, products) is not None)


def rounded_sum(
    a: Format, b: Format, odd: bool, products: int, values: int, code: Code, given: Sequence[LaneValue]
) -> LaneValue:
    """The exact sum of products and at most one binary32 number, rounded to nearest, or, `odd`, to odd.

    Shapes: the factors a, b of each product, then the number; encodings of binary32.
    Zero: a sum of zero is -0 where every operand is negative.  Inf: the number, products being finite.
    """
    f, cut = _Floats(code, DOUBLE), None if products == 2 else _window(a, b, products)
    x = [f.widened(y) for y in given]
    terms = [f("mul", x[2 * i], x[2 * i + 1]) for i in range(products)]
    if cut is not None:
        terms = f.windows(terms, cut)
    narrowed = f.cut_to_odd if odd else f.narrowed
    if not values:
        return narrowed(f.add_to_odd(*terms))
    total, low = f.two_sum(terms[1], x[-1])
    high, middle = f.two_sum(terms[0], total)
    whole = f.add_to_odd(high, f.add_to_odd(middle, low))
    none = code.relate("eq", DOUBLE, f.size(whole), code.word(0, DOUBLE))
    return _special(code, none, narrowed(whole), given, products)


def rounded_fma(code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The exact sum of a product of fp16 and a number of it, in binary32, rounded to odd.

    Shapes: both factors, then the number; encodings of binary32.
    Inf, NaN: those of the number, products being finite.
    """
    f = _Floats(code, WORD)
    a, b, c = (as_float(code, any_word(code.operand(x, WORD))) for x in given)
    made = f.word(f.add_to_odd(f("mul", a, b), c))
    beyond = code.relate("ule", WORD, code.word(_INF, WORD), f.size(c))
    return any_word(code.choose(beyond, WORD, code.operand(given[2], WORD), made))


def _special(code: Code, none: str, made: LaneValue, given: Sequence[LaneValue], products: int) -> LaneValue:
    """The corrected sum for an exact zero (`none`) and for an addend that is NaN or Inf."""

    def bits(name: str, x: str, y: str) -> str:
        return code.apply(name, WORD, x, y)

    word = [code.operand(x, WORD) for x in given]
    size = code.word(_SIZE_32, WORD)
    signs = word[-1]
    for i in range(products):
        signs = bits("and", signs, bits("xor", word[2 * i], word[2 * i + 1]))
    signs = bits("and", signs, code.word(1 << 31, WORD))
    text = code.choose(none, WORD, signs, made.text)
    beyond = code.relate("ule", WORD, code.word(_INF, WORD), bits("and", word[-1], size))
    return any_word(code.choose(beyond, WORD, word[-1], text))


def rounded_to_odd(name: str, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """A product or sum of two binary32 numbers rounded to odd; results below normal become zero.

    Inf: what is 2^128 and more; an operand that is Inf or NaN is added as IEEE 754 says.
    """
    f = _Floats(code, DOUBLE)
    x, y = (f.widened(v) for v in given)
    if name == "mul":
        return f.narrowed_to_odd(f("mul", x, y))
    plain = f("add", x, y)
    finite = code.relate("ult", DOUBLE, f.size(plain), code.word(0x7FF << 52, DOUBLE))
    made = code.choose(finite, DOUBLE, f.word(f.add_to_odd(x, y)), f.word(plain))
    return f.narrowed_to_odd(f.number(made))


class _Floats:
    """A builder of instructions on binary32 or binary64, one number per lane."""

    def __init__(self, code: Code, bits: int) -> None:
        self._code, self._bits, self._kind = code, bits, float_kind(code, bits)

    def __call__(self, name: str, x: str, y: str) -> str:
        return self._code.new(f"f{name} {self._kind} {x}, {y}")

    def word(self, x: str) -> str:
        """Bit cast from a number to its encoding."""
        return as_word(self._code, x, self._bits).text

    def number(self, word: str) -> str:
        """Bit cast from an encoding to a number."""
        return as_float(self._code, any_word(word, self._bits))

    def size(self, x: str) -> str:
        """The encoding of a number's magnitude."""
        size = self._code.word((1 << (self._bits - 1)) - 1, self._bits)
        return self._code.apply("and", self._bits, self.word(x), size)

    def constant(self, exponent: int) -> str:
        """The constant 1.5·2^exponent."""
        text = f"{1.5 * 2.0**exponent:.1f}"
        return text if self._code.lanes == 1 else f"splat (double {text})"

    def widened(self, x: LaneValue) -> str:
        """Conversion from binary32 to binary64."""
        text = as_float(self._code, any_word(self._code.operand(x, WORD)))
        return self._code.new(f"fpext {float_kind(self._code, WORD)} {text} to {self._kind}")

    def narrowed(self, x: str) -> LaneValue:
        """Conversion to binary32, rounded to nearest, as an encoding."""
        rounded = self._code.new(f"fptrunc {self._kind} {x} to {float_kind(self._code, WORD)}")
        return as_word(self._code, rounded, WORD)

    def two_sum(self, x: str, y: str) -> tuple[str, str]:
        """TwoSum: the rounded sum of two numbers and its exact rounding error [Knuth]."""
        total = self("add", x, y)
        part = self("sub", total, x)
        return total, self("add", self("sub", x, self("sub", total, part)), self("sub", y, part))

    def add_to_odd(self, x: str, y: str) -> str:
        """The sum of two numbers, rounded to odd."""
        code, bits = self._code, self._bits
        total, lost = self.two_sum(x, y)
        word, rest = self.word(total), self.word(lost)
        one, none = code.word(1, bits), code.word(0, bits)
        even = code.relate("eq", bits, code.apply("and", bits, word, one), none)
        inexact = code.relate("ne", bits, self.size(lost), none)
        # An even neighbour of an inexact sum gives way to the odd one on the sum's side.
        apart = code.apply("ashr", bits, code.apply("xor", bits, word, rest), code.word(bits - 1, bits))
        odd = code.apply("add", bits, word, code.apply("or", bits, apart, one))
        return self.number(code.choose(code.apply("and", TRUTH, even, inexact), bits, odd, word))

    def windows(self, terms: Sequence[str], cut: int) -> list[str]:
        """Two exact sums over all terms: of the parts above and below the weight `cut`."""
        aid = self.constant(cut + _PRECISION - 1)
        high = low = ""
        for x in terms:
            top = self("sub", self("add", x, aid), aid)
            rest = self("sub", x, top)
            high = self("add", high, top) if high else top
            low = self("add", low, rest) if low else rest
        return [high, low]

    def narrowed_to_odd(self, x: str) -> LaneValue:
        """Conversion to binary32, rounded to odd, with zero below the least normal number."""
        code = self._code
        sign = code.apply("and", DOUBLE, self.word(x), code.word(1 << 63, DOUBLE))
        small = code.relate("ult", DOUBLE, self.size(x), code.word(_LEAST, DOUBLE))
        return self.cut_to_odd(self.number(code.choose(small, DOUBLE, sign, self.word(x))))

    def cut_to_odd(self, x: str) -> LaneValue:
        """Conversion to binary32, rounded to odd; below the least normal number, to nearest as well."""
        code = self._code
        word = self.word(x)
        ones = code.word((1 << _BEYOND) - 1, DOUBLE)
        # What is cut off carries into the lowest bit that is kept, and that bit was 1 or becomes it.
        sticky = code.apply("add", DOUBLE, code.apply("and", DOUBLE, word, ones), ones)
        kept = code.apply("or", DOUBLE, word, sticky)
        return self.narrowed(self.number(code.apply("and", DOUBLE, kept, code.word(-(1 << _BEYOND), DOUBLE))))


# ----------------------------------------------------------------------------------------------- Dot products
#: Rounding to odd, which no processor does in binary32 itself.
_ODD = Conversion("RO", 8, 23)
#: Conversions that a processor's operations make, and the bits of the floats that they are made in.
_NATIVE = {Conversion("RNE", 8, 23): WORD, Conversion("RNE", 11, 52): DOUBLE, _ODD: WORD}
#: Those that are made of a sum that was rounded to odd.
_NARROW = {Conversion("RNE", 5, 10): WORD, Conversion("RNE", 8, 7): WORD}
#: Parameters that are read here, or that steps speak of; any other one has to have its default value.
_KNOWN = {
    "products", "summation", "c_position", "order", "group", "product_limit", "product_rounding",
    "accumulator", "conversion", "operand_subnormals", "b_subnormals", "c_subnormals", "result_subnormals",
    "nan_word", "nan_rule", "zero_sign", "overflow", "zero_exponent", "negated",
}  # fmt: skip


def add_ieee(graph: Graph, spec: UnitSpec, stages: Dot, ways: LoweringRules) -> bool:
    """Add a rule for the result of a dot product whose steps are all IEEE operations; else add none."""
    design, o, tree, how = spec.design, spec.operands, spec.tree, spec.emulation
    if spec.scale_format is not None or (how is not None and how.addition != design):
        return False
    if tree is not None and (tree.settings or tree.nan_rule != "word" or design.nan_rule != "word"):
        return False
    others = (f for f in fields(design) if f.name not in _KNOWN)
    if any(getattr(design, f.name) != f.default for f in others):
        return False
    bits = (_NATIVE | _NARROW).get(design.rho)
    if bits is None or o.c != o.d or not design.rho.fits(o.d) or design.zero_sign != "ieee":
        return False
    if o.d.width != bits and o.d.name not in ("fp16", "bf16"):
        return False
    if not all(holds_numbers(bits, fmt) for fmt in (o.a, o.b)):
        return False
    # A conversion is exact, but makes normal numbers of subnormal ones.
    subnormals = {design.operand_subnormals, design.b_subnormals or "kept", design.c_subnormals}
    if subnormals != {"kept"} and (how is not None or (tree is not None and tree.converted is not None)):
        return False
    if design.product_limit is not None or design.group is not None:
        return False
    steps = _Steps(graph, spec, bits, ways)
    if not all(steps.take(step) for step in stages.steps):
        return False
    keeps = design.nan_rule != "word"
    ways.add(ways.of(stages.result), (steps.last, graph.inputs["c"]), named, design.nan_word, o.d, keeps)
    return True


class _Steps:
    """A builder of the rules of one dot product: each step is a node for the encoding of its result."""

    def __init__(self, graph: Graph, spec: UnitSpec, bits: int, ways: LoweringRules) -> None:
        self._graph, self._spec, self._bits, self._ways = graph, spec, bits, ways
        self._known: dict[Operand, Node] = {}
        self.last = graph.inputs["c"]
        self._keep(Operand("c"), self._flushed(self.last, spec.operands.c, spec.design.c_subnormals))

    def take(self, step: DotStep) -> bool:
        """Add the rule of one step; false for a step that is no IEEE operation."""
        design, rounded = self._spec.design, step.rounded
        if rounded is None or step.floor is not None or not step.exact:
            return False
        narrow = rounded.target in _NARROW
        if (_NATIVE | _NARROW).get(rounded.target) != self._bits or design.overflow == "largest":
            return False
        odd = rounded.target == _ODD
        if odd and (design.result_subnormals == "kept" or design.overflow != "infinity"):
            return False
        known = [x for x in step.operands if self._value(x) is not None]
        exact = [x for x in step.operands if self._value(x) is None]
        if any(x.kind != "products" or len(x.ks) != 1 for x in exact):
            return False
        products = [self._factors(x.ks[0]) for x in exact]
        factors = [y for pair in products for y in pair]
        values = [y for x in known if (y := self._value(x)) is not None]
        counts = len(exact), len(known)
        name = None if narrow else {(1, 0): "mul", (1, 1): "fma", (0, 2): "add"}.get(counts)
        o = self._spec.operands
        if odd and name in ("mul", "add"):
            emit: Emit = partial(rounded_to_odd, name)
        elif name is not None and not odd:
            emit = partial(operation, name, self._bits)
        elif name is None and self._bits == WORD and not odd and fits(o.a, o.b, o.d, *counts):
            emit = rounded_fma if counts == (1, 1) else partial(rounded_sum, o.a, o.b, narrow, *counts)
        else:
            return False
        made = self._ways.derive([*factors, *values], emit)
        if narrow:
            made = self._ways.derive((made,), narrowed, o.d)
        if design.result_subnormals == "tiny_zero" and name != "add":
            if odd or name is None or not self._raisable():
                return False
            # One factor of each product, and the number.
            raised = [self._ways.derive((x,), raised_number) for x in (factors[0], *values)]
            made = self._ways.derive([raised[0], factors[1], *raised[1:], made], zeroed, name)
        elif design.result_subnormals != "kept":
            # Where a sum of two numbers is below normal nothing is rounded: it is tiny itself.
            made = self._flushed(made, o.d, "signed_zero")
        self.last = made
        if step.made.kind in ("block", "tree", "parts"):
            # Where it is the c of another sum it is flushed once more.
            made = self._flushed(made, o.c, design.c_subnormals)
        self._keep(step.made, made)
        return True

    def _raisable(self) -> bool:
        """Whether `tiny` is valid: raised factors stay finite, or no addend is subnormal."""
        a = self._spec.operands.a
        stays = (1 << a.exponent_bits) - a.bias + RAISED < 1 << 7
        return self._bits == WORD and (stays or self._spec.design.c_subnormals != "kept")

    def _keep(self, name: Operand, word: Node) -> None:
        """Keep a number of the format of C and D, as the operand of that name, in the processor's width."""
        self._known[name] = self._ways.derive((word,), widened, self._spec.operands.d)

    def _value(self, x: Operand) -> Node | None:
        if x.kind == "zero":
            return self._graph.const(0, self._bits)
        return self._known.get(x)

    def _factors(self, k: int) -> tuple[Node, Node]:
        """Both factors of product `k`, as encodings of the processor's float width."""
        words, rule, of_b = [], self._spec.design.operand_subnormals, self._spec.design.b_subnormals
        rules = {"a": rule, "b": rule if of_b is None else of_b}
        for name, fmt in (("a", self._spec.operands.a), ("b", self._spec.operands.b)):
            word = self._graph.inputs[f"{name}[{k}]"]
            kept = self._flushed(word, fmt, rules[name])
            words.append(self._ways.derive((kept,), widened, fmt))
        if self._spec.design.subtracts(k):
            words[0] = self._ways.derive((words[0],), negated, self._bits)
        return words[0], words[1]

    def _flushed(self, x: Node, fmt: Format, rule: str) -> Node:
        """An encoding with subnormals flushed to +0 or to a zero of their sign, by `rule`."""
        if rule == "kept":
            return x
        assert rule in ("signed_zero", "positive_zero"), rule
        top = 1 << (fmt.width - 1)

        def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
            bits = given[0].bits
            text = code.operand(given[0], bits)
            size = code.apply("and", bits, text, code.word(top - 1, bits))
            least = 1 << (fmt.fraction_bits + fmt.ignored_low_bits)
            # Less one, a zero is the largest number of all.
            less = code.apply("sub", bits, size, code.word(1, bits))
            below = code.relate("ult", bits, less, code.word(least - 1, bits))
            sign = code.word(0, bits)
            if rule == "signed_zero":
                sign = code.apply("and", bits, text, code.word(top, bits))
            return LaneValue(code.choose(below, bits, sign, text), 0, 2 * top - 1, bits)

        return self._ways.derive((x,), emit)


# ----------------------------------------------------------------------------------- Rounded sums of products
#: Operations, by the numbers of the addends' factors; a power of two is one.
_NAMES = {(2,): "mul", (1, 1): "add", (2, 1): "fma", (1, 2): "fma"}


def add_rounded(
    root: Node, operands: Sequence[tuple[Node, Format]], addends: Sequence[ScaledProduct], fmt: Format,
    mode: str, ways: LoweringRules,
) -> bool:  # fmt: skip
    """Add a rule for the encoding `root` of a rounded sum where one IEEE operation computes it.

    Shapes: operands: the encodings that the addends' factors are numbers of.
    NaN: every NaN has the format's word.
    """
    name = _NAMES.get(tuple(len(x.factors) + bool(x.shift) for x in addends))
    wide = OPERANDS[fmt.width] if fmt.name in ("fp32", "fp64") else ()
    if name is None or mode != "RNE" or not floats() or any(f.name not in wide for _, f in operands):
        return False
    if any(x.exponents or (x.shift and not fmt.e_min <= x.shift <= fmt.e_max) for x in addends):
        return False
    products_first = sorted(addends, key=lambda x: -len(x.factors) - bool(x.shift))
    values = []
    for x in products_first:
        for i, factor in enumerate(x.factors):
            node, own = operands[factor]
            made = ways.derive((node,), widened, own)
            values.append(ways.derive((made,), negated, fmt.width) if x.negative and not i else made)
        if x.shift:
            # x·2^s is exact, so that the sum is a fused multiply-add's.
            word = (x.shift + fmt.bias) << fmt.fraction_bits
            values.append(ways.derive((), constant, word, fmt.width))
    result = ways.derive(values, operation, name, fmt.width)
    ways.add(root, (result,), named, nan_word_of(fmt), fmt, False)
    return True
