"""Claim `integer-sums`: theorems of the kernel about integers, and never about a false unit."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import pytest

import tcformal.proofs.claims.integer_sums as claim
from bounded_units import UNITS
from false_units import FAULTS
from tcformal.design.catalog import catalogue
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, ProofError, WidthError
from tcformal.formats.catalog import format_named
from tcformal.interp.concrete import Concrete
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.operands.witness import Witness
from tcformal.oracle.exact import unit_dot
from tcformal.oracle.values import NumberClass, decode, encode_exact, encoded
from tcformal.proofs.claim import Asking, ClaimVerdict, PartStatus
from tcformal.proofs.claims.error_bound import LemmaJudge
from tcformal.proofs.claims.integer_witness import exact_sum, one_too_large
from tcformal.proofs.claims.register import prove_claim
from tcformal.proofs.kernel.rules import check
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.packed import packed, unpacked
from tcformal.proofs.statements.error_bound import require_products
from tcformal.proofs.statements.integer_sums import IntegerSum, largest_exact, least_cut, only_normal
from tcformal.query.question import Kind
from tcformal.semantics.reduce import split_sign
from tcformal.semantics.sums import step
from tcformal.solve.result import Limits
from tcformal.store.store import Store
from theorems import check_theorems, value_at

LIMITS = Limits(time_s=30.0, memory_mb=4096, seed=0)
_TOY = "tfdpa@products=2,a_format=e3m2,b_format=e3m2,c_format=fp16,d_format=fp16,zero_exponent=-20"
#: Alignment cuts the first bit that is lost, or rounding does; and both cut it at once.
TOY = f"{_TOY},fraction_bits=4,conversion=RZ-E5M5"
ROUNDED = f"{_TOY},fraction_bits=10,conversion=RZ-E5M5"
NEAREST = f"{_TOY},fraction_bits=5,conversion=RNE-E5M5"
#: Two blocks; what the first one hands on has more fraction bits than the second one keeps.
BLOCKS = f"{TOY},k=4"
#: Subnormal numbers of a beside large ones of b cut sooner.
MIXED = (
    "tfdpa@products=2,a_format=e2m3,b_format=e5m2,c_format=fp16,d_format=fp16,fraction_bits=5,"
    "conversion=RZ-E5M5,zero_exponent=-20"
)
#: One group of two products with two scales, and c.
_PAIR = UNITS["groups"]()
GROUP = replace(
    _PAIR, name="one group", k=2, scale_format=format_named("ue8m0"),
    design=replace(_PAIR.design, products=2, fraction_bits=8, conversion="RZ-E5M5"),
)  # fmt: skip
SCALED = "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32"


@pytest.fixture(scope="module")
def book() -> LemmaBook:
    """One book for all tests."""
    return LemmaBook(limits=LIMITS)


def unit_of(name: str) -> UnitSpec:
    """A unit by its name, those of tests among them."""
    return GROUP if name == GROUP.name else resolve(name)


def prove(name: str, book: LemmaBook, tree: str = "") -> ClaimVerdict:
    return prove_claim(unit_of(name), "integer-sums", book=book, limits=LIMITS, tree=tree)


def stated(name: str, book: LemmaBook) -> IntegerSum:
    unit = unit_of(name)
    return claim.stated_sum(Asking(unit, book, LIMITS, None, lambda _: None), largest_exact(unit))[0]


@pytest.fixture(scope="module")
def tree(book: LemmaBook) -> str:
    """The proof about TOY."""
    return prove(TOY, book).parts[0].tree


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "most"),
    [
        (TOY, 5),
        (BLOCKS, 5),
        *(
            pytest.param(*x, marks=pytest.mark.long)
            for x in (
                (ROUNDED, 6),
                (NEAREST, 6),
                (f"{TOY},k=6", 5),
                (MIXED, 6),
                (GROUP.name, 6),
                ("volta/mma.m8n8k4.f32.f16.f16.f32", 24),
                (f"{SCALED}.f32.e2m1.e4m3.ue8m0", 24),
            )
        ),
    ],
)
def test_sums_of_integers_are_exact(name: str, most: int, book: LemmaBook) -> None:
    v = prove(name, book)
    assert v.kind is Kind.HOLDS, v.reason
    assert f"<= 2^{most} give d = " in v.reason
    assert v.lemmas
    assert all(x.holds and x.certificate is not None for x in v.lemmas)
    proof, control, *_ = v.parts
    assert proof.tree
    assert control.control
    assert control.status is PartStatus.VIOLATED
    assert control.witness is not None
    more, less = control.witness.first, control.witness.second
    unit = unit_of(name)
    assert [exact_sum(unit, w) - 2**most for w in (more, less)] == [1, 0]
    results = [unit_dot(unit, w.a, w.b, w.c, w.scale_a, w.scale_b) for w in (more, less)]
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("volta/mma.m8n8k4.f16.f16.f16.f16", 11),
        *(
            pytest.param(*x, marks=pytest.mark.long)
            for x in (
                ("hopper/mma.m16n8k16.f32.bf16.bf16.f32", 24),
                ("hopper/mma.m16n8k16.f16.f16.f16.f16", 11),
                ("hopper/wgmma.m64n8k32.f32.e4m3.e4m3", 14),
                ("ada/mma.m16n8k32.f32.e5m2.e5m2.f32", 14),
                ("blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e4m3.e4m3", 24),
                (f"{SCALED}.f32.e4m3.e4m3.ue8m0", 24),
            )
        ),
    ],
)
def test_one_more_is_not_exact(name: str, most: int) -> None:
    """The witness of every size, and none one size below: these sums are exact."""
    unit = resolve(name)
    assert largest_exact(unit) == most
    assert one_too_large(unit, most) is not None
    assert one_too_large(unit, most - 1) is None


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "most"),
    [
        # Other factors lift the least subnormal numbers, whose exponents are above their values.
        ("blackwell/tcgen05.m64n8k16.kind::f16.f32.f16.bf16", 16),
        pytest.param(f"{SCALED}.f32.e4m3.e4m3.ue8m0", 20, marks=pytest.mark.long),
        pytest.param(f"{SCALED}.f32.e2m1.e4m3.ue8m0", 22, marks=pytest.mark.long),
    ],
)
def test_subnormal_factors_cut_sooner(name: str, most: int) -> None:
    unit = resolve(name)
    assert only_normal(unit)
    assert least_cut(unit) == most
    assert one_too_large(unit, most, subnormal=True) is not None
    assert one_too_large(unit, most - 1, subnormal=True) is None
    assert one_too_large(unit, most) is None


def _integers(unit: UnitSpec) -> Callable[[Graph, random.Random], dict[str, int]]:
    """What draws random words, most of them integers and halves that are often zero or small."""
    o = unit.operands

    def drawn(g: Graph, rng: random.Random) -> dict[str, int]:
        made = {}
        for name, node in g.inputs.items():
            fmt = o.c if name == "c" else o.a if name[0] == "a" else o.b
            values = [0, 1, 2, 3, 4, 7, *([16, 20, 32] if name == "c" else [Fraction(1, 2), 5])]
            word = encode_exact(
                fmt, Fraction(rng.choice([x for x in values if encoded(fmt, Fraction(x)) is not None]))
            )
            word |= fmt.sign_bit if rng.random() < 0.5 else 0
            made[name] = rng.getrandbits(node.width) if rng.random() < 0.04 else word
        return made

    return drawn


_BOTH = [TOY, *(pytest.param(x, marks=pytest.mark.long) for x in (ROUNDED, BLOCKS, MIXED))]


@pytest.mark.long
@pytest.mark.parametrize("fault", ["a dropped product", "e_max + 1", "a group of another sign"])
def test_a_false_sum_of_groups_never_holds(
    fault: str, book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    {**FAULTS, "a group of another sign": _group_negated}[fault](monkeypatch)
    v = prove(GROUP.name, book)
    assert v.kind is Kind.UNKNOWN, v.reason
    assert not v.parts[0].tree


def _group_negated(patch: pytest.MonkeyPatch) -> None:
    """The sum of a group has the other sign."""

    def negated(g: Graph, x: Node) -> tuple[Node, Node]:
        sign, magnitude = split_sign(g, x)
        return g.not_(sign), magnitude

    patch.setattr("tcformal.semantics.product.split_sign", negated)


@pytest.mark.long
@pytest.mark.parametrize("name", _BOTH)
def test_every_theorem_of_a_proof_is_true_on_random_inputs(name: str, book: LemmaBook) -> None:
    tree = prove(name, book).parts[0].tree
    check_theorems(stated(name, book), tree, _integers(resolve(name)))


@pytest.mark.parametrize("name", _BOTH)
def test_the_statement_means_exact_sums_of_integers(name: str, book: LemmaBook) -> None:
    """Its hypotheses are those that it prints, and what it concludes is true, by values of the oracle."""
    s = stated(name, book)
    check_statement(s, _integers(resolve(name)), low=_normal(s), least=50)


def _normal(s: IntegerSum) -> str:
    """The letters of factors and scales that are not subnormal."""
    return "abs" if "no factor of a product is a subnormal number" in str(s) else ""


def check_statement(
    s: IntegerSum, draw: Callable[[Graph, random.Random], dict[str, int]], *, low: str, least: int
) -> None:
    """Hypotheses are what is printed, and conclusions true, on random words; each is met `least` times."""
    nodes = [n for _, p in s.conclusions for m in p.terms for n in (*m[0], *(x for x, _ in m[1]))]
    wanted = [*dict.fromkeys(nodes), s.result, *s.hypotheses]
    run, rng, met = Concrete(s.graph, wanted), random.Random(3), [0, 0]
    for _ in range(500):
        words = draw(s.graph, rng)
        values = dict(zip(wanted, run(words), strict=True))
        holds = all(values[h] for h in s.hypotheses)
        assert holds == _as_printed(s, words, low)
        met[holds] += 1
        if holds:
            assert [value_at(p, values) for _, p in s.conclusions] == [0, 0]
            exact = exact_sum(s.unit, Witness.of(words))
            assert decode(s.unit.operands.d, values[s.result]).number == exact
    assert min(met) > least


def _as_printed(s: IntegerSum, words: dict[str, int], low: str) -> bool:
    """Whether words are finite, terms integers of magnitudes up to 2^most together, and factors normal."""
    unit = s.unit
    formats = unit.input_formats()
    values = {name: decode(formats[name.partition("[")[0]], word) for name, word in words.items()}
    if any(x.kind is not NumberClass.FINITE for x in values.values()):
        return False
    c = values.pop("c").number
    if any(x.is_subnormal for name, x in values.items() if name[0] in low):
        return False
    terms = [c]
    for k in range(unit.k):
        block = k // (unit.scale_block or unit.k)
        factors = [f"a[{k}]", f"b[{k}]", f"scale_a[{block}]", f"scale_b[{block}]"]
        terms.append(prod((values[x].number for x in factors if x in values), start=Fraction(1)))
    return all(x.denominator == 1 for x in terms) and sum(map(abs, terms)) <= 2**s.most


def _scaled() -> UnitSpec:
    """Two products with scales of their own."""
    whole = resolve(f"{SCALED}.f32.e2m1.e4m3.ue8m0")
    return replace(whole, name="scaled", k=2, scale_block=1, design=replace(whole.design, products=2))


@pytest.mark.parametrize(
    ("unit", "draws"),
    [
        pytest.param(GROUP, 1000, id="one group"),
        pytest.param(_scaled(), 4000, id="scaled", marks=pytest.mark.long),
    ],
)
def test_the_statement_means_products_with_scales(unit: UnitSpec, draws: int, book: LemmaBook) -> None:
    """Of a unit of two products with scales: random words of a few exponents."""
    most = largest_exact(unit)
    s = claim.stated_sum(Asking(unit, book, LIMITS, None, lambda _: None), most)[0]
    run, rng, met = Concrete(s.graph, [s.d.finite, *s.hypotheses]), random.Random(5), [0, 0]
    value = Concrete(s.graph, [s.result])
    for _ in range(draws):
        words = {name: rng.getrandbits(node.width) for name, node in s.graph.inputs.items()}
        for name in words:
            if name.startswith("scale"):
                words[name] = 127 + rng.choice((-9, -2, -1, 0, 1, 2, most // 2 - 1, most - 2))
        words["c"] = encode_exact(
            unit.operands.c, Fraction(rng.choice((0, 1, 3, 2 ** (most - 1), 2**most, Fraction(1, 2))))
        )
        finite, *hypotheses = run(words)
        holds = all(hypotheses)
        assert holds == _as_printed(s, words, _normal(s))
        met[holds] += 1
        if holds:
            assert finite
            assert decode(unit.operands.d, value(words)[0]).number == exact_sum(unit, Witness.of(words))
    assert min(met) > 30


def test_the_statement_takes_every_integer(book: LemmaBook) -> None:
    """Of one product and c: every c, beside products that use the whole range of their exponents."""
    s, unit = stated(TOY, book), resolve(TOY)
    run = Concrete(s.graph, list(s.hypotheses))
    o = unit.operands
    factors = [encode_exact(o.a, Fraction(x)) for x in (Fraction(1, 16), Fraction(1, 4), 1, 28)]
    for a, b in ((x, y) for x in factors for y in factors):
        for c in range(0, 1 << 16, 389):
            words = {"a[0]": a, "b[0]": b, "a[1]": 0, "b[1]": factors[-1], "c": c}
            assert all(run(words)) == _as_printed(s, words, _normal(s))


# ------------------------------------------------------------------------------------------ false units
def _shorter(patch: pytest.MonkeyPatch) -> None:
    """Sums keep one fraction bit less."""
    real = step.truncated_total

    def truncated_total(g: Graph, terms: Any, design: Any, fraction_bits: int, zero: Any) -> Any:
        return real(g, terms, design, fraction_bits - 1, zero)

    patch.setattr("tcformal.semantics.sums.step.truncated_total", truncated_total)


_BRIEF = ("a dropped product", "a wrong sign", "e_max + 1", "a shorter sum")


@pytest.mark.parametrize(
    "name",
    [pytest.param(x, marks=() if x in _BRIEF else pytest.mark.long) for x in (*FAULTS, "a shorter sum")],
)
def test_a_false_unit_never_holds(
    name: str, tree: str, book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    {**FAULTS, "a shorter sum": _shorter}[name](monkeypatch)
    v = prove(TOY, book)
    assert v.kind is Kind.UNKNOWN, v.reason
    assert v.parts[0].note
    assert not v.parts[0].tree
    # The kernel refuses the proof about the right unit, too.
    s = stated(TOY, book)
    with pytest.raises((ProofError, WidthError)):
        check(s.graph, s.hypotheses, s.conclusions, s.roots, *unpacked(tree), LemmaJudge(book))


@pytest.mark.parametrize(
    ("name", "more"),
    [(TOY, 1), *(pytest.param(*x, marks=pytest.mark.long) for x in ((TOY, -1), (ROUNDED, 1), (ROUNDED, -1)))],
)
def test_another_size_is_not_proved(
    name: str, more: int, book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One more is false; of one less, which is true, no larger sum has the witness that the claim shows."""
    monkeypatch.setattr(claim, "largest_exact", lambda unit: largest_exact(unit) + more)
    v = prove(name, book)
    assert v.kind is Kind.UNKNOWN, v.reason
    proof, *control = v.parts
    assert proof.status is (PartStatus.OPEN if more > 0 else PartStatus.HOLDS)
    assert [x.note for x in control] == (
        [] if more > 0 else ["no witness found that a larger sum is not exact"]
    )


@pytest.mark.parametrize(
    "change",
    [
        "zero_exponent=100",
        pytest.param("carry_bits=0", marks=pytest.mark.long),
        # True, as no such number is an integer, but no tactic knows it.
        pytest.param("c_subnormals=signed_zero", marks=pytest.mark.long),
    ],
)
def test_what_is_not_proved_is_open(change: str, book: LemmaBook) -> None:
    key = change.partition("=")[0]
    parts = [x for x in TOY.split(",") if not x.startswith(key)]
    v = prove(",".join([*parts, change]), book)
    assert v.kind is Kind.UNKNOWN, v.reason
    assert v.parts[0].note


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"c_position": "last", "accumulator": "RZ-E5M5"}, "adds it to the products' sum"),
        ({"piece_bits": 2}, "cuts factors into pieces of 2 bits"),
        ({"normalise_operands": True}, "normalises subnormal factors"),
    ],
)
def test_what_terms_are_is_said_where_nothing_is_stated(change: dict[str, Any], reason: str) -> None:
    unit = resolve(TOY)
    require_products(unit, "integer-sums")
    with pytest.raises(InputError, match=reason):
        require_products(replace(unit, design=replace(unit.design, **change)), "integer-sums")


def test_the_table_of_the_readme() -> None:
    readme = Path(__file__).resolve().parents[2] / "README.md"
    rows = [line.split("|") for line in readme.read_text().splitlines() if re.match(r"  \| .*` \|", line)]
    assert len(rows) == 10
    for _, _, name, *numbers, _ in rows:
        unit = catalogue()[name.strip().strip("`")]
        most = largest_exact(unit)
        largest = max(q for q in range(most) if unit.k * 4**q <= 2**most)
        assert [int(x) for x in numbers] == [unit.k, most, largest, 2 ** (most - 8)]


# --------------------------------------------------------------------------------------------- keeping
@pytest.mark.long
def test_a_kept_proof_is_checked_by_the_kernel_when_it_is_served(
    tmp_path: Path, book: LemmaBook, tree: str
) -> None:
    store, made = Store(tmp_path), prove(TOY, book)
    store.rechecker.seconds = 60.0
    for lemma in made.lemmas:
        store.lemmas.add(lemma)
    store.add_claim(made)
    served = store.find_claim("integer-sums", resolve(TOY))
    assert served is not None
    assert served.kind is Kind.HOLDS
    assert served.checked
    assert served.parts == made.parts
    steps, last = unpacked(tree)
    for forged in (packed(steps[:-1], last), packed(steps, [0, 1]), packed([], [])):
        v = prove(TOY, book, forged)
        assert v.kind is Kind.UNKNOWN, v.reason
