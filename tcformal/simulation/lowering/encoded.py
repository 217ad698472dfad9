"""Factors of products, read off their encodings; apart from the sums that are made of them in `aligned`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tcformal.backends.lanes import WORD, Code, LaneValue, lane_for
from tcformal.backends.llvm import Lowering
from tcformal.backends.machine import floats
from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.pack import converted_word
from tcformal.semantics.stages import AlignedTerm, Maximum
from tcformal.semantics.unpack import unpack
from tcformal.simulation.kernels.cut import sides_of
from tcformal.simulation.kernels.rules import Emit, LoweringRules, any_word, as_float, as_word, float_kind
from tcformal.simulation.lowering.instructions import BIAS, BYTE, FIELD, HALF


# ----------------------------------------------------------------------- Products of one operand of each side
@dataclass(frozen=True, slots=True)
class Affine:
    """A sum of nodes and a constant, without wrap-around."""

    atoms: tuple[Node, ...]
    constant: int


@dataclass(frozen=True, slots=True)
class Factor:
    """One factor of a product: sign, significand and exponent of an operand.

    Ranges and units: its exponent is the sum of the nodes of `exponent`, in [low, high]; `zeros` are truth
    values of which one is 1 where its significand is 0.
    """

    significand: Node
    signs: tuple[Node, ...]
    zeros: tuple[Node, ...]
    exponent: Affine
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Product:
    """A term that is a product of two factors; exponents count from the tree's lowest one."""

    term: AlignedTerm
    factors: tuple[Factor, Factor]
    #: With which exponent a zero product takes part; None for its own.
    zero_code: int | None
    #: Each factor's exponent as a node, where it was derived.
    exponents: tuple[Node, ...] = ()

    @property
    def low(self) -> int:
        """The least exponent of a nonzero product."""
        return sum(x.low for x in self.factors)

    @property
    def high(self) -> int:
        """The largest exponent of a product."""
        return sum(x.high for x in self.factors)


class Reader:
    """Known facts about the nodes of one dot product: bounds, and the sides that they depend on."""

    def __init__(self, graph: Graph, root: Node, ways: LoweringRules) -> None:
        self._ways = ways
        _, self._sides = sides_of(graph, root, {})
        whole = {x.index: LaneValue("%x", 0, (1 << x.width) - 1, lane_for(0, (1 << x.width) - 1))
                 for x in graph.inputs.values()}  # fmt: skip
        code = Code(1, "x")
        values = {i: code.as_truth(x) if x.high == 1 else x for i, x in whole.items()}
        self._bounds = Lowering(graph, code, values)

    def holds(self, node: Node) -> bool:
        """Whether a node is part of the dot product."""
        return node.index in self._sides

    def range(self, node: Node) -> tuple[int, int]:
        """The least and the largest value of a node over all inputs."""
        value = self._bounds.value_of(node)
        return (value.low, value.high) if value.low >= 0 else (0, (1 << node.width) - 1)

    def side(self, node: Node) -> frozenset[str]:
        """The sides (`a`, `b`, `c`) that a node depends on; all where it is no part of the dot product."""
        return self._sides.get(node.index, frozenset("abc"))

    def _affine(self, node: Node) -> Affine:
        """A node as a sum of nodes that depend on one side or are no sums themselves."""
        if node.op == "const":
            return Affine((), node.params[1])
        if len(self.side(node)) == 1:
            return Affine((node,), 0)
        if node.op == "zero_extend":
            return self._affine(node.args[0])
        if node.op == "extract" and node.params[1] == 0 and self.range(node.args[0])[1] >> node.width == 0:
            return self._affine(node.args[0])
        if node.op == "add_mod":
            one, other = node.args
            if other.op == "const":
                one, other = other, one
            ranges = self.range(one), self.range(other)
            if not (ranges[0][1] + ranges[1][1]) >> node.width:
                x, y = self._affine(one), self._affine(other)
                return Affine(x.atoms + y.atoms, x.constant + y.constant)
            back = (1 << node.width) - ranges[0][0]
            if one.op == "const" and ranges[1][0] >= back:
                x = self._affine(other)
                return Affine(x.atoms, x.constant - back)
        return Affine((node,), 0)

    def product(self, term: AlignedTerm, leaf: Maximum) -> Product | None:
        """The product that a term is; None unless each factor depends on one side only."""
        t, of = term.term, self._ways.of
        if len(t.factors) != 2:
            return None
        parts = [of(x) for x in t.factors]
        sides = [self.side(x) for x in parts]
        if sorted("".join(x) for x in sides) != ["a", "b"]:
            return None
        signs, zeros = flattened(of(t.sign), "xor"), flattened(of(t.zero), "or_")
        exponent = self._affine(of(t.exponent.bits))
        code, own = of(leaf.code), t.exponent.low - leaf.low
        exponent = Affine(exponent.atoms, exponent.constant + own)
        zero_code = None
        if code.op != "const" and self._affine(code) != exponent:
            kept = self._affine(code)
            choice = kept.atoms[0] if len(kept.atoms) == 1 else code
            if choice.op != "ite" or choice.args[0] is not of(t.zero) or choice.args[1].op != "const":
                return None
            zero_code = choice.args[1].params[1] + kept.constant
        factors: list[Factor] = []
        for significand, side in zip(parts, sides, strict=True):
            atoms = tuple(x for x in exponent.atoms if self.side(x) == side)
            constant = exponent.constant if not factors else 0
            ranges = [self.range(x) for x in atoms]
            factors.append(
                Factor(
                    significand, tuple(x for x in signs if self.side(x) == side),
                    tuple(x for x in zeros if self.side(x) == side), Affine(atoms, constant),
                    sum(x[0] for x in ranges) + constant, sum(x[1] for x in ranges) + constant,
                )
            )  # fmt: skip
        counted = [sum(len(getattr(x, part)) for x in factors) for part in ("signs", "zeros")]
        counted.append(sum(len(x.exponent.atoms) for x in factors))
        if counted != [len(signs), len(zeros), len(exponent.atoms)]:
            return None
        return Product(term, (factors[0], factors[1]), zero_code)


def leaves(x: Maximum) -> list[Maximum]:
    """The exponents under a maximum, in the order of their terms."""
    return [x] if not x.halves else [leaf for half in x.halves for leaf in leaves(half)]


def flattened(node: Node, op: str) -> list[Node]:
    """The operands of nested operators `op`, flattened; none for the constant 0."""
    if node.op == op:
        return [x for arg in node.args for x in flattened(arg, op)]
    return [] if node.op == "const" and node.params[1] == 0 else [node]


def raised_by(aligned: Node, shift: Node, factors: Sequence[Node]) -> int | None:
    """The left shift of a product before its alignment shift, in bits; None for any other term."""
    if aligned.op != "lshr" or aligned.args[1] is not shift:
        return None
    x, raised = aligned.args[0], 0
    if x.op == "concat" and x.args[1].op == "const" and x.args[1].params[1] == 0:
        x, raised = x.args[0], x.args[1].width
    elif x.op == "extract" and x.params[0] == x.args[0].width - 1:
        x, raised = x.args[0], -x.params[1]
    if x.op != "mul_expand" or {y.index for y in x.args} != {y.index for y in factors}:
        return None
    return raised


# ------------------------------- Factors as floats: an encoding is converted to binary32 by moving its fields
#: Bits of an exponent field of binary32.
_EXPONENT = 8
#: Of binary16: bits of a fraction field and of an exponent field, bias.
_HALF_FIELD, _HALF_EXPONENT, _HALF_BIAS = 10, 5, 15


@dataclass(frozen=True, slots=True)
class Encoding:
    """The input that a factor is unpacked from, with its format."""

    word: Node
    fmt: Format


class EncodedOperands:
    """The encodings of a dot product's factors, by the nodes into which `unpack` splits them.

    Shapes: `formats`: those of the inputs a[0], a[1], … and b[0], b[1], …, by side; `wide`: the one that all
    are converted to before they are unpacked, or None.
    """

    def __init__(
        self, graph: Graph, ways: LoweringRules, formats: Mapping[str, Format], wide: Format | None = None
    ) -> None:
        self._found: dict[tuple[int, ...], Encoding] = {}
        for name, word in list(graph.inputs.items()):
            fmt = formats.get(name.partition("[")[0])
            if fmt is None or not plain(fmt) or not widens(fmt, wide):
                continue
            x = unpack(graph, wide_word(graph, word, fmt, wide), wide or fmt).term
            nodes = [ways.of(y).index for y in (x.sign, x.significand, x.zero, x.exponent.bits)]
            found = Encoding(word, fmt)
            if wide is not None and wide != fmt:
                found = Encoding(ways.derive((word,), _widened, fmt), wide)
            self._found[tuple(nodes)] = found

    def of(self, x: Factor) -> Encoding | None:
        """The encoding that a factor equals; None for any other factor."""
        encoding = self.apart(x)
        return None if encoding is None or len(x.exponent.atoms) > 1 else encoding[0]

    def apart(self, x: Factor) -> tuple[Encoding, Node] | None:
        """The encoding of a factor whose exponent includes a scale, with the encoding's own exponent."""
        if not len(x.signs) == len(x.zeros) == 1:
            return None
        for atom in x.exponent.atoms:
            code = atom
            while code.op == "zero_extend":
                (code,) = code.args
            nodes = x.signs[0].index, x.significand.index, x.zeros[0].index, code.index
            if nodes in self._found:
                return self._found[nodes], atom
        return None


def plain(fmt: Format) -> bool:
    """Whether an encoding is sign, exponent and fraction with subnormals, in a half or in a binary32-like
    word.

    It is at most one half, or a word whose fields stand where those of binary32 do.
    """
    read = 1 + fmt.exponent_bits + fmt.fraction_bits
    half = read == fmt.width <= HALF
    word = read + fmt.ignored_low_bits == fmt.width == WORD and fmt.exponent_bits == _EXPONENT
    # What is read of the lower half has room in the upper one.
    word = word and 0 <= 2 * (HALF - fmt.ignored_low_bits) <= fmt.fraction_bits
    return (half or word) and fmt.sign is Sign.PRESENT and fmt.has_zero and fmt.subnormals


def number(fmt: Format, exponent: int) -> Emit | None:
    """A number as a float: its signed integer significand times 2^(exponent code + `exponent`).

    Shapes: one encoding.
    Zero, NaN, Inf: the code of a subnormal number is 1; an encoding of NaN or Inf is read as a number.
    None where the power of two that is left is not a normal float.
    """
    half = as_half(fmt)
    by = exponent + fmt.fraction_bits + (_HALF_BIAS if half else BIAS)
    if not 1 - BIAS <= by <= BIAS or fmt.width > HALF:
        return None
    kept = ((1 << (fmt.width - 1)) - 1) << (FIELD - fmt.fraction_bits) | 1 << (WORD - 1)

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        if half:
            return scaled(code, as_word(code, _half(code, given[0], fmt), WORD))
        text = _in_place(code, given[0], fmt)
        if fmt.exponent_bits < _EXPONENT:
            text = code.apply("and", WORD, text, code.word(kept, WORD))
        return scaled(code, any_word(text))

    def scaled(code: Code, x: LaneValue) -> LaneValue:
        if not by:
            return x
        power = as_float(code, any_word(code.word((BIAS + by) << FIELD, WORD)))
        return as_word(code, code.new(f"fmul {float_kind(code, WORD)} {as_float(code, x)}, {power}"), WORD)

    return emit


def _in_place(code: Code, x: LaneValue, fmt: Format) -> str:
    """An encoding with its fields aligned to those of binary32, and its sign copied above them."""
    text = code.operand(x, WORD)
    # The sign to the top, and from there down again, with copies of it, to leave the fraction in place.
    if fmt.width < WORD:
        text = code.apply("shl", WORD, text, code.word(WORD - fmt.width, WORD))
    if fmt.exponent_bits < _EXPONENT:
        text = code.apply("ashr", WORD, text, code.word(_EXPONENT - fmt.exponent_bits, WORD))
    return text


def significand(fmt: Format) -> Emit:
    """The signed integer significand of an encoding, as a float.

    Shapes: one encoding.
    Zero, NaN, Inf: a subnormal number has that place taken away again, which is exact; NaN and Inf are
    read as numbers.
    """
    one, sign = (BIAS + fmt.fraction_bits) << FIELD, 1 << (WORD - 1)
    kept = sign | ((1 << fmt.fraction_bits) - 1) << (FIELD - fmt.fraction_bits)
    field = ((1 << fmt.exponent_bits) - 1) << FIELD

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        def with_place(mask: int) -> str:
            text = code.apply("and", WORD, word, code.word(mask, WORD))
            text = code.apply("or", WORD, text, code.word(one, WORD))
            return as_float(code, any_word(text))

        word = _in_place(code, given[0], fmt)
        normal, place = with_place(kept), with_place(sign)
        below = as_word(code, code.new(f"fsub {float_kind(code, WORD)} {normal}, {place}"), WORD)
        exponent = code.apply("and", WORD, word, code.word(field, WORD))
        none = code.relate("eq", WORD, exponent, code.word(0, WORD))
        made = code.choose(none, WORD, below.text, as_word(code, normal, WORD).text)
        return any_word(made)

    return emit


def as_half(fmt: Format) -> bool:
    """Whether moving an encoding's fields gives a binary16 number that equals it up to a power of two.

    NaN, Inf: a number with the exponent that binary16 keeps for them is none of its numbers.
    """
    room = fmt.exponent_bits <= _HALF_EXPONENT and fmt.fraction_bits <= _HALF_FIELD
    finite = fmt.largest >> fmt.fraction_bits < (1 << _HALF_EXPONENT) - 1
    return floats() and room and finite and fmt.width in (BYTE, HALF)


def own_exponent(fmt: Format) -> int:
    """The cheapest exponent for the conversion of a number through binary16."""
    return -_HALF_BIAS - fmt.fraction_bits


def widens(fmt: Format, wide: Format | None) -> bool:
    """Whether no conversion is needed, or binary16 (`wide`) contains all numbers of an 8-bit format."""
    if wide is None or wide == fmt:
        return True
    binary16 = wide.exponent_bits == _HALF_EXPONENT and wide.fraction_bits == _HALF_FIELD
    binary16 = binary16 and wide.bias == _HALF_BIAS and plain(wide) and wide.specials is Specials.IEEE
    largest = (fmt.largest >> fmt.fraction_bits) - fmt.bias
    least = 1 - fmt.bias - fmt.fraction_bits
    inside = largest <= _HALF_BIAS and least >= 1 - _HALF_BIAS - _HALF_FIELD
    return binary16 and as_half(fmt) and fmt.width == BYTE and inside


def wide_word(graph: Graph, word: Node, fmt: Format, wide: Format | None) -> Node:
    """The encoding that is unpacked: an input, or the input converted to the wide format."""
    if wide is None or wide == fmt:
        return word
    with graph.scope(f"wide{word.index}"):
        return converted_word(graph, word, fmt, wide)


def _widened(fmt: Format, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The exact conversion of an encoding to binary16, for a number whose fields fit there.

    Shapes: one encoding.
    Zero, NaN, Inf: a zero keeps its sign; NaN and Inf are read as numbers.
    """
    half = "half" if code.lanes == 1 else f"<{code.lanes} x half>"
    kind, power = float_kind(code, WORD), (BIAS + _HALF_BIAS - fmt.bias) << FIELD
    by = as_float(code, any_word(code.word(power, WORD)))
    made = code.new(f"fmul {kind} {_half(code, given[0], fmt)}, {by}")
    made = code.new(f"fptrunc {kind} {made} to {half}")
    made = code.new(f"bitcast {half} {made} to {code.kind(HALF)}")
    return LaneValue(code.resize("zext", made, HALF, WORD), 0, (1 << HALF) - 1, WORD)


def _half(code: Code, x: LaneValue, fmt: Format) -> str:
    """The binary16 number with an encoding's fields; its conversion meets no subnormal float."""
    text = code.operand(x, HALF)
    spare = _HALF_EXPONENT - fmt.exponent_bits
    if fmt.width == BYTE:
        if spare:
            # With copies of the sign, which end above the fields.
            text = code.resize("sext", code.operand(x, BYTE), BYTE, HALF)
        text = code.apply("shl", HALF, text, code.word(_HALF_FIELD - fmt.fraction_bits, HALF))
        if spare:
            kept = ((1 << (fmt.width - 1)) - 1) << (_HALF_FIELD - fmt.fraction_bits) | 1 << (HALF - 1)
            text = code.apply("and", HALF, text, code.word(kept, HALF))
    kind = "half" if code.lanes == 1 else f"<{code.lanes} x half>"
    made = code.new(f"bitcast {code.kind(HALF)} {text} to {kind}")
    return code.new(f"fpext {kind} {made} to {float_kind(code, WORD)}")
