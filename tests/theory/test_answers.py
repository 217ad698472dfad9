"""Claims answered by theorems or inputs: against kept answers, what stands in the way, what they rest on."""

from __future__ import annotations

import json
import lzma
import subprocess
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import tcformal
from tcformal.design.catalog import catalogue
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, InvariantError
from tcformal.query.claims.answered import _OF_C, answered
from tcformal.query.claims.register import CLAIMS
from tcformal.query.options import SolveOptions
from tcformal.query.question import Kind
from tcformal.solve.result import Limits
from tcformal.store.store import Store
from tcformal.theory import checked
from tcformal.theory import theorems as answers_module
from tcformal.theory.checked import checked_with, commands, coqc, source_names, source_of
from tcformal.theory.theorems import STATEMENTS, in_the_way, theorem_answer

PROVED = Path(__file__).with_name("proved_by_circuit.jsonl.xz")
VOLTA, AMX = "volta/mma.m8n8k4.f32.f16.f16.f32", "x86/tdpbf16ps"
LARGE = "tfdpa@products=1000000,fraction_bits=30"
DECIDED = ("HOLDS", "VIOLATED")
BRIEF = Limits(time_s=5.0)
#: Claims of one design each that held of a circuit and that nothing answers now.
LOST = 15


def kept() -> dict[tuple[str, str], str]:
    """The verdicts of kept claims about one unit, by claim and unit."""
    with lzma.open(PROVED, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {
        (r["claim"], r["unit"]): r["verdict"]
        for r in rows
        if r["claim"].partition(";")[0] in STATEMENTS and r["unit"] in catalogue()
    }


def answers(asked: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """What is found at once of each claim and unit: a verdict, `open`, or `refused`."""
    found = {}
    for claim, unit in asked:
        try:
            v = answered(catalogue()[unit], claim, SolveOptions(limits=BRIEF))
        except InputError:
            found[claim, unit] = "refused"
        else:
            found[claim, unit] = v.kind.name if v.kind.name in DECIDED else "open"
    return found


def compared(asked: dict[tuple[str, str], str]) -> Counter[tuple[str, str]]:
    """Kept verdicts against new ones; no two of them contradict each other."""
    new = answers(asked)
    for key, was in asked.items():
        assert {was, new[key]} != set(DECIDED), key
    return Counter((was, new[key]) for key, was in asked.items())


def test_a_sample_of_what_was_proved_of_circuits_is_found_again() -> None:
    """Some that held and some that were refuted: by theorem or inputs, most of them; none is contradicted."""
    held, refuted = (sorted(k for k, was in kept().items() if was == x) for x in DECIDED)
    asked = dict.fromkeys(held[::120], "HOLDS") | dict.fromkeys(refuted[::40], "VIOLATED")
    table = compared(asked)
    assert table["VIOLATED", "VIOLATED"] >= 3
    assert table["HOLDS", "HOLDS"] >= 7
    assert table["HOLDS", "HOLDS"] > 4 * (table["HOLDS", "open"] + table["HOLDS", "refused"])


@pytest.mark.long
def test_what_was_proved_of_circuits_is_found_again() -> None:
    """None is contradicted, and of what held all but a few have a theorem or an answer of solvers."""
    asked = kept()
    table = compared(asked)
    lost = table["HOLDS", "open"] + table["HOLDS", "refused"]
    assert lost <= LOST, table
    new = answers(key for key, was in asked.items() if was == "VIOLATED")
    missed = [claim for (claim, _), now in new.items() if now != "VIOLATED"]
    assert all(claim.startswith("product-order; finite; ") for claim in missed)
    assert len(missed) <= 3


def test_a_claim_is_not_answered_by_a_theorem_about_another() -> None:
    """A statement, its claim and its numbers belong together; assumptions only make fewer inputs of all."""
    unit = resolve(VOLTA)
    free, zero = theorem_answer(unit, "relative-error"), theorem_answer(unit, "relative-error; c=0x0")
    assert free is not None
    assert zero is not None
    assert zero.instance.numbers["first"] < free.instance.numbers["kappa"]
    under = theorem_answer(unit, "product-order; finite; c=0x0; spread=2")
    assert under is not None
    assert under.name == "product_order_idle"
    assert {name for name, x in CLAIMS.items() if "c" in x.assumes} == set(_OF_C)
    with pytest.raises(InputError, match="expected assumptions that claim carry-bits uses"):
        answered(unit, "carry-bits; c=0x0", SolveOptions(limits=BRIEF))


def test_an_error_is_said_as_one_number_that_is_at_least_the_theorems() -> None:
    """The loss of one block: a fraction, or a decimal number that is rounded up."""
    for name, claim in ((VOLTA, "relative-error; c=0x0"), ("x86/vdpbf16ps", "error-bound")):
        found = theorem_answer(resolve(name), claim)
        assert found is not None
        number = found.reason.partition(" <= ")[2].partition("·")[0]
        n = found.instance.numbers
        loss = n["first"] if "first" in n else (1 + n["u"]) ** int(n["roundings"]) - 1
        assert loss <= Fraction(number) < loss * Fraction(100001, 100000)
        assert ("without what it flushes" in found.reason) == (name != VOLTA)


def test_parameters_in_a_theorems_way_are_named() -> None:
    assert in_the_way(resolve(AMX), "product-order") == (
        "theorem product_order_idle is not about summation=two_chains, nan_rule=first_operand: its side "
        "conditions are met with summation=fused, nan_rule=word"
    )
    bounded = resolve("tfdpa@products=4,carry_bits=3")
    assert "is not about carry_bits=3: " in in_the_way(bounded, "relative-error")
    assert in_the_way(bounded, "nothing") == "no theorem is about nothing"


def test_an_answer_says_that_a_changed_source_is_not_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record is about the sources that it was made of, and about all that a theorem's source requires."""
    sources = {name: checked._digest(name) for name in source_names()}
    record = {"coq": "8.16.1", "sources": sources}
    monkeypatch.setattr(checked, "CHECKED", tmp_path / "checked.json")
    found = theorem_answer(resolve(VOLTA), "carry-bits")
    assert found is not None
    assert found.source == "Irrelevant.v"
    assert checked_with("Irrelevant.v") == ""
    checked.CHECKED.write_text(json.dumps(record))
    assert checked_with("Irrelevant.v") == "8.16.1"
    assert found.rests_on[0] == "theorem checked with Coq 8.16.1"
    for name in ("Irrelevant.v", "Spec.v"):
        changed = {**record, "sources": {**sources, name: "0" * 64}}
        checked.CHECKED.write_text(json.dumps(changed))
        assert checked_with("Irrelevant.v") == ""
    changed = {**record, "sources": {**sources, "Circuit.v": "0" * 64}}
    checked.CHECKED.write_text(json.dumps(changed))
    assert checked_with("Irrelevant.v") == "8.16.1"
    with pytest.raises(InputError, match=r"expected a theorem of the sources in .*, but got 'nothing'"):
        source_of("nothing")


@pytest.mark.parametrize("claim", ["exact-sum", "correctly-rounded"])
def test_what_a_sum_loses_is_a_theorem_or_has_inputs(claim: str) -> None:
    """With c = 0 more sums are exact; where none is, a clause says why."""
    exact = resolve("blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e4m3.e3m2")
    found = theorem_answer(exact, f"{claim}; c=0x0")
    assert found is not None
    assert found.instance.numbers["width"] == 25
    assert theorem_answer(exact, claim) is None
    v = answered(resolve(VOLTA), claim, SolveOptions(limits=BRIEF))
    assert (v.kind, v.answered_by) == (Kind.VIOLATED, "witness")
    assert v.in_the_way == "terms reach from 2^-149 to the exponent 127, which takes 276 fraction bits"


def test_an_answer_says_whether_the_circuit_is_refined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two units, both are said; of a unit that no circuit is built of, the specification."""
    asked = []

    class Kept:
        def __init__(self, unit: UnitSpec) -> None:
            self.unit = unit

        def sentence(self) -> str:
            return f"{self.unit.name} refined"

    def kept(unit: UnitSpec) -> Kept | None:
        asked.append(unit.name)
        return None if unit.name.startswith("hopper/") else Kept(unit)

    monkeypatch.setattr("tcformal.theory.refinement.kept_refinement", kept)
    answers_module._refined.cache_clear()
    first, second = (resolve(f"{x}/mma.m16n8k8.f32.f16.f16.f32") for x in ("turing", "hopper"))
    found = theorem_answer(first, f"agreement; {second.name}; finite")
    assert found is not None
    assert found.rests_on[1:] == (
        f"{first.name} refined", "of the specification: no refinement of the circuit is kept"
    )  # fmt: skip
    assert asked == [first.name, second.name]
    monkeypatch.undo()
    answers_module._refined.cache_clear()
    large = theorem_answer(resolve(LARGE), "relative-error")
    assert large is not None
    assert large.rests_on[1].startswith("of the specification: ")


def test_a_python_answer_has_the_theorem_and_is_kept(tmp_path: Path) -> None:
    store = Store(tmp_path / "results")
    v = tcformal.prove_claim(LARGE, "integer-sums", store=store)
    assert v.kind is Kind.HOLDS
    assert v.theorem is not None
    assert v.theorem.instance.numbers["exponent"] == 24
    assert (v.parts, [r["verdict"] for r in store.claims.all()]) == ((), ["HOLDS"])
    assert "integers_fused" in v.theorem.coq
    refuted = tcformal.prove_claim(AMX, "product-order", store=store)
    assert (refuted.kind, refuted.answered_by) == (Kind.VIOLATED, "witness")
    opened = tcformal.prove_claim(LARGE, "correctly-rounded", store=store)
    assert (opened.kind, opened.answered_by) == (Kind.UNKNOWN, "nothing")
    assert opened.reason.startswith(
        "terms reach from 2^-149 to the exponent 127, which takes 276 fraction bits;"
    )
    assert (
        "expected at most 256 products in a sum and 4096 in a call where a circuit is built" in opened.reason
    )
    with pytest.raises(InputError, match="expected at most 256 products in a sum and 4096 in a call"):
        tcformal.unit(LARGE).dot_bits(*(np.zeros(s, np.uint32) for s in ((1, 16), (1, 16), (1,))))


def test_a_region_is_a_theorem_and_inputs_of_the_next_spread() -> None:
    """Nothing is a theorem under assumptions that it is not about; where no spread is, inputs show it."""
    first, second = (resolve(f"{x}/mma.m16n8k8.f32.f16.f16.f32") for x in ("turing", "hopper"))
    v = answered(first, f"agreement; {second.name}; finite; c=0x0", SolveOptions(limits=BRIEF))
    assert v.theorem is not None
    assert v.reason == "the units agree within spread 4, and differ at spread 5"
    assert [(p.name, p.control) for p in v.parts] == [("spread 4", False), ("spread 5", True)]
    assert v.parts[1].witness is not None
    assert v.parts[1].witness.results[0] != v.parts[1].witness.results[1]
    for assumed in (
        "c=0x0",
        "finite; normal",
        "finite; c=0x80000000",
        "finite; exponents=1..2; exponents=1..2",
    ):
        assert theorem_answer(first, f"agreement; {second.name}; {assumed}") is None
    units = ("ada/mma.m16n8k32.f32.e5m2.e4m3.f32", "hopper/emulated.mma.m16n8k16.f32.e5m2.e4m3.f32")
    refuted = answered(resolve(units[0]), f"agreement; {units[1]}; finite", SolveOptions(limits=BRIEF))
    assert (refuted.kind, refuted.reason) == (
        Kind.VIOLATED, "the results differ where all exponents are equal"
    )  # fmt: skip


def test_inputs_within_a_theorems_spread_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (resolve(f"{x}/mma.m16n8k8.f32.f16.f16.f32") for x in ("turing", "hopper"))
    found = theorem_answer(first, f"agreement; {second.name}; finite")
    assert found is not None
    numbers = {**found.instance.numbers, "spread": Fraction(9)}
    wrong = replace(found, instance=replace(found.instance, numbers=numbers))
    monkeypatch.setattr("tcformal.query.claims.answered.theorem_answer", lambda *_: wrong)
    with pytest.raises(InvariantError, match="to agree within 9, but they differ at"):
        answered(first, f"agreement; {second.name}; finite", SolveOptions(limits=BRIEF))


@pytest.mark.long
def test_the_printed_command_checks_an_instance_of_a_large_design(tmp_path: Path) -> None:
    """Of 10^6 products; with the sources that it compiled, others hold, and a wrong one does not."""
    found = [theorem_answer(resolve(LARGE), x) for x in ("carry-bits", "relative-error", "integer-sums")]
    texts = [x.coq for x in found if x is not None]
    assert len(texts) == len(found)
    file = tmp_path / "Carry.v"
    file.write_text(texts[0], encoding="utf-8")
    done = subprocess.run(
        ["bash", "-c", commands(str(file))], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "carry_bits_suffice" in done.stdout or "instance" in done.stdout
    for text in texts[1:]:
        (tmp_path / "coq" / "Large.v").write_text(text, encoding="utf-8")
        coqc(tmp_path / "coq", "Large.v")
    wrong = texts[0].replace("carry_bits_suffice d s 21", "carry_bits_suffice d s 20")
    wrong = wrong.replace("carry_enough d 21 = true", "carry_enough d 20 = true")
    assert wrong != texts[0]
    (tmp_path / "coq" / "Large.v").write_text(wrong, encoding="utf-8")
    with pytest.raises(InputError, match="to compile"):
        coqc(tmp_path / "coq", "Large.v")
