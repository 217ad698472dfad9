"""A builder of directed dot products from given products, with extreme values of formats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache

from tcformal.design.unit import UnitSpec
from tcformal.devices.plan.plan import Directed
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import ValueTextError
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.values import encode_exact, encoded, exponent_of
from tcformal.programs.chain import scale_count
from tcformal.simulation.operands.witness import Witness


class DirectedMaker:
    """A builder of dot products for one unit; ValueTextError for values that its formats lack."""

    def __init__(self, spec: UnitSpec, k: int) -> None:
        self.spec, self.k, self.o = spec, k, spec.operands
        count = scale_count(spec, k)
        one = spec.scale_format.one if spec.scale_format is not None else 0
        self._scales = (one,) * count

    def raw(
        self,
        id_: str,
        why: str,
        products: Mapping[int, tuple[int, int]],
        c: int,
        scales: Mapping[int, tuple[int, int]] | None = None,
    ) -> Directed:
        """A dot product from raw encodings, with products 0·0 and scales 1 elsewhere."""
        a, b = ([products.get(i, (0, 0))[side] for i in range(self.k)] for side in (0, 1))
        ones, given = self._scales, scales or {}
        scale_a, scale_b = (
            tuple(given.get(i, (one, one))[side] for i, one in enumerate(ones)) for side in (0, 1)
        )
        return Directed(id_, why, Witness(tuple(a), tuple(b), c, scale_a, scale_b))

    def of_values(self, id_: str, why: str, products: Mapping[int, Fraction], c: Fraction) -> Directed:
        """A dot product from the exact values of its products."""
        pairs = {i: self.factors(x) for i, x in products.items()}
        return self.raw(id_, why, pairs, encode_exact(self.o.c, c))

    def factors(self, x: Fraction) -> tuple[int, int]:
        """Two operands whose product is x: a significand and a power of two."""
        pair = _factors(self.o.a, self.o.b, x)
        if pair is None:
            raise ValueTextError(f"expected a product that {self.o} holds, but got {x}")
        return pair

    def halved(self, x: Fraction) -> tuple[int, int]:
        """Two operands whose product is x, of similar exponents, so that neither is subnormal."""
        e = exponent_of(abs(x)) // 2
        return encode_exact(self.o.a, x / power_of_two(e)), encode_exact(self.o.b, power_of_two(e))

    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of positions for products: first and last, neighbours, both sides of the middle."""
        k = self.k
        places = [(0, k - 1), (0, 1), (1, 0), (k // 2 - 1, k // 2)]
        return [(i, j) for i, j in dict.fromkeys(places) if 0 <= i < k and 0 <= j < k and i != j]


@lru_cache(maxsize=4096)
def _factors(a: Format, b: Format, x: Fraction) -> tuple[int, int] | None:
    """Two operands with product x, the power of two being nearest to 1; None if impossible."""
    odd = abs(x.numerator) // (x.numerator & -x.numerator) if x else 0
    if odd.bit_length() > a.precision or x.denominator & (x.denominator - 1):
        return None
    reach = max(b.e_max, b.fraction_bits - b.e_min)
    for e in sorted(range(-reach, reach + 1), key=abs):
        first, second = encoded(a, x / power_of_two(e)), encoded(b, power_of_two(e))
        if first is not None and second is not None:
            return first, second
    return None


def nans_of(fmt: Format) -> Iterator[int]:
    """NaNs of a format: signalling and quiet ones of different payloads and signs, or the format's own."""
    low, t = fmt.ignored_low_bits, fmt.fraction_bits
    if fmt.specials is Specials.IEEE:
        quiet = 1 << (t - 1)
        for fraction, sign in ((1, 0), (quiet | 1, 1), (quiet - 1, 0), (quiet, 0), (2 * quiet - 1, 1)):
            if fraction:
                yield fmt.infinity | fraction << low | (fmt.sign_bit if sign else 0)
    elif fmt.specials is Specials.ALL_ONES_NAN:
        yield fmt.largest + 1
        yield fmt.largest + 1 | fmt.sign_bit
    elif fmt.specials is Specials.NEGATIVE_ZERO_NAN:
        yield fmt.sign_bit


def below_two(fmt: Format) -> int:
    """The predecessor of 2 in a format."""
    return fmt.one + (((1 << fmt.fraction_bits) - 1) << fmt.ignored_low_bits)
