"""Claim `error-bound`: theorems of the kernel about inputs and result, and never about a false unit."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest

from false_units import FAULTS
from tcformal.design.names import resolve
from tcformal.errors import ProofError
from tcformal.formats.spec import Format
from tcformal.interp.concrete import Concrete
from tcformal.ir.build import Graph
from tcformal.oracle.values import decode
from tcformal.proofs.claim import Asking, ClaimVerdict
from tcformal.proofs.claims.error_bound import LemmaJudge, stated_bound
from tcformal.proofs.claims.register import prove_claim
from tcformal.proofs.kernel.rules import check
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.packed import packed, unpacked
from tcformal.proofs.statements.encodings import OFFSET
from tcformal.query.question import Kind
from tcformal.solve.result import Limits
from tcformal.store.store import Store
from theorems import check_theorems, value_at

LIMITS = Limits(time_s=30.0, memory_mb=4096, seed=0)
_TOY = "tfdpa@products=2,a_format=e5m2,b_format=e5m2,c_format=fp16,d_format=fp16"
TOY = f"{_TOY},fraction_bits=10,conversion=RZ-FP16,zero_exponent=-20"
NEAREST = f"{_TOY},fraction_bits=10,conversion=RNE-FP16,zero_exponent=-20"
#: Two blocks, and three.
BLOCKS, THREE_BLOCKS = f"{TOY},k=4", f"{NEAREST},k=6"
#: c has more fraction bits than are kept.
CUT = f"{_TOY},fraction_bits=5,conversion=RZ-E5M5,zero_exponent=-20"


@pytest.fixture(scope="module")
def book() -> LemmaBook:
    """One book for all tests."""
    return LemmaBook(limits=LIMITS)


def prove(name: str, book: LemmaBook, tree: str = "") -> ClaimVerdict:
    return prove_claim(resolve(name), "error-bound", book=book, limits=LIMITS, tree=tree)


def asking(name: str, book: LemmaBook) -> Asking:
    return Asking(resolve(name), book, LIMITS, None, lambda _: None)


@pytest.fixture(scope="module")
def tree(book: LemmaBook) -> str:
    """The proof about TOY."""
    return prove(TOY, book).parts[0].tree


def replayed(name: str, tree: str, book: LemmaBook) -> None:
    """Check a proof against the unit as it is defined now."""
    stated, _ = stated_bound(asking(name, book))
    check(
        stated.graph, stated.hypotheses, stated.conclusions, stated.roots, *unpacked(tree), LemmaJudge(book)
    )


def assert_holds(v: ClaimVerdict, bound: str) -> None:
    """The claim holds with this bound, and each of its lemmas has a certificate."""
    assert v.kind is Kind.HOLDS, v.reason
    assert v.reason == bound
    assert bound in v.composition
    assert v.lemmas
    assert all(x.holds and x.certificate is not None for x in v.lemmas)


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        (TOY, "|d - (Σ a_k·b_k + c)| < 2·2^(E-10) + ulp(d)"),
        (NEAREST, "|d - (Σ a_k·b_k + c)| <= 2·2^(E-10) + ulp(d)/2"),
        pytest.param(CUT, "|d - (Σ a_k·b_k + c)| < 3·2^(E-5) + ulp(d)", marks=pytest.mark.long),
        (BLOCKS, "|d - (Σ a_k·b_k + c)| < 2·2^(E-10) + 2^(E-7) + 2·2^(E-7) + ulp(d)"),
        pytest.param(
            THREE_BLOCKS,
            "|d - (Σ a_k·b_k + c)| <= 2·2^(E-10) + 2^(E-7)/2 + 2·2^(E-7) + 2^(E-6)/2 + 2·2^(E-6) + ulp(d)/2",
            marks=pytest.mark.long,
        ),
        pytest.param(
            TOY.replace("e5m2", "e3m2") + ",normalise_operands=true",
            "|d - (Σ a_k·b_k + c)| < 2·2^(E-10) + ulp(d)",
            marks=pytest.mark.long,
        ),
        pytest.param(
            "volta/mma.m8n8k4.f32.f16.f16.f32",
            "|d - (Σ a_k·b_k + c)| < 4·2^(E-23) + ulp(d)",
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_bound_holds_of_inputs_and_result(name: str, bound: str, book: LemmaBook) -> None:
    assert_holds(prove(name, book), bound)


def drawn(g: Graph, rng: random.Random) -> dict[str, int]:
    """Random encodings, some of them zeros and some of one exponent; E near the middle."""
    made = {}
    for name, node in g.inputs.items():
        word = rng.getrandbits(node.width)
        made[name] = rng.choice([word, word, 0, word & 0x83FF | 0x4000 if node.width == 16 else word & 0x83])
    made["E"] = OFFSET + rng.randrange(-20, 40)
    return made


def true_on_random_inputs(name: str, book: LemmaBook, drawings: int = 40) -> None:
    """Every theorem of the proof about a unit, evaluated on integers."""
    tree = prove(name, book).parts[0].tree
    stated, _ = stated_bound(asking(name, book))
    check_theorems(stated, tree, drawn, drawings)


@pytest.mark.parametrize(
    "name", [*(pytest.param(x, marks=pytest.mark.long) for x in (TOY, CUT)), NEAREST, BLOCKS]
)
def test_every_theorem_of_a_proof_is_true_on_random_inputs(name: str, book: LemmaBook) -> None:
    true_on_random_inputs(name, book)


def test_the_statement_means_the_exact_sum(book: LemmaBook) -> None:
    """The bound of the statement against values decoded by the oracle."""
    stated, _ = stated_bound(asking(TOY, book))
    unit = stated.unit
    nodes = [n for _, p in stated.conclusions for m in p.terms for n in (*m[0], *(x for x, _ in m[1]))]
    wanted = [*dict.fromkeys(nodes), stated.result, *stated.hypotheses]
    run, rng, met = Concrete(stated.graph, wanted), random.Random(7), 0
    while met < 50:
        words = drawn(stated.graph, rng)
        values = dict(zip(wanted, run(words), strict=True))
        if not all(values[h] for h in stated.hypotheses):
            continue
        met += 1
        o = unit.operands

        def value(fmt: Format, word: int) -> Fraction:
            x = decode(fmt, word)
            return -x.magnitude if x.sign else x.magnitude

        total = value(o.c, words["c"])
        for k in range(unit.k):
            total += value(o.a, words[f"a[{k}]"]) * value(o.b, words[f"b[{k}]"])
        assert value_at(stated.error, values) == value(o.d, values[stated.result]) - total


# ------------------------------------------------------------------------------------------ false units
@pytest.mark.parametrize("name", FAULTS)
def test_a_false_unit_never_holds(
    name: str, tree: str, book: LemmaBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    FAULTS[name](monkeypatch)
    v = prove(TOY, book)
    assert v.kind is Kind.UNKNOWN, v.reason
    assert v.parts[0].note
    assert not v.parts[0].tree
    # The kernel refuses the proof about the right unit, too.
    with pytest.raises(ProofError):
        replayed(TOY, tree, book)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("zero_exponent=-20", "zero_exponent=100"), "that of the least normal fp16"),
        (("zero_exponent=-20", "zero_exponent=own"), "that of the least normal fp16"),
        (("RZ-FP16", "RZ-FP16,carry_bits=0"), "was not proved"),
        (("RZ-FP16", "RU-FP16"), "no tactic is written for rounding RU"),
        (("RZ-FP16", "RZ-FP16,c_subnormals=signed_zero"), "was not proved"),
    ],
)
def test_a_unit_without_the_bound_is_open(change: tuple[str, str], reason: str, book: LemmaBook) -> None:
    v = prove(TOY.replace(*change), book)
    assert v.kind is Kind.UNKNOWN
    assert reason in v.reason


# --------------------------------------------------------------------------------------------- keeping
def test_a_kept_proof_is_checked_by_the_kernel_when_it_is_served(
    tmp_path: Path, book: LemmaBook, tree: str
) -> None:
    store, made = Store(tmp_path), prove(TOY, book)
    store.rechecker.seconds = 60.0
    for lemma in made.lemmas:
        store.lemmas.add(lemma)
    store.add_claim(made)
    served = store.find_claim("error-bound", resolve(TOY))
    assert served is not None
    assert served.kind is Kind.HOLDS
    assert served.checked
    steps, last = unpacked(tree)
    assert unpacked(served.parts[0].tree) == (steps, last)
    for forged in (packed(steps[:-1], last), packed(steps, [0, 1]), tree[:-9], packed([], [])):
        v = prove(TOY, book, forged)
        assert v.kind is Kind.UNKNOWN, v.reason
