"""What is known of two designs: permuted chains block by block, and the places of separating inputs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tcformal.design.axes import altered
from tcformal.design.names import resolve
from tcformal.identification.certify import BY_WAY_OF, Likeness, Sameness
from tcformal.semantics.chain import same_definition
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import batch_of
from tcformal.simulation.operands.witness import Witness
from tcformal.theory.equality import BY_THEOREM

#: Odd products after the even ones, in two fused sums.
PERMUTED = "tree@steps=(1+3+(0+2+c)),fraction_bits=22,conversion=RZ-FP32"

#: Two calls of a unit that adds the sum of two products to c, as a tree.
ARM = (
    "tree@steps=join(join((0+1)+c)+(2+3)),join.conversion=RO-FP32,join.fraction_bits=exact,"
    "join.normalise_products=false,operand_subnormals=signed_zero,c_subnormals=signed_zero,"
    "result_subnormals=tiny_zero,product_rounding=RZ-FP32,conversion=RO-FP32,overflow=infinity,"
    "a_format=bf16,b_format=bf16"
)

#: Two sums of four products, and c, each cut.
TWO_LEVELS = (
    "tree@steps=join(part(0..3)+part(4..7)+c),join.alignment_rounding=RZ,join.carry_bits=exact,"
    "join.conversion=RZ-FP32,join.fraction_bits=24,join.normalise_products=false,join.zero_exponent=none,"
    "part.alignment_rounding=RZ,part.carry_bits=exact,part.conversion=RZ-E8M15,part.fraction_bits=18,"
    "part.normalise_products=true,part.zero_exponent=none,zero_sign=positive,overflow=infinity"
)


@pytest.fixture
def without_theorems(monkeypatch: pytest.MonkeyPatch) -> None:
    """No theorem says anything, so that what comes next is asked."""
    monkeypatch.setattr(Sameness, "by_theorem", lambda *_: Likeness())


def test_theorems_come_first_and_take_no_time() -> None:
    base = resolve(PERMUTED)
    found = Sameness(base, 4, seconds=0).compared(resolve(altered(base, "carry_bits=5")))
    assert found.proof.startswith(BY_THEOREM)


@pytest.mark.slow
@pytest.mark.usefixtures("without_theorems")
def test_a_permuted_chain_is_proved_block_by_block() -> None:
    base = resolve(PERMUTED)
    found = Sameness(base, 4).by_solvers(resolve(altered(base, "carry_bits=5")))
    assert "of 2 products" in found.proof
    assert found.witness is None


@pytest.mark.parametrize("changed", ["carry_bits=0", "fraction_bits=23", "conversion=RNE-FP32"])
def test_what_is_not_the_same_has_an_input_and_no_proof(changed: str) -> None:
    base = resolve(PERMUTED)
    other = resolve(altered(base, changed))
    found = Sameness(base, 4).quickly(other)
    assert not found.proof
    assert found.witness is not None
    x = batch_of([found.witness])
    assert replay(base, x) != replay(other, x)


def test_an_input_of_one_block_stands_where_its_products_do() -> None:
    """Products 0 and 1 of a block are 0 and 2 of the design, or 1 and 3."""
    base = resolve(PERMUTED)
    asked = Sameness(base, 4)._asked(resolve(altered(base, "carry_bits=5")), base)
    assert (asked.k, asked.order) == (2, (0, 2, 1, 3))
    first, second = asked.of_all(Witness((7, 8), (5, 6), 9), 4)
    assert (first.a, first.b, first.c) == ((7, 0, 8, 0), (5, 0, 6, 0), 9)
    assert (second.a, second.b, second.c) == ((0, 7, 0, 8), (0, 5, 0, 6), 9)


def test_an_input_tells_when_a_subnormal_is_looked_for() -> None:
    """Before a result is rounded to fewer bits, or after: a number just below the least normal one says."""
    chain = resolve("tree@steps=(0+(1+c)),a_format=bf16,b_format=bf16,result_subnormals=tiny_zero")
    other = resolve(altered(chain, "result_subnormals=signed_zero"))
    witness = Sameness(chain, 2, seconds=0).quickly(other).witness
    assert witness is not None
    assert replay(chain, batch_of([witness])) != replay(other, batch_of([witness]))


def test_a_unit_of_fewer_products_is_compared_as_it_is_called() -> None:
    base = resolve("arm/bfdot.ebf0")
    same = Sameness(base, 4)
    assert same._asked(resolve(ARM), base).one.k == 4
    assert not same.compared(resolve(ARM.replace("join.conversion=RO", "join.conversion=RZ"))).proof


def test_one_product_tells_at_which_exponent_zeros_count_as_ones() -> None:
    """It lies below the least normal ones, and three zeros beside it outweigh it or do not."""
    base = resolve("vortex/VX_tcu_fedp_tfr.bf16")
    other = resolve(altered(base, "zero_terms=-260"))
    witness = Sameness(base, 4, seconds=0).quickly(other).witness
    assert witness is not None
    assert replay(base, batch_of([witness])) != replay(other, batch_of([witness]))


@pytest.mark.long
def test_two_calls_of_a_unit_are_a_tree() -> None:
    assert Sameness(resolve("arm/bfdot.ebf0"), 4).compared(resolve(ARM)).proof


def test_a_call_that_is_filled_with_zeros_is_not_one_of_fewer_products() -> None:
    """Zeros of calls of 16 products make -0 a +0."""
    unit = resolve("rdna4/v_wmma_f32_16x16x16_bf16@zero_sign=sum")
    four = replace(unit, k=4, design=replace(unit.design, products=4))
    assert not same_definition(four, unit, 4)
    found = Sameness(four, 4).quickly(unit)
    assert not found.proof
    assert found.witness is not None


@pytest.mark.usefixtures("without_theorems")
def test_nothing_is_proved_when_the_time_is_over() -> None:
    base = resolve(PERMUTED)
    other = resolve(altered(base, "carry_bits=5"))
    assert not Sameness(base, 4, seconds=0).compared(other).proof
    # An input that tells designs apart needs no proof.
    assert Sameness(base, 4, seconds=0).compared(resolve(altered(base, "fraction_bits=23"))).witness


def test_a_unit_is_compared_for_fewer_products_than_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of sixteen products in pairs, two: the order of two products, and a sum without terms one by one."""
    base = resolve("rdna3/v_wmma_f32_16x16x16_f16")
    assert Sameness(base, 2).compared(resolve(altered(base, "order=odd_first"))).proof
    assert not Sameness(base, 2).compared(resolve(altered(base, "conversion=RZ-FP32"))).proof
    monkeypatch.setattr(Sameness, "by_theorem", lambda *_: Likeness())
    framed = resolve("rdna4/v_wmma_f32_16x16x16_bf16")
    assert not Sameness(framed, 4, seconds=0).compared(resolve(altered(framed, "zero_exponent=own"))).proof
    # Zeros beside the products in one block are no part of a design of fewer products.
    wide = resolve("hopper/mma.m16n8k16.f32.f16.f16.f32")
    assert Sameness(wide, 4)._asked(resolve(altered(wide, "zero_sign=sum")), wide).one.k == wide.k


@pytest.mark.usefixtures("without_theorems")
def test_zeros_that_fill_a_call_up_are_known_to_be_zeros() -> None:
    """A +0 beside four products: no sum is -0.  Of eight products of its own a sum is."""
    unit = resolve("tfdpa@products=8,fraction_bits=2,a_format=e2m1,b_format=e2m1,c_format=e5m2,d_format=e5m2")
    signed = resolve(altered(unit, "zero_sign=ieee"))
    assert not same_definition(unit, signed, 4)
    assert Sameness(unit, 4).by_solvers(signed).proof
    assert Sameness(unit, 8).quickly(signed).witness is not None
    # Units that fill calls up otherwise are compared with the zeros that each has: a block, or none.
    short = replace(signed, k=4, design=replace(signed.design, products=4))
    found = Sameness(short, 4).by_solvers(replace(short, k=8))
    assert not found.proof
    assert found.witness is not None


def test_what_is_proved_of_one_order_is_known_of_equal_sums() -> None:
    """A zero that starts a sum changes nothing; neither does a parameter that was proved without it."""
    base = resolve(TWO_LEVELS)
    zero = resolve(TWO_LEVELS.replace("0..3)", "0..3+z)").replace("4..7)", "4..7+z)"))
    other, with_zero = (resolve(altered(u, "overflow=largest")) for u in (base, zero))
    same = Sameness(base, 8, seconds=0)
    assert not same.by_theorem(with_zero).proof
    assert not same.by_solvers(with_zero).proof
    same.proved.append(other)
    found = same.by_solvers(with_zero)
    assert found.proof.endswith(f"{BY_WAY_OF}{other.name}")
    assert not same.by_solvers(resolve(altered(zero, "join.conversion=RNE-FP32"))).proof
