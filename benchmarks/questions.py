"""The questions of the benchmark: pairs of units, carry bits, and statements about sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tcformal.design.names import resolve
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.query.assume import assumptions
from tcformal.query.pair import question


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: does some input make the assertion equal 1?"""

    name: str
    build: Callable[[], tuple[Graph, Node]]
    #: The answer, where it was known before.
    expected: str = ""


def units(name: str, first: str, second: str, expected: str = "") -> Asked:
    """Do two units ever differ?"""

    def build() -> tuple[Graph, Node]:
        one, other = resolve(first), resolve(second)
        asked = question(one, other, assumptions(one.operands.c, {}))
        return asked.graph, asked.differ

    return Asked(name, build, expected)


def carry_bits(terms: int, few: int, expected: str) -> Asked:
    """Do `few` carry bits and one more ever differ?"""
    one, other = (f"valpey@terms={terms},carry_bits={n},align_bits=0" for n in (few, few + 1))
    return units(f"{terms} terms, {few} or {few + 1} carry bits", one, other, expected)


# ---------------------------------------------------------------------- sums
def _swap() -> tuple[Graph, Node]:
    """(acc + x) + y = (acc + y) + x."""
    g = Graph()
    acc, x, y = (g.input(name, 32) for name in ("acc", "x", "y"))
    return g, g.not_(g.eq(g.add_mod(g.add_mod(acc, x), y), g.add_mod(g.add_mod(acc, y), x)))


def _turned_sum() -> tuple[Graph, Node]:
    """Four aligned addends, summed in turn and the other way round."""
    g = Graph()
    shifted = [g.ashr(g.input(f"x{i}", 28), g.input(f"d{i}", 5)) for i in range(4)]
    totals = []
    for row in (shifted, shifted[::-1]):
        total = row[0]
        for x in row[1:]:
            total = g.add_mod(total, x)
        totals.append(total)
    return g, g.not_(g.eq(*totals))


def _largest() -> tuple[Graph, Node]:
    """The largest of eight exponents does not depend on their order."""
    g = Graph()
    row = [g.input(f"e{i}", 9) for i in range(8)]
    largest = []
    for order in (row, row[4:] + row[:4]):
        top = order[0]
        for x in order[1:]:
            top = g.umax(top, x)
        largest.append(top)
    return g, g.not_(g.eq(*largest))


def _sign_magnitude() -> tuple[Graph, Node]:
    """Two numbers added as signs and magnitudes, or in two's complement."""
    g = Graph()
    words, signed = [], []
    for name in "xy":
        sign, size = g.input(f"{name}.sign", 1), g.input(f"{name}.size", 30)
        long = g.zero_extend_to(size, 32)
        words.append((sign, long))
        signed.append(g.ite(sign, g.neg_mod(long), long))
    (s, x), (t, y) = words
    less = g.ult(x, y)
    apart = g.ite(less, g.sub_mod(y, x), g.sub_mod(x, y))
    same = g.eq(s, t)
    size, sign = g.ite(same, g.add_mod(x, y), apart), g.ite(same, s, g.ite(less, t, s))
    return g, g.not_(g.eq(g.ite(sign, g.neg_mod(size), size), g.add_mod(*signed)))


def _truncation() -> tuple[Graph, Node]:
    """Two truncated terms are at most two units below the truncated sum."""
    g = Graph()
    x, y, d = g.input("x", 40), g.input("y", 40), g.input("d", 6)
    wide = [g.sign_extend_to(v, 42) for v in (x, y)]
    of_sum = g.ashr(g.add_mod(*wide), d)
    apart = g.sub_mod(of_sum, g.add_mod(*[g.ashr(v, d) for v in wide]))
    return g, g.not_(g.ule(apart, g.const(1, 42)))


# ---------------------------------------------------------------------- all
F16, BF16, FP8 = "f32.f16.f16.f32", "f32.bf16.bf16.f32", "f32.e4m3.e4m3.f32"
HOPPER = f"hopper/mma.m16n8k16.{F16}"
CDNA1, CDNA2 = "cdna1/v_mfma_f32_32x32x8f16", "cdna2/v_mfma_f32_32x32x8f16"
CHAIN = "sequential@terms=3,accumulator=RZ-FP32,conversion=RZ-FP32,c_position="
FP32 = "cdna1/v_mfma_f32_32x32x2f32"

QUESTIONS = (
    carry_bits(5, 2, "sat"),
    carry_bits(5, 3, "unsat"),
    carry_bits(9, 3, "sat"),
    carry_bits(9, 4, "unsat"),
    carry_bits(17, 4, "sat"),
    carry_bits(17, 5, "unsat"),
    units("volta, turing: FP16", f"volta/mma.m8n8k4.{F16}", f"turing/mma.m16n8k8.{F16}"),
    units("turing, ampere: FP16", f"turing/mma.m16n8k8.{F16}", f"ampere/mma.m16n8k8.{F16}", "unsat"),
    units("ampere, hopper: FP16", f"ampere/mma.m16n8k16.{F16}", HOPPER, "sat"),
    units("ampere, hopper: BF16", f"ampere/mma.m16n8k16.{BF16}", f"hopper/mma.m16n8k16.{BF16}", "sat"),
    units("ada, hopper: E4M3", f"ada/mma.m16n8k32.{FP8}", "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"),
    units("hopper, 5 carry bits: FP16", HOPPER, f"{HOPPER}@carry_bits=5"),
    units("cdna3, hopper: FP16", "cdna3/v_mfma_f32_32x32x8_f16", f"hopper/mma.m16n8k8.{F16}"),
    units("cdna1, cdna2: FP16", CDNA1, CDNA2),
    units("cdna2, cdna3: FP16", CDNA2, "cdna3/v_mfma_f32_32x32x8_f16"),
    units("cdna1, cdna2: BF16", "cdna1/v_mfma_f32_32x32x4bf16", "cdna2/v_mfma_f32_32x32x4bf16"),
    units("x86, arm: BF16", "x86/vdpbf16ps", "arm/bfdot.ebf1"),
    units("arm, arm: BF16", "arm/bfdot.ebf0", "arm/bfdot.ebf1"),
    units("chain, c first or last: FP16", CHAIN + "first", CHAIN + "last", "sat"),
    units("cdna1, rounded to zero: FP32", FP32, f"{FP32}@conversion=RZ-FP32"),
    Asked("sums: two addends swapped", _swap, "unsat"),
    Asked("sums: four addends turned round", _turned_sum, "unsat"),
    Asked("sums: largest of eight", _largest, "unsat"),
    Asked("sums: signs and magnitudes", _sign_magnitude, "unsat"),
    Asked("sums: two truncations", _truncation, "unsat"),
)  # fmt: skip
