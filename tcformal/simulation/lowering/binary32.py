"""Sums rounded to nearest in binary32: their conversion from binary64, which holds them exactly.

A bit that stands for all bits that a sum has lost lies far below the last one that decides a rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.backends.lanes import DOUBLE, TRUTH, WORD, Code, LaneValue
from tcformal.backends.machine import floats
from tcformal.design.rounding import Conversion
from tcformal.design.unit import UnitSpec
from tcformal.ir.build import Graph
from tcformal.semantics.reduce import split_sign
from tcformal.semantics.round import lift_to_minimum
from tcformal.semantics.stages import Dot, DotStep
from tcformal.semantics.sums.sticky import sticky_below
from tcformal.simulation.kernels.rules import LoweringRules, as_word, float_kind
from tcformal.simulation.lowering.instructions import FIELD, added

_FP32 = Conversion("RNE", 8, 23)
#: The widest sum: binary64 holds it, with room for what it has lost below all that decides a rounding.
_WIDEST = 50
#: Of binary64: bits of the fraction field, and bias; of binary32, Inf.
_FRACTION, _BIAS = 52, 1023
_INF = 0xFF << FIELD
#: The encoding in binary64 of the least number that is rounded to 2^-126 with an exponent without end.
_LEAST = ((_BIAS - 127) << _FRACTION) + (((1 << 24) - 1) << (_FRACTION - 24))


def add_rounding(graph: Graph, spec: UnitSpec, stages: Dot, ways: LoweringRules) -> None:
    """Add rules for the parts of every sum that is rounded to nearest in binary32."""
    if not floats() or spec.tree is not None or spec.emulation is not None:
        return
    for step in stages.steps:
        if step.rounded is not None and step.rounded.target == _FP32 and step.floor is None:
            _add(graph, spec, step, ways)


def _add(graph: Graph, spec: UnitSpec, step: DotStep, ways: LoweringRules) -> None:
    total, rounded, carry_bits = step.total, step.rounded, spec.design.carry_bits
    if total is None or rounded is None or total.bits.width > _WIDEST:
        return
    # A significand is 0 where the number is tiny, or 1 where it was rounded up to that: nothing else.
    term, lsb = rounded.result.term, total.lsb
    chosen = term.significand.args[1] if term.significand.op == "ite" else term.significand
    if chosen.op != "const" or chosen.params[1] not in (0, 1 << FIELD):
        return
    _, magnitude = split_sign(graph, total.bits)
    if total.sticky is not None and carry_bits is not None:
        kept = min(magnitude.width, total.fraction_bits + carry_bits + 1)
        magnitude = graph.extract(magnitude, kept - 1, 0)
    # The conversion is of that magnitude, with its bit for what was lost, and of that exponent.
    wide, top = magnitude, lsb.shifted(magnitude.width - 1)
    if total.sticky is not None:
        wide, _ = sticky_below(graph, magnitude, lsb, total.sticky, _FP32.read_bits)
    wide = graph.shift_left_const(wide, max(0, _FP32.read_bits + 3 - wide.width))
    if top.low < _FP32.e_min:
        wide, top, _ = lift_to_minimum(graph, wide, top, _FP32.e_min)
    if wide is not rounded.magnitude or top != rounded.top or not -_BIAS < lsb.low <= lsb.high <= _BIAS:
        return
    sticky = () if total.sticky is None else (ways.of(total.sticky),)
    tiny = chosen.params[1] == 0
    size = ways.derive((ways.of(magnitude), ways.of(lsb.bits), *sticky), _rounded, lsb.low, tiny)
    ways.add(ways.of(term.significand), (size,), _significand)
    ways.add(ways.of(term.exponent.bits), (size,), _exponent)
    ways.add(ways.of(rounded.result.inf), (size,), _infinite)


def _rounded(low: int, tiny: bool, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The encoding of a magnitude times 2^(lsb + `low`); with `tiny`, 0 for what is below 2^-126."""
    x, lsb, *sticky = given
    kind = float_kind(code, DOUBLE)
    bits = WORD if x.high < 1 << (WORD - 1) else DOUBLE
    made = code.new(f"sitofp {code.kind(bits)} {code.operand(x, bits)} to {kind}")
    for lost in sticky:
        some = code.relate("ne", bits, code.operand(x, bits), code.word(0, bits))
        some = code.apply("and", TRUTH, some, code.operand(lost, TRUTH))
        below = code.resize("zext", some, TRUTH, DOUBLE)
        made = _number(code, code.apply("or", DOUBLE, as_word(code, made, DOUBLE).text, below))
    field = code.operand(added(code, [lsb], low + _BIAS), DOUBLE)
    power = _number(code, code.apply("shl", DOUBLE, field, code.word(_FRACTION, DOUBLE)))
    made = code.new(f"fmul {kind} {made}, {power}")
    single = code.new(f"fptrunc {kind} {made} to {float_kind(code, WORD)}")
    text = as_word(code, single, WORD).text
    if tiny:
        word = as_word(code, made, DOUBLE).text
        below = code.relate("ult", DOUBLE, word, code.word(_LEAST, DOUBLE))
        text = code.choose(below, WORD, code.word(0, WORD), text)
    return LaneValue(text, 0, _INF, WORD)


def _number(code: Code, word: str) -> str:
    return code.new(f"bitcast {code.kind(DOUBLE)} {word} to {float_kind(code, DOUBLE)}")


def _significand(code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The significand of an encoding, its hidden bit included."""
    hidden, size = 1 << FIELD, given[0].text
    fraction = code.apply("and", WORD, size, code.word(hidden - 1, WORD))
    whole = code.apply("or", WORD, fraction, code.word(hidden, WORD))
    below = code.relate("ult", WORD, size, code.word(hidden, WORD))
    return LaneValue(code.choose(below, WORD, fraction, whole), 0, 2 * hidden - 1, WORD)


def _exponent(code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The exponent of an encoding, from the least one on."""
    field = code.apply("lshr", WORD, given[0].text, code.word(FIELD, WORD))
    none = code.relate("eq", WORD, field, code.word(0, WORD))
    less = code.apply("sub", WORD, field, code.word(1, WORD))
    return LaneValue(code.choose(none, WORD, code.word(0, WORD), less), 0, 254, WORD)


def _infinite(code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """Whether an encoding is Inf."""
    return code.compare("ule", code.const(_INF), given[0], WORD)
