"""Every kept theorem as something that inputs can break: which inputs, and when it is broken."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from attack.built import attained, built
from attack.directed import drawn
from attack.errors import Ratios, ratios
from attack.integers import integers, sums_of_integers
from attack.pairs import Call, Words, halves, identical, larger_c, negated, opposite, ordered, reordered
from attack.statements import ErrorStatement, read_error_bound, read_relative_error, scaled
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.formats.spec import Format
from tcformal.interp.vector import evaluate
from tcformal.ir.build import Graph
from tcformal.operands.batch import columns, rows_of, together
from tcformal.operands.random import Batch
from tcformal.operands.spread import close
from tcformal.programs.chain import common_k, declare_inputs, definition
from tcformal.query.assume import Assumptions, assume_of_unit, from_texts


class Theorem(Protocol):
    """One kept theorem."""

    @property
    def claim(self) -> str:
        """What is claimed, by its name."""

    @property
    def spec(self) -> UnitSpec:
        """The unit that it is about, with the products of its inputs."""

    @property
    def guided(self) -> bool:
        """Whether a ratio says how near inputs are to breaking it."""

    @property
    def drawn_as(self) -> object:
        """The same for theorems of one unit whose inputs are drawn alike."""

    def inputs(self, rng: np.random.Generator, n: int) -> Batch:
        """n dot products that are most likely to break it."""

    def allowed(self, x: Batch) -> Batch:
        """The same with what the theorem supposes of c."""

    def calls(self, x: Batch) -> list[Call]:
        """What has to be evaluated."""

    def judge(self, x: Batch, results: Sequence[Words]) -> Ratios:
        """Which inputs break it."""


@dataclass(frozen=True)
class ErrorTheorem:
    """Claims `error-bound` and `relative-error`."""

    claim: str
    spec: UnitSpec
    statement: ErrorStatement
    guided: bool = True

    @property
    def drawn_as(self) -> object:
        return self.spec.k, self.statement.normal

    def inputs(self, rng: np.random.Generator, n: int) -> Batch:
        normal = self.statement.normal
        parts = [
            built(rng, self.spec, n // 2, normal=normal),
            drawn(rng, self.spec, n - n // 2, normal=normal),
        ]
        if normal:
            parts.append(attained(self.spec))
        made = together(*parts)
        return rows_of(made, np.arange(len(made.c) - n, len(made.c)))

    def allowed(self, x: Batch) -> Batch:
        s = self.statement
        if s.zero_c:
            return replace(x, c=x.c & np.uint64(self.spec.c_format.sign_bit))
        more = 0 if s.c_bits is None else self.spec.c_format.fraction_bits - s.c_bits
        return x if more <= 0 else replace(x, c=x.c >> np.uint64(more) << np.uint64(more))

    def calls(self, x: Batch) -> list[Call]:
        return [(self.spec, x)]

    def judge(self, x: Batch, results: Sequence[Words]) -> Ratios:
        return ratios(self.spec, self.statement, x, results[0])

    def smaller(self, factor: Fraction) -> ErrorTheorem:
        """The same with a bound that is so many times as large."""
        return replace(self, statement=scaled(self.statement, factor))


@dataclass(frozen=True)
class IntegerTheorem:
    """Claim `integer-sums`."""

    claim: str
    spec: UnitSpec
    limit: Fraction
    #: Which of a and b, and of scales with them, may not be subnormal.
    normal: tuple[bool, bool]
    guided: bool = False

    @property
    def drawn_as(self) -> object:
        return self.claim

    def inputs(self, rng: np.random.Generator, n: int) -> Batch:
        return integers(rng, self.spec, n, self.limit)

    def allowed(self, x: Batch) -> Batch:
        return x

    def calls(self, x: Batch) -> list[Call]:
        return [(self.spec, x)]

    def judge(self, x: Batch, results: Sequence[Words]) -> Ratios:
        met, wrong = sums_of_integers(self.spec, self.limit, self.normal, x, results[0])
        return Ratios(np.where(wrong, np.inf, 0.0), met, wrong)

    def smaller(self, factor: Fraction) -> IntegerTheorem:
        """The same of sums that are that much larger: what a bound on errors is made smaller by."""
        return replace(self, limit=self.limit / factor)


@dataclass(frozen=True)
class SameTheorem:
    """Claims that two results are equal, or opposite, or in order."""

    claim: str
    spec: UnitSpec
    #: The calls that are compared, of some inputs.
    both: Callable[[np.random.Generator, Batch], list[Call]]
    #: Whether two results are as claimed.
    agree: Callable[[Format, Words, Words], NDArray[np.bool_]]
    draw: Callable[[np.random.Generator, int], Batch]
    met: Callable[[Batch], NDArray[np.bool_]]
    #: Whether inputs are drawn for what is assumed.
    assumed: bool = False
    guided: bool = False

    @property
    def drawn_as(self) -> object:
        return self.claim if self.assumed else self.spec.k

    def inputs(self, rng: np.random.Generator, n: int) -> Batch:
        return self.draw(rng, n)

    def allowed(self, x: Batch) -> Batch:
        return x

    def calls(self, x: Batch) -> list[Call]:
        return self.both(np.random.default_rng(len(x.c)), x)

    def judge(self, x: Batch, results: Sequence[Words]) -> Ratios:
        met = self.met(x)
        wrong = met & ~self.agree(self.spec.d_format, results[0], results[1])
        return Ratios(np.where(wrong, np.inf, 0.0), met, wrong)


# ------------------------------------------------------------------ reading
def records(folder: Path, name: str) -> list[dict[str, Any]]:
    """The records of one file of results, packed ones and those added since."""
    made = []
    packed, plain = folder / f"{name}.jsonl.xz", folder / f"{name}.jsonl"
    for path in (packed, plain):
        if path.exists():
            text = lzma.decompress(path.read_bytes()).decode() if path is packed else path.read_text()
            made += [json.loads(line) for line in text.splitlines()]
    return made


def kept_theorems(
    folder: Path, only: str = "", *, definitions: bool = True
) -> tuple[list[Theorem], list[str]]:
    """Every theorem that a results folder keeps, and those that are not read, by name.

    `definitions`: those of units that are defined otherwise today are not read.
    """
    defined = cache(definition)
    newest = {(r["unit"], r["claim"]): r for r in records(folder, "claims")}
    made, left = list[Theorem](), list[str]()
    for (unit, claim), r in sorted(newest.items()):
        name = f"{claim} of {unit}"
        if r["verdict"] != "HOLDS" or only not in name or "within no spread" in r["reason"]:
            continue
        spec = resolve(unit)
        if definitions and defined(spec) != r["definition"]:
            left.append(f"{name}: of another definition")
            continue
        found = list(theorems_of(spec, claim, r["composition"], r["reason"]))
        made += found
        left += [] if found else [f"{name}: not read"]
    for r in records(folder, "answers"):
        q = r["question"]
        if r["verdict"] == "EQUIVALENT" and q["kind"] == "separate":
            name = f"equal; {q['second']} of {q['first']}"
            if only in name:
                first, second = resolve(q["first"]), resolve(q["second"])
                made.append(
                    equal_units(name.partition(" of ")[0], first, second, tuple(q["assumptions"]), None)
                )
    return made, left


def theorems_of(spec: UnitSpec, claim: str, text: str, reason: str) -> Iterator[Theorem]:
    """The theorem that a kept claim states."""
    kind, *assumed = claim.split("; ")
    design = spec.design
    if kind == "error-bound":
        yield ErrorTheorem(claim, spec, read_error_bound(text, spec.k))
    elif kind == "relative-error":
        s = read_relative_error(text, design.rho.fraction_bits)
        yield ErrorTheorem(claim, replace(spec, k=s.k), s)
    elif kind == "integer-sums":
        size = re.search(r"<= 2\^(\d+)", text)
        assert size is not None
        both = "no factor of a product is a subnormal" in text
        normal = both or "no a_k is" in text, both or "no b_k is" in text
        yield IntegerTheorem(claim, spec, Fraction(2) ** int(size[1]), normal)
    elif kind == "sign-magnitude":
        yield altered(claim, spec, accumulation="sign_magnitude")
    elif kind == "carry-bits":
        size = re.search(r"from (\d+) to", text)
        assert size is not None
        yield altered(claim, spec, carry_bits=int(size[1]))
    elif kind == "zero-exponent":
        size = re.search(r"to (-?\d+): the same", text)
        assert size is not None
        yield altered(claim, spec, zero_exponent=int(size[1]))
    elif kind == "negation-symmetry":
        what = from_texts(spec.operands.c, assumed)
        yield same(claim, spec, lambda rng, x: [(spec, x), (spec, negated(spec, x))], opposite, what)
    elif kind == "product-order":
        what = from_texts(spec.operands.c, assumed)
        blocks = [(int(x), int(y)) for x, y in re.findall(r"(\d+)–(\d+)", text)]
        turned = "neighbouring blocks" in text
        yield same(
            claim,
            spec,
            lambda rng, x: [(spec, x), (spec, reordered(rng, x, blocks, turned))],
            identical,
            what,
        )
    elif kind == "zero-products":
        yield same(claim, spec, lambda rng, x: halves(spec, x), identical)
    elif kind == "monotonicity":
        yield same(claim, spec, lambda rng, x: larger_c(rng, spec, x), ordered)
    elif kind == "agreement":
        second, *assumed = assumed
        size = re.search(r"within spread (\d+)", reason)
        spread = None if size is None else int(size[1])
        yield equal_units(claim, spec, resolve(second), tuple(assumed), spread)


def same(
    claim: str, spec: UnitSpec, both: Callable[[np.random.Generator, Batch], list[Call]],
    agree: Callable[[Format, Words, Words], NDArray[np.bool_]], what: Assumptions | None = None,
    k: int | None = None,
) -> SameTheorem:  # fmt: skip
    """A theorem about two calls, under assumptions."""
    what = what or Assumptions()
    own = spec if k is None else replace(spec, k=k)

    def draw(rng: np.random.Generator, n: int) -> Batch:
        x = drawn(rng, own, n)
        if what.spread is not None:
            x = close(own, own.k, n, int(rng.integers(1 << 31)), what.spread, what.exponents)
        elif what.exponents is not None:
            x = close(own, own.k, n, int(rng.integers(1 << 31)), 40, what.exponents)
        return x if what.c is None else replace(x, c=np.full_like(x.c, what.c))

    def met(x: Batch) -> NDArray[np.bool_]:
        if not what:
            return np.ones(len(x.c), np.bool_)
        g = Graph()
        node = assume_of_unit(g, what, own, declare_inputs(g, own, own.k))
        return np.asarray(evaluate(g, node, columns(x), n=len(x.c)) == 1)

    return SameTheorem(claim, own, both, agree, draw, met, assumed=bool(what))


def altered(claim: str, spec: UnitSpec, **changes: Any) -> SameTheorem:
    """A unit and the same with another parameter."""
    other = replace(spec, name=f"{spec.name} altered", design=replace(spec.design, **changes))
    plain = (
        spec if "carry_bits" not in changes else replace(spec, design=replace(spec.design, carry_bits=None))
    )
    return same(claim, spec, lambda rng, x: [(plain, x), (other, x)], identical)


def equal_units(
    claim: str, first: UnitSpec, second: UnitSpec, assumed: tuple[str, ...], spread: int | None
) -> SameTheorem:
    """Two units that give the same bits under assumptions."""
    what = from_texts(first.operands.c, assumed)
    what = what if spread is None else replace(what, spread=spread)
    k = common_k(first, second)
    return same(claim, first, lambda rng, x: [(first, x), (second, x)], identical, what, k)
