"""The Coq specification against the oracle, on vectors of every design; a changed parameter shows."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agreement import DESCRIBED, Vectors, differences, vectors
from tcformal.design.catalog import catalogue
from tcformal.design.names import resolve
from tcformal.design.rounding import CHOICES
from tcformal.design.trees.tree import Value, read_steps, tree
from tcformal.design.unit import UnitSpec
from tcformal.errors import TcformalError
from tcformal.simulation.operands.batch import Batch
from tcformal.theory.checked import compile_sources
from tcformal.theory.design import coq_function

#: Files of all designs: a file's are compared by one run of `coqc`.
FILES = 10
#: Families beside the catalogue's units, and altered units.
FAMILIES = (
    "tfdpa@products=7,fraction_bits=11,zero_exponent=own,a_format=e4m3,b_format=e5m2,c_format=fp16,d_format=fp16",
    "valpey@terms=5,carry_bits=2,align_bits=1",
    "hopper/mma.m16n8k16.f32.f16.f16.f32@carry_bits=1,normalise_products=true",
    "cdna3/v_mfma_f32_32x32x8_f16@sum_rounding=RZ",
    "cdna3/v_mfma_f32_16x16x32_fp8_fp8@sum_rounding=RD_ADDENDS",
    "x86/tdpbf16ps@accumulator=RO-E8M15,alignment_rounding=RZ",
    "x86/tcmmrlfp16ps@negated=even",
    "hopper/mma.m16n8k16.f32.f16.f16.f32@negated=all,overflow=largest",
    "cdna2/v_mfma_f32_32x32x8f16@overflow=largest,conversion=RU-FP32",
    "gaudi/mme.bf16.cd8@overflow=largest",
    "tfdpa@products=4,special_words=numbers,overflow=largest,conversion=RNE-FP32:129,a_format=e5m2,b_format=fp16",
    "tfdpa@products=4,fraction_bits=exact,conversion=SR13+5000-FP16,c_format=fp16,d_format=fp16,overflow=ieee",
    "tfdpa@products=4,conversion=SR4+9-E4M2,d_format=e4m2,result_subnormals=tiny_zero,overflow=largest",
    "sequential@products=4,product_rounding=SR5+30-FP16,accumulator=SR1+1-FP32",
    "tree@steps=((0+1)+(2+3)+c),conversion=SR32+524289-FP32",
    "x86/vdpbf16ps@accumulator=SR8+200-FP32",
    "vortex/VX_tcu_fedp_tfr.fp16@conversion=SR8+255-FP32",
    "cdna3/v_mfma_f32_16x16x32_fp8_fp8@conversion=SR9+300-FP32",
    "et-soc-1/TensorFMA16A32@conversion=SR8+255-FP32",
    "rdna3/v_wmma_f32_16x16x16_f16@conversion=SR8+255-FP32",
    "hexagon/mxmem.hf@product_rounding=SR8+255-Q17.12",
    "wormhole/MVMUL.bf16.fp32@conversion=SR8+255-FP32,operand_rounding=SR3+5-E8M3",
)

#: Of each kind of sum a unit, and changes each of which changes some result.
CHANGES: dict[str, list[dict[str, Any]]] = {
    "hopper/mma.m16n8k16.f32.f16.f16.f32": [
        {"fraction_bits": 24}, {"conversion": "RNE-FP32"}, {"alignment_rounding": "RD"}, {"carry_bits": 0},
        {"normalise_products": True}, {"zero_exponent": 100}, {"products": 8}, {"nan_word": 0x7FC00000},
        {"operand_subnormals": "signed_zero"}, {"zero_sign": "ieee"}, {"result_subnormals": "signed_zero"},
        {"c_subnormals": "signed_zero"},
    ],
    "cdna1/v_mfma_f32_32x32x8f16": [{"overflow": "infinity", "conversion": "RZ-FP32"}, {"zero_sign": "sum"}],
    "ampere/mma.m8n8k4.f64.f64.f64.f64": [{"nan_rule": "a_sum_b"}, {"nan_rule": "word"}],
    "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue8m0": [
        {"zero_exponent": "own"}, {"fraction_bits": 12},
    ],
    "cdna3/v_mfma_f32_32x32x8_f16": [
        {"fraction_bits": 23}, {"sum_fraction_bits": 26}, {"sum_rounding": "RZ"}, {"product_limit": 0},
    ],
    "cdna3/v_mfma_f32_16x16x32_fp8_fp8": [{"summation": "tr"}, {"fraction_bits": 22}],
    "cdna2/v_mfma_f32_32x32x4bf16": [
        {"operand_subnormals": "kept"}, {"product_rounding": "RO-FP32"}, {"result_subnormals": "kept"},
        {"accumulator": "RZ-FP32"},
    ],
    "cdna2/v_mfma_f32_32x32x8f16": [{"summation": "sequential"}],
    "arm/bfdot.ebf1": [{"accumulator": "RO-FP32"}],
    "riscv/vfwbdot.vv.vlen128": [{"alignment_rounding": "RZ"}, {"fraction_bits": 23}],
    "x86/vdpbf16ps": [
        {"order": "ascending"}, {"nan_rule": "b_sum_a"}, {"result_subnormals": "signed_zero"},
    ],
    "x86/tdpbf16ps": [{"summation": "pair_chains"}, {"nan_rule": "word"}, {"overflow": "largest"}],
    "x86/tdpbf8ps": [{"summation": "two_chains"}, {"b_subnormals": "kept"}],
    "x86/tcmmrlfp16ps": [{"negated": "none"}, {"negated": "even"}, {"negated": "all"}],
    "power10/xvf16ger2pp": [
        {"nan_rule": "word"}, {"c_position": "joined", "accumulator": None, "nan_rule": "word"},
    ],
    "gaudi2/mme.bf16": [{"fraction_bits": 30}, {"c_subnormals": "kept"}],
    "gaudi3/mme.fp32": [{"dropped_pieces": 3}, {"piece_bits": 12}],
    "gaudi3/mme.e4m3.e4m3": [{"normalise_operands": False, "fraction_bits": 12}],
    "rdna3/v_wmma_f32_16x16x16_f16": [
        {"accumulation": "twos_complement"}, {"c_fraction_bits": 24}, {"factor_nan_word": 0x7FC00001},
    ],
    "rdna3/v_wmma_bf16_16x16x16_bf16": [{"accumulator": None}],
    "rdna4/v_wmma_f32_16x16x16_f16": [
        {"aligned_group": 4}, {"vanished_c": "cut"}, {"alignment_rounding": "RZ", "aligned_group": None},
    ],
    "et-soc-1/TensorFMA16A32": [{"lost_bits": "cut"}, {"zero_words": "summed"}, {"fraction_bits": 24}],
    "vortex/VX_tcu_fedp_tfr.bf16": [
        {"zero_terms": None, "c_subnormals": "kept"},
        {"lost_bits": "cut", "zero_terms": None, "c_subnormals": "kept"}, {"carry_bits": 0},
    ],
    "nvdla/cmac.fp16": [{"lost_bits": "cut"}, {"exponent_step": 2}, {"fraction_bits": 19}],
    "hexagon/mxmem.hf": [{"product_rounding": "RNE-Q17.12"}, {"zero_sign": "positive"}],
    "wormhole/MVMUL.bf16.fp32": [
        {"a_bits": "1..6"}, {"b_bits": "0..3"}, {"a_bits": None}, {"operand_rounding": "RNE-E8M3"},
        {"alignment_rounding": "RNE"}, {"c_alignment_rounding": "RNU"}, {"c_bits": 22},
        {"special_words": "special"},
    ],
    "blackhole/MVMUL.fp16.fp32": [{"second_fraction_bits": 21}],
    "wormhole/MVMUL.tf32.bf16": [{"second_fraction_bits": None}, {"second_fraction_bits": 11}],
    "cute/Nvfp4F32": [
        {"group_exponent": 5}, {"zero_group": "products"}, {"sum_fraction_bits": None},
        {"sum_fraction_bits": 22}, {"c_alignment_rounding": None}, {"c_bits": 23}, {"zero_exponent": 100},
        {"e_max_of": "products"},
    ],
    "tfdpa@products=4,conversion=SR3+5-E4M2,d_format=e4m2,result_subnormals=tiny_zero": [
        {"conversion": "SR3+6-E4M2"}, {"conversion": "SR4+5-E4M2"}, {"conversion": "SR3+0-E4M2"},
        {"overflow": "largest"},
    ],
    "vortex/VX_tcu_fedp_tfr.fp16@conversion=SR8+255-FP32": [{"conversion": "SR8+100-FP32"}],
    "tfdpa@products=2,fraction_bits=2,alignment_rounding=RD": [
        {"minus_one": 2}, {"alignment_rounding": "RNU"},
    ],
}  # fmt: skip

#: Values of parameters for units that are altered at random.
DRAWN: dict[str, list[Any]] = {name: list(words) for name, words in CHOICES.items()} | {
    "fraction_bits": [3, 11, 24, 30], "c_fraction_bits": [24, 26, 30], "carry_bits": [None, 0, 2, 5],
    "zero_exponent": ["own", "none", -5, -130], "normalise_products": [True, False],
    "aligned_group": [None, 2], "zero_terms": [None, -30], "exponent_step": [1, 2, 4],
    "normalise_operands": [True, False], "piece_bits": [None, 4, 7], "dropped_pieces": [0, 1],
    "group": [None, 2], "product_limit": [None, 5, 100], "sum_fraction_bits": [26, 31],
    "product_rounding": [None, "RO-FP32", "RNE-E6M9", "RZ-Q10.8", "SR3+5-E6M9"], "products": [1, 2, 4],
    "accumulator": ["RNE-FP32", "RU-E8M12", "RD-Q8.10", "RNA-W6.9", "SR4+9-E8M12"],
    "conversion": [
        "RNE-FP32", "RD-FP32", "RU-FP32", "RNA-FP32", "RO-E8M10", "RNE-FP16", "RZ-FP16", "SR8+9-FP32",
    ],
    "a_bits": [None, "0..6", "7..13"], "b_bits": [None, "0..4", "5..9"], "c_bits": [None, 5, 26],
    "operand_rounding": [None, "RZ-E8M10", "RNA-FP16", "RNE-E4M3"],
    "c_alignment_rounding": [None, "RNA", "RNU", "RD"], "second_fraction_bits": [None, 3, 10],
    "minus_one": [None, 0, 27], "group_exponent": [-3, 6],
}  # fmt: skip


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the compiled specification."""
    folder = tmp_path_factory.mktemp("specification")
    compile_sources(folder, "Wide.v")
    return folder


def checked(folder: Path, part: int, n: int) -> None:
    names = DESCRIBED[part::FILES]
    cases = [(catalogue()[name], vectors(catalogue()[name], n, 11)) for name in names]
    found = differences(folder, cases, f"Vectors{part}")
    assert {name: count for name, count in zip(names, found, strict=True) if count} == {}


@pytest.mark.debian
@pytest.mark.parametrize("part", range(FILES))
def test_designs_agree_with_the_oracle(compiled: Path, part: int) -> None:
    """50 dot products of every distinct design, from words to words, evaluated by Coq."""
    checked(compiled, part, 50)


@pytest.mark.debian
@pytest.mark.long
@pytest.mark.parametrize("part", range(FILES))
def test_designs_agree_with_the_oracle_on_many(compiled: Path, part: int) -> None:
    """The same of 1,000 dot products."""
    checked(compiled, part, 1000)


@pytest.mark.debian
def test_families_and_altered_units_agree(compiled: Path) -> None:
    """What is in no catalogue is printed and computed as well."""
    scaled = catalogue()["cute/Mxfp8e4m3F32"]
    halves = tree(read_steps("(p(0..31)+p(32..63)+c)"), {"p": {"fraction_bits": 11}})
    specs = [*map(resolve, FAMILIES), replace(scaled, tree=halves)]
    assert differences(compiled, [(s, vectors(s, 100, 5)) for s in specs], "Families") == [0] * len(specs)


def altered(spec: UnitSpec, changes: dict[str, Any]) -> UnitSpec:
    return replace(spec, design=replace(spec.design, **changes))


@pytest.mark.debian
@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_randomly_altered_units_agree(compiled: Path, seed: int) -> None:
    """Units with one to four parameters drawn anew, where a design may have them together."""
    rng = random.Random(seed)
    names = [name for name in DESCRIBED if catalogue()[name].k <= 32]
    cases: list[tuple[UnitSpec, list[Vectors]]] = []
    while len(cases) < 100:
        spec, drawn = catalogue()[rng.choice(names)], rng.sample(list(DRAWN), rng.randint(1, 4))
        try:
            made = altered(spec, {name: rng.choice(DRAWN[name]) for name in drawn})
            rows = vectors(made, 12, seed)
            coq_function(made)
        except TcformalError:  # means nothing, or not in a composition
            continue
        cases.append((made, rows))
    found = differences(compiled, cases, f"Drawn{seed}")
    assert [spec.design for (spec, _), count in zip(cases, found, strict=True) if count] == []


@pytest.mark.debian
def test_changed_parameters_are_seen(compiled: Path) -> None:
    """Vectors of a unit fail for the unit with a changed parameter, in every kind of sum."""
    cases: list[tuple[UnitSpec, list[Vectors]]] = []
    labels = []
    for name, rows in CHANGES.items():
        spec = resolve(name)
        made = vectors(spec, 150, 3)
        for changes in rows:
            cases.append((altered(spec, changes), made))
            labels.append((name, changes))
    found = differences(compiled, cases, "Changed")
    assert [label for label, count in zip(labels, found, strict=True) if not count] == []


@pytest.mark.debian
def test_a_sum_of_minus_one_unit_has_its_fault(compiled: Path) -> None:
    """1 · 1 - (1 + 2^-23), which is -1 unit, is -16 on Wormhole."""
    spec = catalogue()["wormhole/MVMUL.bf16.fp32"]
    one = np.array([[0x3F80, *[0] * 15]], np.uint64)
    made = [Vectors(spec, 16, Batch(one, one, np.array([0xBF800001], np.uint64)))]
    assert made[0].rows[0][0] == 0xC1800000
    cases = [(x, made) for x in (spec, altered(spec, {"minus_one": None}))]
    assert differences(compiled, cases, "Fault") == [0, 1]


@pytest.mark.debian
def test_changed_trees_and_compositions_are_seen(compiled: Path) -> None:
    """So do those of a stage of a tree, and of a composition's last addition."""
    tree = catalogue()["hexagon/mxmem.hf"]
    assert tree.tree is not None
    rounded = tuple((s, n, "RNE-Q17.20" if s == "pair" else v) for s, n, v in tree.tree.settings)
    one = replace(tree, tree=replace(tree.tree, settings=rounded))
    how = catalogue()["hopper/emulated.mma.m16n8k32.f32.e5m2.e5m2.f32"]
    assert how.emulation is not None
    other = replace(how.emulation, addition=replace(how.emulation.addition, conversion="RZ-FP32"))
    two = replace(how, emulation=other)
    cases = [(one, vectors(tree, 150, 3)), (two, vectors(how, 150, 3))]
    inner = catalogue()["blackhole/MVMUL.fp16.fp32"]
    made = vectors(inner, 150, 3)
    settings: dict[str, Value] = {
        "normalised": True, "alignment_rounding": "RNU", "fraction_bits": 9, "zero_exponent": "none",
    }  # fmt: skip
    for name, value in settings.items():
        assert inner.tree is not None
        changed = tuple((s, n, value if n == name else v) for s, n, v in inner.tree.settings)
        cases.append((replace(inner, tree=replace(inner.tree, settings=changed)), made))
    assert 0 not in differences(compiled, cases, "ChangedOrders")
