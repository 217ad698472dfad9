"""Kept statements about errors, read from their own text: which sum, under which conditions, which bound."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from attack.exact import Ints, Reals

#: What a bound may be made of: 1, an ulp of d, and 2^ of the limits of exponents that a statement names.
ATOMS = ("1", "ulp", "E", "P", "P0", "P1")


@dataclass(frozen=True, slots=True)
class Bound:
    """Σ q · 2^(atom + shift) with rational q, and q·Σ of magnitudes.

    Ranges and units: `parts`: q of each (atom, shift); `weights` of the magnitudes of products with the sign
    of c, of other products, and of c.
    """

    parts: Mapping[tuple[str, int], Fraction]
    weights: tuple[Fraction, Fraction, Fraction] = (Fraction(0), Fraction(0), Fraction(0))

    def __add__(self, other: Bound) -> Bound:
        parts = dict(self.parts)
        for key, q in other.parts.items():
            parts[key] = parts.get(key, Fraction(0)) + q
        return Bound(parts, tuple(x + y for x, y in zip(self.weights, other.weights, strict=True)))  # type: ignore[arg-type]

    def __mul__(self, q: Fraction | int) -> Bound:
        weights = tuple(x * q for x in self.weights)
        return Bound({key: x * q for key, x in self.parts.items()}, weights)  # type: ignore[arg-type]

    __rmul__ = __mul__

    def __truediv__(self, q: int) -> Bound:
        return self * Fraction(1, q)

    def rounded(self, at: Mapping[str, Ints], magnitudes: tuple[Reals, Reals, Reals], base: Ints) -> Reals:
        """The bound in units of 2^base, to some 50 bits; magnitudes are in these units already."""
        total = np.zeros(base.shape)
        for (atom, shift), q in self.parts.items():
            exponent = np.clip(at[atom] + shift - base, -1000, 1000)
            total += float(q) * np.ldexp(1.0, exponent.astype(np.int32))
        for q, size in zip(self.weights, magnitudes, strict=True):
            total += float(q) * size
        return total

    def exact(self, at: Mapping[str, int], magnitudes: tuple[Fraction, Fraction, Fraction]) -> Fraction:
        """The bound of one row."""
        total = sum((q * Fraction(2) ** (at[a] + shift) for (a, shift), q in self.parts.items()), Fraction(0))
        return total + sum(q * size for q, size in zip(self.weights, magnitudes, strict=True))


@dataclass(frozen=True, slots=True)
class ErrorStatement:
    """What a kept claim says of d less the exact sum: -against <= s · (d - sum) <= along.

    Ranges and units: s is 1, or the sign of c where `signed`; `flushed`: whether subnormal a, b and c count
    as zeros; `least`: of E; `own`: what limits of products there are beside E: none, P, or P0 and P1.
    """

    against: Bound
    along: Bound
    strict: bool
    least: int
    flushed: tuple[bool, bool, bool]
    alternating: bool
    #: Products whose exponents are those of their scales alone, in groups of so many.
    group: int | None
    own: tuple[str, ...]
    #: Whether the exponent of c counts, and by how much less.
    of_c: bool
    lowered: int
    places: int
    #: Whether operands are zero or normal, c has at most so many fraction bits, and c is zero.
    normal: bool = False
    c_bits: int | None = None
    zero_c: bool = False
    signed: bool = False
    #: Products of one call.
    k: int = 0
    text: str = field(default="", compare=False)


def scaled(x: ErrorStatement, factor: Fraction) -> ErrorStatement:
    """The same statement with a bound that is so many times as large."""
    from dataclasses import replace

    return replace(x, against=x.against * factor, along=x.along * factor)


def read_bound(text: str) -> Bound:
    """`4·2^(E-22) + 2·2^-149 + ulp(d)/2` as a bound."""

    def power(atom: str, shift: int) -> Bound:
        return Bound({(atom, shift): Fraction(1)})

    word = text.replace("·", "*").replace("ulp(d)", "power('ulp', 0)")
    word = re.sub(r"2\^\((E|P0|P1|P)([+-]\d+)?\)", lambda m: f"power('{m[1]}', {m[2] or 0})", word)
    word = re.sub(r"2\^(-?\d+)", r"power('1', \1)", word)
    # Sums of a rational and a power that an ulp is multiplied by.
    word = re.sub(
        r"\(1/2 \+ power\('1', (-?\d+)\)\)", lambda m: f"(Fraction(1, 2) + Fraction(2) ** ({m[1]}))", word
    )
    word = re.sub(r"(?<![\w.(-])(\d+)/(\d+)(?=\*)", r"Fraction(\1, \2)", word)
    made = eval(word, {"__builtins__": {}}, {"power": power, "Fraction": Fraction})
    if not isinstance(made, Bound):
        raise AssertionError(f"expected a bound in powers of two, but got {text}")
    return made


def read_error_bound(composition: str, k: int) -> ErrorStatement:
    """The statement of claim `error-bound`."""
    start, _, rest = composition.partition(": ")
    inequality = rest.partition(";")[0]
    one = re.fullmatch(r"\|d - \((Σ .*?)\)\| (<=?) (.*)", inequality)
    two = re.fullmatch(r"-\((.*)\) <= d - \((Σ .*?)\) <= (.*)", inequality)
    if one is not None:
        summed, strict = one[1], one[2] == "<"
        against = along = read_bound(one[3])
    elif two is not None:
        summed, strict = two[2], False
        against, along = read_bound(two[1]), read_bound(two[3])
    else:
        raise AssertionError(f"expected an inequality, but got {inequality}")
    own = ("P0", "P1") if "P0 and P1" in start else ("P",) if "P at least" in start else ()
    group = re.search(r"each of the \d+ groups of (\d+) products", start)
    least = re.search(r"from (-?\d+) to", start)
    places = re.search(r"2\^\(exponent of d - (\d+)\)", composition)
    assert least is not None
    assert places is not None
    return ErrorStatement(
        against, along, strict, int(least[1]),
        ("FTZ(a_k)" in summed, "FTZ(b_k)" in summed, "FTZ(c)" in summed),
        "(-1)^k" in summed, None if group is None else int(group[1]), own,
        bool(own) or "exponent of c" in start or "exponent of FTZ(c)" in start, 0, int(places[1]),
        zero_c="c = 0, with" in start, k=k, text=inequality,
    )  # fmt: skip


def read_relative_error(composition: str, places: int) -> ErrorStatement:
    """The statement of claim `relative-error`, about one block; `places`: fraction bits of d."""
    start, _, rest = composition.partition(": ")
    if ", s the sign of c" in start or "-s·(d" in rest:
        start, _, rest = composition.partition(", s the sign of c: ")
    inequality = rest.partition(";")[0]
    size = re.search(r"one block of (\d+) products", start)
    least = re.search(r"from (-?\d+) to", start)
    bits = re.search(r"of at most (\d+) fraction bits", start)
    lowered = re.search(r"that of c counts (\d+) less", composition)
    assert size is not None
    assert least is not None
    sides = inequality.split(" and s·(d - ")
    pair = [_magnitudes(side.partition(" <= ")[2]) for side in sides]
    if len(pair) == 1:
        pair *= 2
    return ErrorStatement(
        pair[0], pair[1], False, int(least[1]), (False, False, False), "(-1)^k" in inequality, None, (),
        True, 0 if lowered is None else int(lowered[1]), places, True,
        None if bits is None else int(bits[1]), "c = 0, each" in start, len(sides) == 2, int(size[1]),
        inequality,
    )  # fmt: skip


def _magnitudes(text: str) -> Bound:
    """`1/3 · Σ|a_k·b_k| of the others + 1/5 · |c| + 2^-125` as a bound."""
    zero = Fraction(0)
    made = Bound({})
    shapes = {
        "(Σ|a_k·b_k| + |c|)": (1, 1, 1),
        "Σ|a_k·b_k| of the products with that sign": (1, 0, 0),
        "Σ|a_k·b_k| of the others": (0, 1, 0),
        "Σ|a_k·b_k|": (1, 1, 0),
        "|c|": (0, 0, 1),
    }
    for shape, weights in shapes.items():
        at = text.find(f" · {shape}")
        while at >= 0:
            start = text.rfind(" ", 0, at) + 1
            q = Fraction(text[start:at].lstrip("("))
            made += Bound({}, tuple(q * w + zero for w in weights))  # type: ignore[arg-type]
            text = (text[:start] + "+" + text[at + 3 + len(shape) :]).strip()
            at = text.find(f" · {shape}")
    left = [word for word in re.split(r"[ +]+", text) if word]
    for word in left:
        m = re.fullmatch(r"2\^(-?\d+)", word)
        if m is None:
            raise AssertionError(f"expected magnitudes and powers of two, but got {text!r}")
        made += Bound({("1", int(m[1])): Fraction(1)})
    return made
