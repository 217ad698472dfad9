"""Theorems about units of integers (`coq/IntegerUnits.v`): exact sums, orders and cuts, overflow, forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tcformal.design.integer_sums import integer_sums, narrow, products_range, range_of, wraps
from tcformal.design.rounding import MOST_BUILT, Conversion, conversion
from tcformal.design.spec import Design
from tcformal.design.trees.arrangements import tree_of
from tcformal.design.trees.tree import Step, Tree, stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.theory.instances import Instance

#: What an answer about a sum of integers is printed with.
HEADER = """\
From Coq Require Import ZArith List Permutation Lia.
From TC Require Import IntegerUnits.
Import ListNotations.
Open Scope Z_scope.
"""


def _once(unit: UnitSpec) -> bool:
    """Whether one call adds its products and c in one sum."""
    d = unit.design
    return (d.summation, d.c_position) == ("fused", "joined") and d.products >= unit.k and unit.tree is None


def integer_claim(unit: UnitSpec, claim: str) -> Instance | None:
    """The theorem that answers a claim about a unit of integers; None where none does."""
    if narrow(unit) or unit.tree is not None:
        return None
    x, name = integer_sums(unit), claim.partition(";")[0]
    words = f"({x.low}) ({x.high - x.low + 1})"
    convert = f"({'wrapped' if wraps(unit) else 'saturated'} {words})"
    if name == "product-order" and (wraps(unit) or _once(unit)):
        if _once(unit):
            text = (
                f"Definition instance : forall c l k, Permutation l k ->\n"
                f"  call {convert} c l = call {convert} c k := integer_order {convert}."
            )
            return Instance(
                claim=claim,
                unit=unit,
                theorem="integer_order",
                text=HEADER + text + _CHECKED,
                says="one call adds its products and c exactly and converts once, in any order",
            )
        text = (
            "Definition instance : forall c ls ks,\n"
            "  ls <> [] -> ks <> [] -> Permutation (concat ls) (concat ks) ->\n"
            f"  calls {convert} c ls = calls {convert} c ks :=\n"
            "  fun c ls ks => wrapped_cuts _ _ c ls ks eq_refl."
        )
        return Instance(
            claim=claim,
            unit=unit,
            theorem="wrapped_cuts",
            text=HEADER + text + _CHECKED,
            says=f"sums modulo 2^{unit.d_format.width} are one, however products are ordered and cut",
        )
    if name == "integer-sums":
        exactly = "wrapped_exact" if wraps(unit) else "saturated_exact"
        text = f"""\
Lemma instance ls : (forall x, In x (concat ls) -> {x.least} <= x <= {x.most}) ->
  Z.of_nat (length (concat ls)) <= {x.exact} -> calls {convert} 0 ls = total (concat ls).
Proof.
  intros P L. rewrite (exact_calls _ {words} ({x.least}) {x.most}); [lia|apply {exactly}|lia|exact P|lia|lia].
Qed.
Lemma overflow : ~ ({x.low} <= {x.exact + 1} * ({x.extreme}) < {x.low} + {x.high - x.low + 1}).
Proof. lia. Qed."""
        return Instance(
            claim=claim, unit=unit, theorem="exact_calls", says=x.says, text=HEADER + text + _CHECKED,
        )  # fmt: skip
    return None


_CHECKED = "\nCheck instance.\nPrint Assumptions instance.\n"


# ------------------------------------------------------------------ normal forms
#: The most products of which a normal form has each.
_MOST_LEAVES = 4096


@dataclass(frozen=True, slots=True)
class _Sum:
    """A sum of products, c and sums, and what becomes of it.

    Ranges and units: `raw` are the least and the largest total, `ends` the same of what it becomes.
    """

    #: `sat`, `wrap`; `exact` where nothing becomes of any total.
    how: str
    #: The numbers that it becomes one of, from the least; of one that saturates, None for an end no total is
    #: beyond.
    low: int | None
    high: int | None
    leaves: tuple[int | str, ...]
    sums: tuple[_Sum, ...]
    raw: tuple[int, int]

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the largest number that it becomes."""
        low, high = self.raw
        least, most = (low if self.low is None else self.low), (high if self.high is None else self.high)
        if self.how == "wrap":
            return least, most
        return min(max(low, least), most), min(max(high, least), most)

    @property
    def key(self) -> tuple[object, ...]:
        """What sums that are one function of products and c share."""
        return self.how, self.low, self.high, self.leaves, tuple(sorted((x.key for x in self.sums), key=repr))


@dataclass(frozen=True, slots=True)
class IntegerForm:
    """What a unit of integers computes, as sums that convert their totals, and the theorems that say so."""

    key: tuple[object, ...]
    theorems: tuple[str, ...]


def integer_form(unit: UnitSpec, k: int, *, zero_c: bool) -> IntegerForm | None:
    """What a unit of integers computes of k products; None where only its definition says so.

    Units of one key give one result to every input: a partial sum that no input takes out of its range, or
    that wraps in a sum that wraps, or saturates in one that saturates there whatever stands beside it, is no
    sum of its own.  Products 0·0 that fill calls up are no terms (theorem `zeros_idle`).
    """
    length = -(-k // unit.k) * unit.k
    takes_c = unit.tree is None or _takes_c(unit.tree)
    least, most = products_range(unit)
    low, high = range_of(conversion(f"WRAP-{unit.d_format.name.upper()}"))
    few = low <= k * least and k * most <= high
    if zero_c and few and (takes_c or length == unit.k) and not narrow(unit):
        return IntegerForm(("exact", k), ("exact_calls" if unit.tree is None else "converted_within",))
    if wraps(unit) and unit.design.zero_words == "summed" and takes_c:
        fused = unit.tree is None and unit.design.summation == "fused"
        return IntegerForm(("wrap", k), ("wrapped_calls" if fused else "wrapped_tree",))
    if length > _MOST_LEAVES or unit.k > MOST_BUILT:
        return None
    made = unit if unit.tree is not None else tree_of(unit, unit.k)
    if made is None or made.tree is None:
        return None
    normal = _Normal(unit, made.tree, stage_designs(made.tree, made.design), k, zero_c=zero_c)
    for call in range(length // unit.k):
        normal.call(call * unit.k)
    whole, theorems = normal.whole, tuple(normal.theorems)
    every = len(whole.leaves) == k + (not zero_c)
    if every and (whole.how == "exact" or (whole.how, whole.low, whole.high) == ("wrap", low, high)):
        return IntegerForm((whole.how, k), theorems or ("integer_order",))
    return IntegerForm(whole.key, theorems or ("integer_order",))


def _takes_c(tree: Tree) -> bool:
    """Whether a tree adds c, so that a later call adds what an earlier one has summed."""
    return any("c" in step.children for step in tree.root.steps())


class _Normal:
    """The sums of calls that follow each other, each simplified when it is made."""

    def __init__(
        self, unit: UnitSpec, tree: Tree, designs: Mapping[str, Design], k: int, *, zero_c: bool
    ) -> None:
        self._tree, self._designs, self._k = tree, designs, k
        self._product = products_range(unit)
        c = conversion(f"WRAP-{unit.c_format.name.upper()}")
        #: The numbers of c; None for 0.
        self._c = None if zero_c else range_of(c)
        self._c_of: _Sum | None = None
        #: The theorems that were used, each once.
        self.theorems: dict[str, None] = {}

    @property
    def whole(self) -> _Sum:
        """The sum of all calls so far."""
        assert self._c_of is not None
        return self._c_of

    def call(self, first: int) -> None:
        """One more call, of the products from `first` on."""
        made: dict[int, _Sum] = {}
        for step in self._tree.root.steps():
            of_call = (first + x for x in step.children if isinstance(x, int))
            leaves: list[int | str] = [x for x in of_call if x < self._k]
            sums = [made.pop(id(x)) for x in step.children if isinstance(x, Step)]
            if "c" in step.children:
                if self._c_of is not None:
                    sums.append(self._c_of)
                elif self._c is not None:
                    leaves.append("c")
            made[id(step)] = self._converted(leaves, sums, self._designs[step.stage].rho)
        root = made[id(self._tree.root)]
        # A sum without an effect of its own, of one sum alone, is that one.
        while root.how == "exact" and not root.leaves and len(root.sums) == 1:
            root = root.sums[0]
        self._c_of = root

    def _converted(self, leaves: list[int | str], sums: list[_Sum], target: Conversion) -> _Sum:
        """A sum with a conversion, without inner sums that are none of their own."""
        low, high = range_of(target)
        left, kept = list(sums), list[_Sum]()
        while left:
            x = left.pop()
            theorem = _idle(x, target, self._range(leaves, [*left, *kept]))
            if theorem is None:
                kept.append(x)
                continue
            self.theorems[theorem] = None
            leaves, left = [*leaves, *x.leaves], [*left, *x.sums]
        raw = self._range(leaves, kept)
        ordered = tuple(sorted(leaves, key=lambda x: (isinstance(x, str), x)))
        within = low <= raw[0] and raw[1] <= high
        if within:
            return _Sum("exact", None, None, ordered, tuple(kept), raw)
        if target.wraps:
            return _Sum("wrap", low, high, ordered, tuple(kept), raw)
        ends = (low if raw[0] < low else None), (high if raw[1] > high else None)
        if None in ends:
            self.theorems["saturated_alike"] = None
        return _Sum("sat", *ends, ordered, tuple(kept), raw)

    def _range(self, leaves: Sequence[int | str], sums: Sequence[_Sum]) -> tuple[int, int]:
        """The least and the largest total."""
        c = self._c or (0, 0)
        ends = [c if isinstance(x, str) else self._product for x in leaves] + [x.ends for x in sums]
        return sum(x for x, _ in ends), sum(x for _, x in ends)


def _idle(x: _Sum, target: Conversion, beside: tuple[int, int]) -> str | None:
    """The theorem by which an inner sum is none of its own in a sum with a conversion; else None.

    `beside`: the least and the largest total of all other terms of that sum.
    """
    low, high = range_of(target)
    if x.how == "exact":
        return "converted_within"
    if x.how == "wrap":
        size = x.ends[1] - x.ends[0] + 1
        return "wrapped_inside" if target.wraps and size % (high - low + 1) == 0 else None
    above = x.high is None or high <= x.high + beside[0]
    below = x.low is None or x.low + beside[1] <= low
    return "saturated_beyond" if not target.wraps and above and below else None
