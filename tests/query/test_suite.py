"""Suites: they separate, nothing in them can be left out, and damage is noticed."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from tcformal.cli.suite import suite_header, suite_view
from tcformal.design.axes import axes
from tcformal.design.names import resolve
from tcformal.design.rounding import MODES
from tcformal.design.space import LARGEST, Space, space
from tcformal.errors import InputError, RecordError, SolverDisagreementError, UnknownNameError
from tcformal.query.options import SolveOptions
from tcformal.query.question import Kind
from tcformal.query.suites import cover as covering
from tcformal.query.suites.cover import cover, irredundant, split_cover
from tcformal.query.suites.made import LISTED, Suite, complaints, from_json, to_json
from tcformal.query.suites.panel import Panel
from tcformal.query.suites.suite import suite_of
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.operands.batch import batch_of, columns, lengthened, rows_of, together, witness_at
from tcformal.simulation.operands.inputs import directed, inputs_to_try
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.replay import oracle_result
from tcformal.solve.result import Limits

AMPERE, HOPPER = "ampere/mma.m16n8k8.f32.f16.f16.f32", "hopper/mma.m16n8k8.f32.f16.f16.f32"
#: C is fp16 and D is fp32: a result cannot be the next c.
FP16_C = "volta/mma.m8n8k4.f32.f16.f16.f16"
#: Generous: no answer here may depend on how busy the machine is.
LIMITS = Limits(time_s=300.0, memory_mb=8192, seed=0)


def small(of: Space, **more: Any) -> Suite:
    """A suite of few inputs tried, quickly made."""
    how = SolveOptions(solvers=more.pop("solvers", None), limits=more.pop("limits", LIMITS))
    settings: dict[str, Any] = {"vectors": 1024, "shrink_s": 1.0} | more
    return suite_of(of, how, **settings)


def recheck(made: Suite) -> None:
    """Every pair of different classes differs on the oracle, alone, on the input that is named for it."""
    table = [[oracle_result(spec, w) for spec in made.designs] for w in made.inputs]
    assert [tuple(row) for row in table] == list(made.results)
    for i, j in combinations(range(len(made.designs)), 2):
        found = made.separator(i, j)
        if made.classes[i] == made.classes[j]:
            assert found is None
        else:
            assert found is not None
            assert table[found][i] != table[found][j]


def without(made: Suite, i: int) -> Suite:
    """A suite with one input left out."""
    inputs, results = ([x for n, x in enumerate(row) if n != i] for row in (made.inputs, made.results))
    return replace(made, inputs=tuple(inputs), results=tuple(results))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def modes() -> Suite:
    """Rounding modes of conversion and alignment: no one input tells RZ from RD and from RU."""
    return small(space(["tfdpa@products=4"], vary=["conversion", "alignment_rounding=RZ,RD"]))


@pytest.fixture(scope="module")
def carries() -> Suite:
    """Carry bits, of which some are more than the sum can need."""
    return small(space(["valpey@terms=5"], vary=["carry_bits=2..4"]))


# ---------------------------------------------------------------------- spaces
def test_a_unit_stands_for_its_variations() -> None:
    of = space([HOPPER])
    names = [u.name for u in of.members]
    assert names[0] == HOPPER
    for settings in (
        "fraction_bits=10",
        "fraction_bits=40",
        "conversion=RO-FP32",
        "products=4",
        "carry_bits=3",
        "zero_exponent=own",
        "summation=sequential,c_position=last",
        "normalise_products=true",
    ):
        assert f"{HOPPER}@{settings}" in names
    assert of.same[f"{HOPPER}@fraction_bits=25"] == HOPPER
    assert "c_position joined or last" in of.refused[f"{HOPPER}@c_position=first"]
    listed = sum(map(len, axes(resolve(HOPPER)).values()))
    assert len(names) - 1 + len(of.same) + len(of.refused) == listed


def test_no_two_members_share_their_parameters() -> None:
    members = space([AMPERE]).members
    assert len({u.design for u in members}) == len(members)


def test_values_multiply_and_replace_those_of_the_name() -> None:
    of = space(["valpey@terms=5,carry_bits=3"], vary=["carry_bits=3..5", "conversion=RZ-FP32,RU-FP32"])
    settings = [(u.design.carry_bits, u.design.conversion) for u in of.members]
    assert settings == list(product((3, 4, 5), ("RZ-FP32", "RU-FP32")))


def test_a_parameter_without_values_takes_all() -> None:
    assert [u.design.conversion[:3] for u in space([AMPERE], vary=["conversion"]).members] == [
        "RNE", "RNA", "RZ-", "RD-", "RU-", "RO-", "RZ-"
    ]  # fmt: skip


def test_rounding_alone_is_every_mode() -> None:
    """Of a design without other roundings it is the conversion's mode; of a chain it is both."""
    for name in (AMPERE, "sequential@products=4"):
        members = space([name], vary=["rounding"]).members
        assert [u.design.conversion for u in members] == [f"{mode}-FP32" for mode in MODES]
        assert all(u.design.accumulator in (None, u.design.conversion) for u in members)
    with pytest.raises(
        InputError, match=r"expected a parameter that varies in .*sum_fraction_bits has no values"
    ):
        space([AMPERE], vary=["sum_fraction_bits"])


def test_the_catalogue_by_formats_and_architectures() -> None:
    every = space(formats="fp16,fp16,fp32,fp32").members
    assert {"volta", "turing", "hopper", "cdna1", "cdna3", "x86"} <= {u.arch for u in every}
    some = space(formats="fp16,fp16,fp32,fp32", archs=["cdna1", "cdna2"]).members
    assert [u.arch for u in some] == ["cdna1", "cdna2"]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"names": []}, "expected a unit, operand formats or an architecture"),
        ({"names": [AMPERE, AMPERE]}, "expected at least two designs, but got 1"),
        ({"names": [AMPERE], "vary": ["c_position=first"]}, "expected c_position joined or last"),
        ({"names": [AMPERE, AMPERE.replace("f16", "bf16")]}, "expected designs of equal operand formats"),
        ({"names": [AMPERE], "vary": ["fraction_bits=9..1"]}, "expected a range LOW..HIGH for fraction_bits"),
        (
            {
                "names": [AMPERE],
                "vary": ["fraction_bits=1..256", "conversion", "alignment_rounding", "zero_sign"],
            },
            f"at most {LARGEST} designs",
        ),
        ({"formats": "fp16,fp16"}, "expected the formats of A, B, C and D"),
        ({"formats": "e8m0,e8m0,fp32,fp32"}, "but there are none"),
    ],
)
def test_bad_spaces_are_refused(given: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text.replace("(", r"\(")):
        space(**given)


@pytest.mark.parametrize(
    "given",
    [
        {"names": ["ampere/mma"]},
        {"names": [AMPERE], "vary": ["fraction=3"]},
        {"names": [AMPERE], "vary": ["rnding"]},
        {"names": [AMPERE], "vary": ["conversion=RX-FP32"]},
        {"formats": "fp16,fp16,fp32,fp32", "archs": ["hoper"]},
    ],
)
def test_unknown_names_are_not_skipped(given: dict[str, Any]) -> None:
    with pytest.raises(UnknownNameError):
        space(**given)


# ---------------------------------------------------------------------- panels and inputs
def test_a_panel_evaluates_as_each_unit_does() -> None:
    names = [AMPERE, HOPPER, "cdna2/v_mfma_f32_32x32x8f16", "turing/mma.m8n8k4.f32.f16.f16.f32"]
    panel = Panel([resolve(name) for name in names])
    assert panel.k == 8
    x = inputs_to_try(panel.designs[0], 8, 300, 3)
    results = panel.evaluate(x)
    for row, spec in zip(results, panel.designs, strict=True):
        assert np.array_equal(row, Unit(spec).dot_bits(x.a, x.b, x.c))
    assert np.array_equal(panel.evaluate(x, [2]), results[2:3])
    w = witness_at(x, 7)
    assert panel.integers(w) == panel.oracle(w) == tuple(results[:, 7])


@pytest.mark.parametrize(
    "name",
    [
        AMPERE,
        "ampere/mma.m16n8k8.f32.tf32.tf32.f32",
        "ada/mma.m16n8k32.f16.e4m3.e5m2.f16",
        "rtx-blackwell/mma.m16n8k32.kind::f8f6f4.f32.e2m1.e3m2.f32",
        "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0",
    ],
)
def test_directed_inputs_are_sparse_numbers_of_every_format(name: str) -> None:
    spec = resolve(name)
    x = directed(spec, spec.k, 500, 1)
    live = ((x.a != 0) & (x.b != 0)).sum(axis=1)
    assert 0 < live.max() <= 5
    d = Unit(spec).dot_bits(*(array for array in columns_of(x) if array is not None))
    finite = (d & ((1 << (spec.d_format.width - 1)) - 1)) < spec.d_format.infinity
    assert finite.mean() > 0.9
    assert len(np.unique(d)) > 100


def columns_of(x: Any) -> Sequence[Any]:
    return x.a, x.b, x.c, x.scale_a, x.scale_b


def test_batches_keep_their_rows() -> None:
    spec = resolve("blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0")
    x = inputs_to_try(spec, 32, 20, 0)
    witnesses = [witness_at(x, row) for row in range(20)]
    again = together(batch_of(witnesses[:5]), rows_of(x, np.arange(5, 20)))
    for name, column in columns(x).items():
        assert np.array_equal(columns(again)[name], column)


# ---------------------------------------------------------------------- covers
def test_a_cover_is_as_small_as_can_be() -> None:
    # Greedy takes the large one first and needs three.
    masks = [0b00111100, 0b00001111, 0b11110000]
    found = cover(masks, [1, 1, 1], 0b11111111)
    assert (found.chosen, found.at_least) == ((1, 2), 2)


def test_a_cover_agrees_with_trying_everything() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        masks = [int(m) for m in rng.integers(1, 1 << 12, 9)] + [0xE07, 0x1F8]
        universe = (1 << 12) - 1
        size = next(
            n for n in range(1, 12) for some in combinations(masks, n)
            if int(np.bitwise_or.reduce(some)) == universe
        )  # fmt: skip
        found = cover(masks, [0] * len(masks), universe)
        assert len(found.chosen) == found.at_least == size
        assert int(np.bitwise_or.reduce([masks[i] for i in found.chosen])) == universe


def test_a_cover_without_budget_claims_no_more_than_it_knows() -> None:
    masks = [0b00111100, 0b00001111, 0b11110000]
    found = cover(masks, [1, 1, 1], 0b11111111, steps=0)
    assert len(found.chosen) == 2  # what the others do was left out of the greedy choice
    assert found.at_least <= 2
    assert covering.STEPS > 0


def test_cheap_candidates_are_preferred() -> None:
    assert cover([0b11, 0b11, 0b11], [5, 2, 9], 0b11).chosen == (1,)
    assert irredundant([0b01, 0b11, 0b10], [1, 5, 1], 0b11) == [0, 2]


# ---------------------------------------------------------------------- suites
def test_a_suite_separates(modes: Suite) -> None:
    assert len(modes.designs) == 14
    assert modes.undecided == ()
    recheck(modes)
    assert complaints(modes) == []
    # RZ, RD and RU: on one input two of them agree.
    assert len(modes.inputs) >= 2
    assert modes.at_least <= len(modes.inputs)


def test_no_input_can_be_left_out(modes: Suite) -> None:
    for i in range(len(modes.inputs)):
        found = complaints(without(modes, i))
        assert any("expected an input that tells" in text for text in found)


def test_equal_designs_are_merged_with_a_proof(carries: Suite) -> None:
    assert [u.design.carry_bits for u in carries.designs] == [2, 3, 4]
    assert carries.classes == (0, 1, 1)
    assert carries.undecided == ()
    recheck(carries)
    for e in carries.equal:
        assert e.same_definition or e.confirmed_by or e.certificate is not None or "theorem" in e.reason


@pytest.mark.slow
def test_equal_on_one_block_is_equal_on_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tcformal.query.suites.suite.equal_by_theorem", lambda *_: None)
    of = space(["tfdpa@products=2,k=4"], vary=["carry_bits=6,7"])
    panel = Panel(of.members)
    assert (panel.k, panel.step((0, 1)), panel.short_question((0, 1)).k) == (4, 2, 2)
    made = small(of)
    assert made.classes == (0, 0)
    assert "so none at k=4" in made.equal[0].reason
    # D of another format than C is no next c, so nothing follows from one block.
    wide = Panel([resolve(f"{FP16_C}@products=2,carry_bits={n}") for n in (6, 7)])
    assert (wide.k, wide.step((0, 1))) == (4, 4)
    monkeypatch.setattr("tcformal.query.suites.suite._ROUNDS", 1)
    told_apart = small(space(["valpey@terms=5,k=8"], vary=["carry_bits=2,3"]), vectors=2)
    assert (told_apart.k, len(told_apart.inputs)) == (8, 1)
    recheck(told_apart)


def test_blocks_of_different_length_meet_at_their_multiple() -> None:
    panel = Panel([resolve(f"tfdpa@products={n},k=12") for n in (2, 3, 6)])
    assert panel.k == 12
    assert [panel.step(pair) for pair in ((0, 1), (1, 2), (0, 2), (0, 0))] == [6, 6, 6, 2]


def test_a_lengthened_witness_keeps_its_products() -> None:
    first, last = lengthened(Witness((1, 2), (3, 4), 5), 4)
    assert (first.a, first.b, first.c) == ((1, 2, 0, 0), (3, 4, 0, 0), 5)
    assert (last.a, last.b, last.c) == ((0, 0, 1, 2), (0, 0, 3, 4), 5)


def test_designs_of_one_definition_need_no_solver() -> None:
    of = space(["tfdpa@products=2"], vary=["order", "fraction_bits=20,21"])
    made = small(of, solvers=["z3"], limits=Limits(time_s=0.01, memory_mb=8192, seed=0))
    same = [e for e in made.equal if e.same_definition]
    panel = Panel(made.designs)
    assert all(panel.same_definition(e.first, e.second) for e in same)
    assert complaints(made) == []


def test_a_pair_without_an_answer_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tcformal.query.suites.suite._ROUNDS", 1)
    monkeypatch.setattr("tcformal.query.suites.suite.equal_by_theorem", lambda *_: None)
    of = space(["valpey@terms=5"], vary=["carry_bits=3,4", "conversion=RZ-FP32,RNE-FP32"])
    made = small(of, limits=Limits(time_s=0.001, memory_mb=8192, seed=0))
    assert [(u.first, u.second) for u in made.undecided] == [(0, 2), (1, 3)]
    assert all(u.verdict in (Kind.UNKNOWN, Kind.TIMEOUT) for u in made.undecided)
    assert complaints(made) == []
    # What is not said to be undecided is missed.
    assert len(complaints(replace(made, undecided=made.undecided[1:]))) == 1


def test_a_space_of_equal_designs_needs_no_input() -> None:
    made = small(space(["tfdpa@products=2"], vary=["carry_bits=6,7"]))
    assert (made.inputs, made.at_least, made.classes) == ((), 0, (0, 0))
    assert complaints(made) == []


def test_solvers_find_what_vectors_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tcformal.query.suites.suite._ROUNDS", 1)
    made = small(space(["valpey@terms=5"], vary=["carry_bits=2,3"]), vectors=2)
    assert made.asked == 1
    assert len(made.inputs) == 1
    recheck(made)


def test_the_same_seed_gives_the_same_suite() -> None:
    of = space(["tfdpa@products=2"], vary=["conversion"])
    again = small(of, shrink_s=60.0)
    more = small(of, shrink_s=60.0)
    assert (again.inputs, again.results) == (more.inputs, more.results)


def test_an_input_on_which_lanes_and_oracle_part_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Panel, "oracle", lambda self, w, only: tuple(x ^ 1 for x in self.integers(w, only)))
    with pytest.raises(SolverDisagreementError, match="on oracle as by lanes"):
        small(space([AMPERE, HOPPER]))


# ---------------------------------------------------------------------- many designs
@pytest.fixture(scope="module")
def hundreds() -> Suite:
    """More designs than pairs are listed of; some are equal, and nobody is asked for long."""
    of = space(["valpey@terms=3"], vary=["fraction_bits=20..31", "conversion", "carry_bits=1,2,6,7"])
    assert len(of.members) == 336 > LISTED
    return suite_of(of, SolveOptions(limits=LIMITS), vectors=256, total_s=0.5)


@pytest.mark.slow
def test_many_designs_are_told_apart_or_said_to_be_undecided(hundreds: Suite) -> None:
    assert complaints(hundreds) == []
    assert hundreds.undecided
    assert len(set(hundreds.classes)) == len(hundreds.designs) - len(hundreds.equal)
    # A design that agrees with another on every input, and is not said to be undecided, is missed.
    assert len(complaints(replace(hundreds, undecided=hundreds.undecided[1:]))) >= 1
    assert len(hundreds.inputs) >= hundreds.at_least >= 1
    for i in range(len(hundreds.inputs)):
        assert complaints(without(hundreds, i))


def test_many_designs_have_the_results_of_each(hundreds: Suite) -> None:
    x = batch_of(hundreds.inputs)
    for j in range(0, len(hundreds.designs), 17):
        d = Unit(hundreds.designs[j]).dot_bits(x.a, x.b, x.c)
        assert [row[j] for row in hundreds.results] == d.tolist()


def test_many_designs_are_shown_in_few_lines(hundreds: Suite) -> None:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(suite_view(hundreds))
    assert len(console.export_text().splitlines()) < 130
    assert "separator" not in suite_header(hundreds, "many")
    data = json.loads(json.dumps(to_json(hundreds)))
    assert data["separated"] == []
    assert from_json(data).replayed == hundreds.replayed


@pytest.mark.slow
def test_of_many_results_some_are_replayed_of_every_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong result of one design among many is met by the sample where it is of every input."""
    monkeypatch.setattr("tcformal.query.suites.suite._REPLAYED", 300)
    of = space(["valpey@terms=3"], vary=["fraction_bits=20..31", "conversion", "carry_bits=1,2,6,7"])
    made = suite_of(of, SolveOptions(limits=LIMITS), vectors=256, total_s=0.01)
    assert len(made.designs) <= made.replayed < len(made.inputs) * len(made.designs)
    monkeypatch.setattr(Panel, "oracle", lambda self, w, only: tuple(x ^ 1 for x in self.integers(w, only)))
    with pytest.raises(SolverDisagreementError, match="on oracle as by lanes"):
        suite_of(of, SolveOptions(limits=LIMITS), vectors=256, total_s=0.01)


def test_inputs_that_split_are_few_and_needed() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        results = rng.integers(0, 3, (40, 30)).astype(np.uint64)
        found = split_cover(results, [1] * 30)
        every = len(np.unique(results, axis=0))
        assert len(np.unique(results[:, found.chosen], axis=0)) == every
        assert found.at_least <= len(found.chosen)
        for i in found.chosen:
            rest = [j for j in found.chosen if j != i]
            assert len(np.unique(results[:, rest], axis=0)) < every
    assert split_cover(np.zeros((3, 2), np.uint64), [1, 1]).chosen == ()
    # The first input tells most pairs apart, and the two others all of them: nine designs (x, y).
    pairs = list(product(range(3), range(3)))
    first = [{(1, 0): 0, (0, 2): 1}.get(pair, i) for i, pair in enumerate(pairs)]
    trap = np.array([first, *zip(*pairs, strict=True)], np.uint64).T
    assert split_cover(trap, [1, 1, 1]).chosen == (1, 2)


# ---------------------------------------------------------------------- written and read
def test_a_written_suite_is_read_back(carries: Suite) -> None:
    data = json.loads(json.dumps(to_json(carries)))
    back = from_json(data)
    assert replace(back, seconds=0.0) == replace(carries, seconds=0.0)
    assert complaints(back) == []
    pairs = {(p["first"], p["second"]): p["input"] for p in data["separated"]}
    assert pairs == {(0, j): carries.separator(0, j) for j in (1, 2)}


def test_damage_to_a_result_is_noticed(carries: Suite) -> None:
    row = list(carries.results[0])
    row[0] ^= 1
    found = complaints(replace(carries, results=(tuple(row), *carries.results[1:])))
    assert any("valpey@terms=5,carry_bits=2 on input 0, as on integers" in text for text in found)
    assert any("as on exact fractions" in text for text in found)


def test_a_wrong_claim_of_equality_is_noticed(modes: Suite, carries: Suite) -> None:
    claim = replace(carries.equal[0], first=0, second=1)
    found = complaints(replace(carries, equal=(claim, *carries.equal)))
    assert any("which count as equal, but got others" in text for text in found)
    claim = replace(carries.equal[0], same_definition=True)
    assert any(
        "they build two" in text for text in complaints(replace(carries, equal=(claim, *carries.equal[1:])))
    )
    assert complaints(replace(modes, k=8)) == ["expected k=4 for these designs, but got 8"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("designs", 0), "ampere/nothing"),
        (("inputs", 0, "c", "value"), "17"),
        (("inputs", 0, "results", 1, "hex"), "0x1"),
        (("inputs", 0, "a"), []),
        (("equal", 0, "second"), 99),
        (("k",), None),
    ],
)
def test_a_damaged_file_is_refused(carries: Suite, path: tuple[Any, ...], value: object) -> None:
    data = json.loads(json.dumps(to_json(carries)))
    at = data
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    with pytest.raises(RecordError):
        from_json(data)
