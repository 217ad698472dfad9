"""Devices that no catalogued design is: near to one, without c, with one answer, wrong on a set of inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.devices.device import CallableDevice
from tcformal.devices.registry import ModelDevice
from tcformal.errors import DeviceError
from tcformal.identification.asker import Asker
from tcformal.identification.hypotheses import Nearby, numbers_only
from tcformal.identification.identification import ORDERS, Identification, IdentifyVerdict, to_record
from tcformal.identification.identify import identified
from tcformal.identification.operand_questions import isolated, overflow_limit, product_signs
from tcformal.identification.survivors import Search
from tcformal.identification.verified import verify_identification
from tcformal.report.identified import identification_view
from tcformal.semantics.chain import same_definition
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, batch_of
from tcformal.simulation.operands.inputs import pool_of
from tcformal.store.audit.audit import AuditStatus
from tcformal.store.store import Store

HALF = "a_format=fp16,b_format=fp16,c_format=fp16,d_format=fp16"
#: A sum of two products and c, and a chain of them.
SUM, CHAIN = f"tree@steps=(0+1+c),{HALF}", f"tree@steps=(1+(0+c)),{HALF}"
SPEC = resolve(SUM)

Function = Callable[[Raw, Raw, Raw], Raw]


def box(function: Function, unit: UnitSpec = SPEC, path: Path | None = None) -> Asker:
    return Asker(CallableDevice(function, "box"), unit.operands, unit.k, path=path)


def exactly(unit: UnitSpec) -> Function:
    return lambda a, b, c: replay(unit, Batch(*(x.astype(np.uint64) for x in (a, b, c))))


def holds(found: Identification, folder: Path, unclear: str = "") -> None:
    """The record holds; where `unclear` is given, that alone may stay unchecked."""
    finding = verify_identification(to_record(found), Store(folder))
    if unclear and finding.status is AuditStatus.UNCHECKED:
        assert unclear in finding.reason
    else:
        assert finding.status is AuditStatus.HOLDS, finding.reason


# ---------------------------------------------------------------------- inside once it is looked for
#: A chain in a format of fewer bits than the result, to which it is rounded once more.
NARROW_CHAIN = f"tree@steps=(part(3+part(2+part(1+part(0+c))))),part.conversion=RNE-E6M9,{HALF}"

#: A chain of products of e5m2 that fp16 holds but for their size.
SATURATED = CHAIN.replace("fp16", "e5m2", 2)
#: Formats whose products lie too near each other for masks.
SHORT = ",a_format=e2m1,b_format=e2m1,c_format=fp32,d_format=fp32"
#: A sum of products of e5m2 that keeps fewer fraction bits than any catalogued one.
FEW_BITS = f"{SUM},fraction_bits=5,conversion=RNA-FP16".replace("fp16", "e5m2", 2)


@pytest.mark.parametrize(
    "name",
    [
        f"{CHAIN},negated=odd,nan_word=0xfe00,nan_rule=first_operand",
        pytest.param(f"{CHAIN},negated=even", marks=pytest.mark.slow),
        pytest.param(f"{SUM},negated=all,fraction_bits=11", marks=pytest.mark.slow),
        pytest.param(f"{SUM},conversion=RNE-FP16:15", marks=pytest.mark.slow),
        pytest.param(f"{SUM},conversion=RZ-FP16:12,overflow=largest", marks=pytest.mark.slow),
        pytest.param(f"{CHAIN},operand_subnormals=positive_zero,b_subnormals=kept", marks=pytest.mark.slow),
        pytest.param(FEW_BITS, marks=pytest.mark.slow),
        pytest.param(f"{SATURATED},product_rounding=RNE-FP16,overflow=largest", marks=pytest.mark.slow),
        pytest.param(f"tree@steps=(0+1+c),fraction_bits=23{SHORT}", marks=pytest.mark.slow),
        pytest.param(f"tree@steps=(1+(0+c)){SHORT}", marks=pytest.mark.slow),
        pytest.param(
            f"tree@steps=part(1+part(0+c)),part.conversion=RNE-E8M10{SHORT}", marks=pytest.mark.slow
        ),
        pytest.param(f"tree@steps=(3+(2+(1+(0+c)))){SHORT}", marks=pytest.mark.long),
        pytest.param(NARROW_CHAIN, marks=pytest.mark.long),
        pytest.param(
            NARROW_CHAIN.replace("(3+part(2+part(1+part(0+c))))", "(1+part(0+c))"), marks=pytest.mark.slow
        ),
        pytest.param(f"tree@steps=(join(0+1+c)),join.conversion=RNE-FP32,{HALF}", marks=pytest.mark.long),
    ],
)
def test_a_rare_design_is_found(name: str, tmp_path: Path) -> None:
    unit = resolve(name)
    found = identified(Asker(ModelDevice(name), unit.operands, unit.k), vectors=2000, seconds=200)
    assert found.verdict in (IdentifyVerdict.IDENTIFIED, IdentifyVerdict.REMAINING), found.reason
    assert any(same_definition(resolve(x), unit, unit.k) for x in found.classes[0]), found.classes
    assert "catalogued" not in found.reason
    # No proof is known of normalised factors beside products that are all subtracted.
    holds(found, tmp_path, "nothing here proves neighbour=" if "negated=all" in name else "")


@pytest.mark.slow
def test_orders_that_masks_do_not_show_are_said_not_to_be_tested(tmp_path: Path) -> None:
    unit = resolve(f"tree@steps=(0+1+c),fraction_bits=23{SHORT}")
    found = identified(Asker(ModelDevice(unit.name), unit.operands, unit.k), vectors=2000, seconds=200)
    assert ORDERS in found.untested
    record = to_record(replace(found, untested=tuple(x for x in found.untested if x != ORDERS)))
    assert verify_identification(record, Store(tmp_path)).status is AuditStatus.FAILED


@pytest.mark.long
def test_products_that_are_rounded_are_found(tmp_path: Path) -> None:
    """Whether they are normalised, and what is too large, does not matter, by theorem."""
    unit = resolve("tfdpa@products=8,product_rounding=RZ-E8M10")
    found = identified(Asker(ModelDevice(unit.name), unit.operands, unit.k), vectors=2000, seconds=200)
    assert found.verdict is IdentifyVerdict.IDENTIFIED, found.reason
    assert any(same_definition(resolve(x), unit, unit.k) for x in found.classes[0]), found.classes
    holds(found, tmp_path)


def test_products_that_are_subtracted_are_seen() -> None:
    for word in ("none", "odd", "even", "all"):
        unit = resolve(f"tree@steps=(0..4+c),negated={word}")
        assert product_signs(Asker(ModelDevice(unit.name), unit.operands, 5)) == word
    mixed = np.array([1, 1, -1, 1, 1])

    def signed(a: Raw, b: Raw, c: Raw) -> Raw:
        flip = np.where(mixed < 0, np.uint64(0x8000), np.uint64(0))
        return exactly(resolve("tree@steps=(0..4+c)"))(a.astype(np.uint64) ^ flip, b, c)

    assert product_signs(box(signed, resolve("tree@steps=(0..4+c)"))) == ""


@pytest.mark.parametrize(
    ("settings", "bits", "limit"),
    [
        ("", 10, None),
        (",conversion=RNE-FP16:15", 10, 15),
        (",conversion=RNE-FP16:9,overflow=largest", 10, 9),
        (",product_rounding=RZ-E5M6", 6, None),
    ],
)
def test_terms_alone_show_widths_and_limits(settings: str, bits: int, limit: int | None) -> None:
    name = f"{SUM}{settings}"
    seen = isolated(Asker(ModelDevice(name), SPEC.operands, 2))
    assert (seen.product_bits, seen.limit) == (bits, limit)


def test_a_limit_is_one_end_of_all_powers() -> None:
    d = SPEC.d_format
    words = [(e, (e + 15) << 10) for e in range(8)]
    inf = d.infinity
    assert overflow_limit(d, words) is None
    assert overflow_limit(d, [*words[:5], *((e, inf) for e, _ in words[5:])]) == 5
    # One power that is lost and higher ones that come back are no limit.
    assert overflow_limit(d, [*words[:5], (5, inf), *words[6:]]) is None


NVFP4 = "rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"


@pytest.mark.parametrize(
    ("base", "settings", "changes"),
    [
        (NVFP4, "conversion=RNE-FP32", 1),
        ("volta/mma.m8n8k4.f32.f16.f16.f32", "alignment_rounding=RNE", 1),
        ("volta/mma.m8n8k4.f32.f16.f16.f32", "fraction_bits=14", 1),  # far from its own
        ("volta/mma.m8n8k4.f32.f16.f16.f32", "negated=all,product_rounding=RZ-E8M10", 2),
        # B's rule shows only where A has another one.
        ("sequential@products=2", "operand_subnormals=positive_zero,b_subnormals=kept", 2),
    ],
)  # fmt: skip
def test_every_change_of_a_design_is_tried(base: str, settings: str, changes: int) -> None:
    first = resolve(base)
    device = resolve(f"{first.name}{',' if '@' in first.name else '@'}{settings}")
    pool = pool_of(device, device.k, 300, 1)
    batch, answers = numbers_only(device.d_format, pool, replay(device, pool))
    for count in range(1, changes):
        assert not Nearby(batch, answers, lambda: False).found([first], count)
    found = Nearby(batch, answers, lambda: False).found([first], changes)
    assert any(u.design == device.design for u in found)


def test_a_width_is_changed_before_another_parameter() -> None:
    """The nearest design of another width is a base for the changes of one parameter more."""
    base = resolve("volta/mma.m8n8k4.f32.f16.f16.f32")
    device = resolve(f"{base.name}@fraction_bits=14,alignment_rounding=RNE")
    pool = pool_of(device, 4, 300, 1)
    beside = Nearby(pool, replay(device, pool), lambda: False)
    wider = [*beside.of_other_widths([base])]
    assert [u.design.fraction_bits for u in wider] == [14]
    assert any(u.design == device.design for u in beside.found(wider, 1))
    assert not [*Nearby(pool, replay(base, pool), lambda: False).of_other_widths([base])]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["gaudi/mme.bf16.cd8@fraction_bits=17", "rdna4/v_dot2_f32_bf16@conversion=RD-FP32"]
)
def test_one_parameter_of_any_catalogued_design_is_found(name: str) -> None:
    """Also of a design whose answers are far from the device's, and of one that is a tree but for NaNs."""
    spec = resolve(name)
    found = identified(Asker(ModelDevice(name), spec.operands, spec.k), vectors=500, seconds=20)
    assert found.verdict in (IdentifyVerdict.IDENTIFIED, IdentifyVerdict.REMAINING), found.reason
    pool = pool_of(spec, spec.k, 2000, 5)
    assert (replay(resolve(found.classes[0][0]), pool) == replay(spec, pool)).all()


def test_what_the_time_leaves_out_is_said() -> None:
    unit = resolve("volta/mma.m8n8k4.f32.f16.f16.f32")
    pool = pool_of(unit, 4, 50, 1)
    beside = Nearby(pool, replay(resolve(f"{unit.name}@alignment_rounding=RNE"), pool), lambda: True)
    assert not beside.found([unit], 1)
    assert not beside.whole


# ---------------------------------------------------------------------- devices that are none
@pytest.mark.parametrize("word", [0x7FFF, 0, 0x3C00])
def test_a_device_that_says_one_thing(word: int, tmp_path: Path) -> None:
    found = identified(box(lambda a, b, c: np.full(len(c), word, np.uint16)), vectors=100)
    assert found.verdict is IdentifyVerdict.CONSTANT
    assert len(found.history[1]) > 200
    assert not found.nearest
    holds(found, tmp_path)


def test_a_device_that_says_one_thing_at_first_only() -> None:
    """One word for all sums of ones, infinities and masks; random inputs show the others."""

    def late(a: Raw, b: Raw, c: Raw) -> Raw:
        return np.where((a[:, 0] & 7) == 5, 1, 0).astype(np.uint16)

    found = identified(box(late), vectors=0, seconds=5)
    assert found.verdict is not IdentifyVerdict.CONSTANT


@pytest.mark.slow
@pytest.mark.parametrize("refuses", [True, False])
def test_a_device_without_an_accumulator(refuses: bool, tmp_path: Path) -> None:
    unit = resolve(f"tree@steps=(0+1),{HALF}")

    def alone(a: Raw, b: Raw, c: Raw) -> Raw:
        if refuses and c.any():
            raise DeviceError("expected c of 0")
        return exactly(unit)(a, b, c)

    found = identified(box(alone), vectors=1000, seconds=100)
    assert found.verdict is IdentifyVerdict.IDENTIFIED, found.reason
    assert same_definition(resolve(found.classes[0][0]), unit, 2)
    assert (found.measured or {})["accumulator"].startswith("none: ")
    assert ("any c but 0" in found.untested) is refuses
    holds(found, tmp_path)


def test_a_device_that_fails_is_not_one_without_c() -> None:
    def broken(a: Raw, b: Raw, c: Raw) -> Raw:
        raise DeviceError("expected power, but got none")

    asker = box(broken)
    with pytest.raises(DeviceError, match="expected power"):
        identified(asker, vectors=0)
    assert not asker.refused


# ---------------------------------------------------------------------- wrong on a set
def on_a_set(a: Raw, b: Raw, c: Raw) -> Raw:
    """Wrong wherever the last bits of c are those of one number in 32."""
    d = exactly(SPEC)(a, b, c)
    return np.where((c & 31) == 21, d ^ np.uint64(1), d)


@pytest.mark.slow
def test_wrong_on_a_set_is_outside_twice(tmp_path: Path) -> None:
    """Not faulty; a second run with the kept answers says the same, and rows are of their own inputs."""
    path, rows = tmp_path / "answers.jsonl", list[Any]()
    for _ in range(2):
        found = identified(box(on_a_set, path=path), vectors=2000, seconds=60)
        assert found.verdict in (IdentifyVerdict.OUTSIDE, IdentifyVerdict.UNFINISHED), found.reason
        assert "exact" not in (found.measured or {}).values()
        assert "breaks at" in (found.measured or {})
        batch, answers = found.history
        first = found.unfit[0]
        assert int(batch.c[first]) & 31 == 21
        one = Batch(batch.a[[first]], batch.b[[first]], batch.c[[first]])
        assert on_a_set(one.a, one.b, one.c)[0] == answers[first]
        holds(found, tmp_path, "follows from no design")
        assert identification_view(found)
        rows.append(found.verdict)
    assert rows[0] is rows[1]


def test_a_shrunk_misfit_has_its_own_results() -> None:
    from tcformal.identification.validation import validate

    it = box(on_a_set)
    found = validate(it, SPEC, 2000)
    simpler = [x.simpler for x in found.shown if x.simpler is not None]
    assert simpler
    for x in simpler:
        w = batch_of([x.witness])
        assert (x.given, x.designed) == (int(on_a_set(w.a, w.b, w.c)[0]), int(replay(SPEC, w)[0]))
        assert x.stays


def test_a_search_ends_in_time() -> None:
    """Structures wait, and nothing is looked at."""
    it = box(exactly(SPEC))
    search = Search(SPEC, 2, it.ask, over=lambda: True)
    search.add([SPEC])
    assert not search.run()
    assert not search.alive
    assert "1 structures" in search.unsettled


def test_time_that_is_over_is_no_refutation() -> None:
    found = identified(box(exactly(SPEC)), vectors=0, seconds=0)
    assert found.verdict is IdentifyVerdict.UNFINISHED
    assert "the time ended" in found.reason
