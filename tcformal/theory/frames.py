"""What sums whose c is aligned apart lose, as `coq/FrameErrors.v` computes it, in fixed point."""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.design.spec import Design
from tcformal.design.unit import UnitSpec
from tcformal.theory.conditions import term_facts
from tcformal.theory.design import block_size
from tcformal.theory.paths import ONE, WIDTH, lost_bits, monotone, up


@dataclass(frozen=True, slots=True)
class Frame:
    """The constants of `FrameErrors.grown`, in units of 2^-WIDTH.

    Ranges and units: of the first block's products of c's sign, `same`, and of the others, `most`; of c of
    every later one, `of_c` against its sign and `along` it.
    """

    same: int
    most: int
    of_c: int
    along: int


def frame(unit: UnitSpec, *, zero_c: bool) -> Frame | None:
    """Constants for which `FrameErrors.frame_grows` holds, from c = 0 or any c; None without `frames_ok`."""
    if not _frames_ok(unit):
        return None
    d, n = unit.design, block_size(unit)
    same, others, c, both, c_along = _losses(d, n, zero_c=False)
    first = _losses(d, n, zero_c=zero_c)
    of_c = () if zero_c else (first[2], first[4])
    along = max(c_along, 0)
    k = max(c, along)
    grown = -(-((max(others, both) + ONE) * ONE) // (ONE + along)) - ONE
    most = max(0, first[0], first[1], first[3], *of_c, grown)
    spared = max(same, both) - ((ONE + most) * k >> WIDTH)
    return Frame(max(0, first[0], first[3], *of_c, spared), max(most, spared), k, along)


def framed_ok(d: Design) -> bool:
    """`FrameErrors.framed_ok`."""
    complement = d.accumulation == "ones_complement"
    return (
        d.framed and all(t.integer_bits is None and monotone(t, d) for t in (d.step, d.rho))
        and not (complement and (d.alignment_rounding != "RZ" or d.aligned_group is not None))
    )  # fmt: skip


def _frames_ok(unit: UnitSpec) -> bool:
    """`FrameErrors.frames_ok` but for the constants."""
    d, terms = unit.design, term_facts(unit)
    if unit.tree is not None or unit.emulation is not None or not framed_ok(d) or terms is None:
        return False
    if d.group is not None or d.piece_bits is not None or d.zero_words != "summed" or d.order == "odd_first":
        return False
    bits, c_bits = int(d.fraction_bits or 0), int(d.c_fraction_bits or 0)
    flushed = d.c_subnormals != "hidden_bit" and d.result_subnormals != "kept"
    return (
        d.zero_exponent != "own" and terms.bits <= bits and d.rho.e_min <= d.rho.e_max
        and max(d.rho.fraction_bits, unit.c_format.fraction_bits) <= c_bits
        and (d.c_subnormals == "kept" or flushed)
        and max(bits, c_bits, lost_bits(d.rho), lost_bits(d.step)) <= WIDTH
    )  # fmt: skip


def _losses(d: Design, n: int, *, zero_c: bool) -> tuple[int, int, int, int, int]:
    """`FrameErrors.frame_losses`: of products of c's sign, of others, of c; along it, of both."""
    complement, size, k = d.accumulation == "ones_complement", d.aligned_group, int(not zero_c)
    if size is None:
        every, same = n, n - 1
    else:
        every = same = -(-n // size) * max(1, size - 1)
    others = every if complement else same
    rounding = ONE + (1 << WIDTH - lost_bits(d.rho))
    if d.accumulator is not None:
        rounding = up((ONE + (1 << WIDTH - lost_bits(d.step))) * rounding)

    def against(units: int, bits: int | None) -> int:
        return up((ONE + (units << WIDTH - int(bits or 0))) * rounding) - ONE

    def along(units: int, bits: int | None) -> int:
        if not complement:
            return against(units, bits)
        return up((ONE + (units << WIDTH - int(bits or 0))) * (rounding - ONE))

    bits, c_bits = d.fraction_bits, d.c_fraction_bits
    return (
        against(same + k, bits), against(others + k, bits), against(every, c_bits),
        along(others + k, bits), along(every, c_bits),
    )  # fmt: skip
