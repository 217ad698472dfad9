"""A search for inputs whose result falls where an operand grows: rows near steps of exponents, improved."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.distance.replayed import many, padded
from tcformal.analysis.errors import values_of
from tcformal.encodings.spec import Format
from tcformal.simulation.runnable import RunnableProgram
from tcformal.simulation.unit import Unit

RowWords = NDArray[np.uint64]
#: Rows that are kept from round to round, rows made from each of them, and rounds; less of long rows.
_KEPT, _CHILDREN, _ROUNDS = 48, 16, 40
#: Rows that are drawn first, and elements of all rows of a round at most.
_DRAWN, _ELEMENTS = 4096, 1 << 17
#: Binades below the step in which products and c are drawn.
_SPAN = 32
#: The best rows: operands a [2, K], b [K] and c [2].
FallRow = tuple[RowWords, RowWords, RowWords]


class FallSearch:
    """Rows of operands, each with one operand that grows by one step.

    Shapes: rows are a, b [n, K], c [n]; of `operand`, c or a[0], the larger word is beside them, [n].
    """

    def __init__(self, x: Unit | RunnableProgram, length: int, operand: str, mixed: bool, seed: int) -> None:
        self.x, self.length, self.operand, self.mixed = x, length, operand, mixed
        self.formats = (x.a_format, x.b_format, x.c_format)
        self.k = padded(x, length)
        self.draw = np.random.default_rng([seed, length, len(operand), int(mixed)])
        self.most = max(8, _ELEMENTS // self.k)

    # ------------------------------------------------------------------ what falls
    def falls(self, a: RowWords, b: RowWords, c: RowWords, more: RowWords) -> NDArray[np.float64]:
        """How far each row's result falls: in ulps, or in units of u·(Σ|a_k·b_k| + |c|) of mixed signs."""
        d = self.x.d_format
        a2, c2 = (a, more) if self.operand == "c" else (a.copy(), c)
        if self.operand != "c":
            a2[:, 0] = more
        before, after = (values_of(many(self.x, *rows), d) for rows in ((a, b, c), (a2, b, c2)))
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            if self.mixed:
                x, y, z = (
                    values_of(self._stored(w, f), f) for w, f in zip((a, b, c), self.formats, strict=True)
                )
                unit = ((np.abs(x) * np.abs(y)).sum(1) + np.abs(z)) * 2.0**-d.precision
            else:
                top = np.maximum(np.abs(before), np.abs(after))
                unit = np.ldexp(1.0, np.maximum(np.frexp(top)[1] - 1, d.e_min) - d.fraction_bits)
            found = (before - after) / unit
        return np.where(np.isfinite(found) & (found > 0), found, 0.0)

    @staticmethod
    def _stored(words: RowWords, fmt: Format) -> NDArray[np.unsignedinteger]:
        return words.astype(f"u{fmt.storage_bits // 8}")

    # ------------------------------------------------------------------ rows
    def words(self, fmt: Format, exponents: NDArray[np.int64]) -> RowWords:
        """Normal numbers of these exponents, cut to the format's: powers of two, their neighbours, any."""
        e = np.clip(exponents, fmt.e_min, fmt.e_max - 1)
        kinds, any_ = (
            self.draw.integers(0, 4, e.shape),
            self.draw.integers(0, 1 << fmt.fraction_bits, e.shape),
        )
        whole = (1 << fmt.fraction_bits) - 1
        fraction = np.choose(
            kinds, [np.zeros_like(any_), np.full_like(any_, whole), any_, np.ones_like(any_)]
        )
        body = ((e + fmt.bias) << fmt.fraction_bits | fraction) << fmt.ignored_low_bits
        negative = self.draw.integers(0, 2, e.shape) * fmt.sign_bit if self.mixed else 0
        return np.asarray(body | negative, np.uint64)

    def products(self, tops: NDArray[np.int64], count: int) -> tuple[RowWords, RowWords]:
        """Factors of products whose exponents lie below those of `tops`, often in one binade."""
        shape = (len(tops), count)
        alike = np.repeat(self.draw.integers(0, _SPAN, (len(tops), 1)), count, 1)
        below = np.where(self.draw.random((len(tops), 1)) < 0.7, alike, self.draw.integers(0, _SPAN, shape))
        q = tops[:, None] - below
        first = (q + self.draw.integers(-2, 3, shape)) // 2
        fa, fb, _ = self.formats
        first = np.clip(first, fa.e_min, fa.e_max - 1)
        a, b = self.words(fa, first), self.words(fb, q - first)
        if self.draw.random() < 0.5:
            # One product for all is the usual worst case.
            a, b = np.repeat(a[:, :1], count, 1), np.repeat(b[:, :1], count, 1)
        return a, b

    def step(self, fmt: Format, exponents: NDArray[np.int64]) -> tuple[RowWords, RowWords]:
        """Two neighbours, the larger number second; the one of larger magnitude is a power of two."""
        e = np.clip(exponents, fmt.e_min + 1, fmt.e_max - 1)
        power = ((e + fmt.bias) << fmt.fraction_bits) << fmt.ignored_low_bits
        less = power - (1 << fmt.ignored_low_bits)
        negative = (self.draw.integers(0, 2, e.shape) == 1) & self.mixed & (fmt.sign_bit > 0)
        low = np.where(negative, power | fmt.sign_bit, less)
        high = np.where(negative, less | fmt.sign_bit, power)
        return np.asarray(low, np.uint64), np.asarray(high, np.uint64)

    def drawn(self, n: int) -> tuple[RowWords, RowWords, RowWords, RowWords]:
        """Random rows."""
        fa, fb, fc = self.formats
        low = max(fa.e_min + fb.e_min + _SPAN // 2, fc.e_min + 1)
        high = max(
            low + 1, min(fa.e_max + fb.e_max, fc.e_max - 1, self.x.d_format.e_max - self.length.bit_length())
        )
        tops = self.draw.integers(low, high, n)
        a, b = np.zeros((n, self.k), np.uint64), np.zeros((n, self.k), np.uint64)
        a[:, : self.length], b[:, : self.length] = self.products(tops, self.length)
        if self.operand == "c":
            c, more = self.step(fc, tops)
        else:
            c = self.words(fc, tops - self.draw.integers(0, _SPAN, n))
            c[self.draw.random(n) < 0.3] = 0
            first = tops // 2
            a[:, 0], more = self.step(fa, first)
            power = np.clip(tops - first + fb.bias, 1, (1 << fb.exponent_bits) - 2)
            b[:, 0] = (power << (fb.fraction_bits + fb.ignored_low_bits)).astype(np.uint64)
        return a, b, c, more

    def children(self, rows: tuple[RowWords, ...]) -> tuple[RowWords, RowWords, RowWords, RowWords]:
        """Each row again and again, with some of its operands taken from random rows."""
        n = min(len(rows[0]) * _CHILDREN, self.most)
        a, b, c, more = (np.resize(x, (n, *x.shape[1:])).copy() for x in rows)
        p, q, z, _ = self.drawn(n)
        at = self.draw.random((n, self.k)) < self.draw.choice([1.0, 4.0, self.k], (n, 1)) / self.k
        at[:, self.length :] = False
        if self.operand != "c":
            at[:, 0] = False
            other = self.draw.random(n) < 0.2
            c = np.where(other, z, c)
        # Products keep the distance from the step that they were drawn with: all move together.
        return np.where(at, p, a), np.where(at, q, b), c, more

    # ------------------------------------------------------------------ search
    def best(self) -> FallRow | None:
        """The row that falls most; None where none falls."""
        rows = self.drawn(min(_DRAWN, self.most * 4))
        found = self.falls(*rows)
        for _ in range(_ROUNDS):
            order = np.argsort(-found, kind="stable")[: min(_KEPT, self.most)]
            kept = tuple(x[order] for x in rows)
            more = self.children(kept)
            rows = tuple(np.concatenate(x) for x in zip(kept, more, strict=True))  # type: ignore[assignment]
            found = np.concatenate([found[order], self.falls(*more)])
        at = int(np.argmax(found))
        if not found[at] > 0:
            return None
        a, b, c, more_ = (x[at] for x in rows)
        if self.operand == "c":
            return np.stack([a, a]), b, np.array([c, more_])
        larger = a.copy()
        larger[0] = more_
        return np.stack([a, larger]), b, np.array([c, c])
