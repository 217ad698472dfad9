"""Rounding or bug: two outputs of one matrix product, and what makes them; apart from the command on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.bounds.proved import theorem_constant
from tcformal.analysis.samples import values_of
from tcformal.callbacks import Progress, ignore
from tcformal.checks import unknown_sentence
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import format_named
from tcformal.errors import InputError, SolverDisagreementError, UnknownNameError
from tcformal.identification.bugs import (
    Bug,
    missing_shares,
    operand_bugs,
    place_bug,
    ranges_of_k,
    result_bugs,
    runs,
    same_words,
    subnormal_products,
    value_bug,
)
from tcformal.identification.causes import Hints, by_accident
from tcformal.identification.cuts import cut_makers
from tcformal.identification.outputs import ProductCase, outputs
from tcformal.identification.product_elements import Doubles, Elements, Makers, makers, planned, results
from tcformal.identification.product_hints import product_hints
from tcformal.identification.product_recipes import Parting, ProductProducer, parting
from tcformal.oracle.interpreter import program_result
from tcformal.programs.recipe import recipes
from tcformal.programs.recipe_steps import parts_of
from tcformal.shown import Shown, short
from tcformal.simulation.model_gemm import ModelGemm
from tcformal.simulation.operands.batch import Raw

Places = NDArray[np.intp]
Marks = NDArray[np.bool_]

#: Elements on which recipes are tried: that differ, that do not, and how many of each come first.
_DIFFERING, _ALIKE, _FIRST = 8, 4, 2
#: Multiply-adds up to which a recipe is verified on every element; else on so many random ones and a tile.
_WHOLE, _SOME, _TILE = 1 << 27, 1000, 32
#: Bugs that are replayed, elements on which each is, and bugs by which every recipe is tried.
_BUGS, _REPLAYED, _EVERYWHERE = 256, 6, 4
#: The share of elements, and the number of tried ones, that a recipe gives where the others are a bug, and
#: how many recipes are looked at.
_MOSTLY, _FEW, _BASES = 0.5, 3, 12
_SEED = 3
#: Recipes of each output of which the nearest pair is sought.
_PAIRED = 64
#: Roundings after the sums at most: of alpha, of beta, of C and of the bias.
_EPILOGUE = 4
#: Elements at most that are called wrong, though another recipe gives them.
_LONE = 2
#: Elements besides on which other cuts of sums are tried, and elements of an output of which they are.
_CUT, _MANY = 12, 32
_SIDES = ("expected", "got")


class Difference(Enum):
    """What two outputs of one product are to each other: the first words of the answer."""

    SAME = "SAME"
    ROUNDING = "ROUNDING"
    FORMAT = "OTHER FORMAT"
    ORDER = "OTHER ORDER"
    BUG = "BUG"
    VARYING = "NON-DETERMINISTIC"
    UNEXPLAINED = "UNEXPLAINED"


@dataclass(frozen=True, slots=True)
class FoundBug:
    """A bug of one output.

    `side`: `expected` or `got`; `exact`: whether a recipe with this bug gives the output bit for bit;
    `model`: that recipe, or the one that gives the other elements; `wrong`: how many elements it explains.
    """

    what: str
    side: str
    exact: bool
    model: ProductProducer | None
    wrong: int
    #: The recipe that gives those elements, where they are no bug but summed otherwise.
    other: ProductProducer | None = None


@dataclass(frozen=True, slots=True)
class Compared(Shown):
    """Two outputs of one product, and what explains that they differ.

    Ranges and units: `first`, `worst`: the first differing element, and the one that differs most; `share`:
    the largest difference against the largest that rounding can make on these operands, by proved constants
    of units, None where no theorem is about them; `checked`: elements on which recipes were verified.
    """

    case: ProductCase
    kind: Difference
    expected: tuple[ProductProducer, ...]
    got: tuple[ProductProducer, ...]
    bug: FoundBug | None
    differing: int
    first: tuple[int, int] | None
    worst: tuple[int, int] | None
    share: float | None
    tried: int
    checked: int
    #: Where the nearest two recipes part on the first differing element; None where they do not.
    parting: Parting | None = None
    #: What would explain outputs that nothing makes; None where both are explained, or neither is.
    hints: Hints[ProductProducer] | None = None
    #: The chance that some recipe gives one or two differing elements by accident; None of more, and of bugs.
    chance: float | None = None

    def _summary(self) -> str:
        named = [f", {side} by {short(makes[0].model.recipe.name)} on {short(makes[0].model.unit.name, 36)}"
                 for side, makes in (("expected", self.expected), ("got", self.got)) if makes]  # fmt: skip
        elements = f"{self.differing} of {self.case.expected.size} elements differ"
        return f"{self.kind.value}: {elements}{''.join(named)}"


def compare(
    expected: Any, got: Any = None, *, a: Any, b: Any, c: Any = None, bias: Any = None, scale_a: Any = None,
    scale_b: Any = None, alpha: float | None = None, beta: float | None = None, arch: str | None = None,
    library: str = "",
) -> Compared:  # fmt: skip
    """Say why two outputs of alpha·A·B + beta·C + bias differ, or what made one: rounding or a bug?

    Shapes: a [M, K], b [K, N], or [N, K] where only that fits; expected, got [M, N]; c, bias broadcast.
    Ranges and units: arrays of NumPy, ml_dtypes, JAX or PyTorch; `arch`: only units of an architecture;
    `library`: only recipes whose names begin so.
    Zero, NaN, Inf: words are compared; any two NaN are alike.
    Errors: InputError for arrays that do not fit, or that no unit of the catalogue takes.

    >>> import numpy as np
    >>> import tcformal
    >>> x = np.ones((2, 16), np.float16)
    >>> tcformal.compare(x @ x.T, a=x, b=x.T, arch="hopper").kind.value
    'SAME'
    """
    case = outputs(
        expected, got, a=a, b=b, c=c, bias=bias, scale_a=scale_a, scale_b=scale_b,
        alpha=alpha, beta=beta,
    )  # fmt: skip
    return compare_outputs(case, arch=arch, library=library)


def compare_outputs(
    case: ProductCase, again: Sequence[Raw] = (), *, arch: str | None = None, library: str = "",
    unit: UnitSpec | None = None, progress: Progress = ignore,
) -> Compared:  # fmt: skip
    """Explain why two outputs of one product differ.

    Shapes: as `ProductCase`; `again`: further runs of what made `case.got`.
    Ranges and units: `arch`: an architecture, `library`: how names of recipes begin; `unit`: the only one.
    Errors: InputError for operands that no unit of the catalogue takes.
    """
    for x in again:
        if (x.shape, x.dtype) != (case.got.shape, case.got.dtype):
            raise InputError(
                f"expected another run of shape {list(case.got.shape)} and {8 * case.got.itemsize} bits, "
                f"but got {list(x.shape)} and {8 * x.itemsize} bits"
            )
    families = list(dict.fromkeys(name.partition("-")[0] for name in recipes()))
    if not any(name.startswith(library) for name in recipes()):
        raise UnknownNameError(unknown_sentence("library", library, families))
    search = _Search(case, makers(case, arch, library, unit), progress)
    if not all(same_words(x, case.got, case.d_format).all() for x in again):
        return search.found(Difference.VARYING)
    makes = {"expected": search.makers_of("expected"), "got": search.makers_of("got")}
    if not search.apart.any():
        return search.found(Difference.SAME, makes)
    if makes["expected"] and makes["got"]:
        one, two = _nearest(*makes.values())
        # The pair that the answer is about is named first.
        makes = {
            side: (p, *(q for q in makes[side] if q is not p))
            for side, p in zip(_SIDES, (one, two), strict=True)
        }
        answer = search.found(_kind(one, two), makes)
        if answer.first is None:
            return answer
        return replace(answer, parting=parting(case, one.model, two.model, answer.first))
    sides = [side for side, found in makes.items() if not found]
    # The output that was expected is right unless it is the only one that nothing makes.
    for side in reversed(sides):
        other = "expected" if side == "got" else "got"
        bug = search.local_bug(side, makes[other]) or search.bug_of(side, makes[other])
        if bug is not None and not (makes[side] or (bug.side == "expected" and not makes["got"])):
            kind = Difference.BUG
            if bug.other is not None and bug.model is not None:
                kind = _kind(bug.model, bug.other)
            return search.found(kind, makes, bug)
    share = search.share()
    if share is not None and share > 1:
        beyond = "a difference beyond what rounding can make by any recipe that was tried"
        bug = FoundBug(beyond, "got", False, None, int(search.apart.sum()))
        return search.found(Difference.BUG, makes, bug)
    hints = product_hints(case, search.places, makes, search.whole)
    return replace(search.found(Difference.UNEXPLAINED, makes), hints=hints)


class _Search:
    """The recipes on units for one product, and bugs of its outputs."""

    def __init__(self, case: ProductCase, every: Makers, progress: Progress) -> None:
        self.case, self.progress = case, progress
        self.apart: Marks = ~same_words(case.expected, case.got, case.d_format)
        self.rng = np.random.default_rng(_SEED)
        self.every = every
        if not any(found for _, found in self.every):
            raise InputError(
                "expected operands that a catalogued unit takes, but got "
                f"{case.a.dtype} and {case.b.dtype} with K={case.k}"
            )
        self.places = np.concatenate([self._some(self.apart, _DIFFERING), self._some(~self.apart, _ALIKE)])
        self.tried = sum(len(found) for _, found in self.every)
        self.known: list[tuple[ProductProducer, Raw]] | None = None
        #: What every recipe makes of a few elements.
        self.first: list[Raw] = []
        self.wholes: dict[ProductProducer, tuple[Places, Raw]] = {}
        self.checked = 0

    def _some(self, marks: Marks, count: int) -> Places:
        """Some of the places that are marked, spread at random."""
        flat = np.flatnonzero(marks)
        if len(flat) > count:
            flat = flat[np.unique(self.rng.integers(0, len(flat), count))]
        return np.stack(np.divmod(flat, marks.shape[1]), 1)

    def of(self, side: str) -> Raw:
        """The words of one output."""
        return self.case.expected if side == "expected" else self.case.got

    def _made(
        self, places: Places, every: Makers, sides: Sequence[str], least: int, bug: Bug | None = None
    ) -> list[tuple[ProductProducer, Raw]]:
        """What recipes make of some elements with a bug, if they give so many at least of one output."""
        x, made = Elements.of(self.case, places), list[tuple[ProductProducer, Raw]]()
        given = x if bug is None else bug.operands(x)
        wanted = [self.of(side)[tuple(places.T)] for side in sides]
        for unit, found in every:
            self.progress(f"trying recipes on {unit.name}")
            for p, d in zip(found, results([p.model for p in found], given), strict=True):
                if d is None:
                    continue
                words = d.astype(self.case.expected.dtype)
                if bug is not None and bug.after is not None:
                    words = bug.after(words, self.case.d_format, x)
                if max(int(same_words(w, words, self.case.d_format).sum()) for w in wanted) >= least:
                    made.append((p, words))
        return made

    def samples(self) -> list[tuple[ProductProducer, Raw]]:
        """What recipes make of the elements that are tried, if they give one of a few of them."""
        if self.known is None:
            units: dict[UnitSpec, list[ProductProducer]] = {}
            few = self.few()
            wanted = [self.of(side)[tuple(few.T)] for side in _SIDES]
            for p, d in self._made(few, self.every, _SIDES, 0):
                self.first.append(d)
                if any(same_words(w, d, self.case.d_format).any() for w in wanted):
                    units.setdefault(p.model.unit, []).append(p)
            self.known = self._made(self.places, list(units.items()), _SIDES, 0)
        return self.known

    def few(self) -> Places:
        """Elements that are tried first of all: some that differ, and some that do not."""
        apart = self.apart[tuple(self.places.T)]
        return np.concatenate([self.places[apart][:_FIRST], self.places[~apart][:_FIRST]])

    def makers_of(self, side: str) -> tuple[ProductProducer, ...]:
        """The recipes that give an output on every element that is verified, the nearest first."""
        want = self.of(side)[tuple(self.places.T)]
        made = [p for p, d in self.samples() if same_words(want, d, self.case.d_format).all()]
        found = self._verified(side, made)
        if (
            not found and self.case.expected.size >= _MANY
        ):  # of many cuts some give a few elements by accident
            found = self._verified(side, self._cut(side))
        return tuple(sorted(found, key=lambda p: p.rank))

    def _verified(self, side: str, made: Sequence[ProductProducer]) -> list[ProductProducer]:
        found = []
        for p in made:
            places, d = self.whole(p)
            if same_words(self.of(side)[tuple(places.T)], d, self.case.d_format).all():
                found.append(p)
        return found

    def _cut(self, side: str) -> list[ProductProducer]:
        """Sums that are cut, on the units that give some elements, or on all; by a few of the elements."""
        places = np.concatenate([self.places, self._some(np.ones(self.case.shape, np.bool_), _CUT)])
        giving = {p.model.unit for p, _ in self.samples()}
        every = [(u, found) for u, found in self.every if found]
        units = [(u, found) for u, found in every if u in giving] or every
        return cut_makers(self.case, self.of(side)[tuple(places.T)], places, units, self.progress)

    def whole(self, p: ProductProducer) -> tuple[Places, Raw]:
        """The places on which a recipe is verified, and its results there."""
        if p not in self.wholes:
            every = np.ones(self.case.expected.shape, np.bool_)
            if every.size * self.case.k <= _WHOLE:
                places = np.argwhere(every)
                d = self.case.product(p.model).reshape(-1)
            else:
                places = np.concatenate([self._some(every, _SOME), self._some(self.apart, _SOME // 4)])
                d = self.at(p, places)
            self.checked = len(places)
            self.wholes[p] = places, d
        return self.wholes[p]

    def at(self, p: ProductProducer, places: Places, bug: Bug | None = None) -> Raw:
        """A recipe's results at some places, with a bug."""
        x = Elements.of(self.case, places)
        (d,) = results([p.model], x if bug is None else bug.operands(x))
        if d is None:
            return np.zeros(0, self.case.expected.dtype)
        d = d.astype(self.case.expected.dtype)
        return d if bug is None or bug.after is None else bug.after(d, self.case.d_format, x)

    # ------------------------------------------------------------------ bugs of some elements
    def local_bug(self, side: str, rightly: Sequence[ProductProducer]) -> FoundBug | None:
        """A bug of some elements of an output, of which a recipe gives the others.

        `rightly`: the recipes that give the other output.
        """
        want, d_format = self.of(side)[tuple(self.places.T)], self.case.d_format
        unlike = {d.tobytes(): (d, p) for p, d in reversed(self.samples())}  # the nearest of those that agree
        counts = [(int(same_words(want, d, d_format).sum()), p) for d, p in unlike.values()]
        likely = sorted((x for x in counts if x[0] >= _FEW), key=lambda x: -x[0])[:_BASES]
        found: tuple[float, ProductProducer, Places] | None = None
        for _, p in likely:
            places, d = self.whole(p)
            right = same_words(self.of(side)[tuple(places.T)], d, d_format)
            share = float(right.mean())
            if _MOSTLY <= share < 1 and (found is None or share > found[0]):
                found = share, p, places[~right]
        return None if found is None else self._local(side, *found[1:], rightly)

    def _right(self, side: str, p: ProductProducer, rightly: Sequence[ProductProducer]) -> Raw | None:
        """Right results of a whole output: those computed, or the other output where the recipe makes it."""
        places, d = self.whole(p)
        if len(places) == self.case.expected.size:
            return d.reshape(self.case.expected.shape)
        return self.of("expected" if side == "got" else "got") if p in rightly else None

    def _local(
        self, side: str, p: ProductProducer, wrong: Places, rightly: Sequence[ProductProducer]
    ) -> FoundBug | None:
        """What is wrong with some elements of an output, given the recipe of the others."""
        shape, got = self.case.expected.shape, self.of(side)
        marks = np.zeros(shape, np.bool_)
        marks[tuple(wrong.T)] = True
        right = self._right(side, p, rightly)
        if right is not None:
            marks = ~same_words(got, right, self.case.d_format)
            wrong = np.argwhere(marks)
        count, some = len(wrong), wrong[:: max(1, len(wrong) // _REPLAYED)][:_REPLAYED]
        what = ""
        if right is not None:
            what = place_bug(got, right, marks)
            what = what or value_bug(got, right, marks, self.case.c, self.case.d_format)
        if what and not what.startswith(("bit", "one element")):
            return FoundBug(what, side, True, p, count)
        # Kernels share out tiles, rows and columns: single elements are made otherwise by accident alone.
        lone = what and count <= _LONE < min(shape)
        other = None if lone else self._maker_of(side, some, wrong)
        if other is not None:
            return FoundBug(f"elements {_where(marks)} are made otherwise", side, True, p, count, other)
        bug = self._replayed(side, p, some, wrong)
        if bug is not None:
            return FoundBug(f"{bug.what}, {_where(marks)}", side, True, p, count)
        if what:
            return FoundBug(f"{what} ({_where(marks)})", side, True, p, count)
        # Elements that are as near as rounding makes them may be summed in an order that nothing here has.
        share = self._share(some, [p.model, p.model])
        if share is not None and share > 1:
            return FoundBug(f"{count} elements are wrong, {_where(marks)}", side, True, p, count)
        return None

    def _maker_of(self, side: str, some: Places, every: Places) -> ProductProducer | None:
        """A recipe that gives some elements of an output, and every one of more of them."""
        more = every[:: max(1, len(every) // _SOME)]
        for p, _ in self._made(some, self.every, (side,), len(some)):
            if same_words(self.of(side)[tuple(more.T)], self.at(p, more), self.case.d_format).all():
                return p
        return None

    def _replayed(self, side: str, p: ProductProducer, some: Places, every: Places) -> Bug | None:
        """The first bug with which a recipe gives elements of an output: some first, then every one."""
        x, got = Elements.of(self.case, some), self.of(side)
        want = got[tuple(some.T)]
        for bug in self._likely(x, want):
            d = self.at(p, some, bug)
            if d.size and same_words(want, d, self.case.d_format).all():
                more = every[:: max(1, len(every) // _SOME)]
                d = self.at(p, more, bug)
                if same_words(got[tuple(more.T)], d, self.case.d_format).all():
                    return bug
        return None

    def _likely(self, x: Elements, want: Raw) -> list[Bug]:
        """Bugs that change sums about as much as results differ from right ones; those of results last."""
        total, size = x.sums()
        values = values_of(want, self.case.d_format)
        near = self._near(total, size)
        fits = [
            (off, bug) for bug in self._of_operands(x) if (off := _off(bug.operands(x), values, near)) <= 1
        ]
        fits.sort(key=lambda pair: pair[0])
        plain = np.isfinite(values).all() and np.isfinite(total).all()
        of_k = ranges_of_k(x, values - total, near, _BUGS) if plain else []
        return [*(bug for _, bug in fits), *of_k, *result_bugs(x)]

    def _of_operands(self, x: Elements) -> list[Bug]:
        return [*operand_bugs(x), *self._turned(), *missing_shares(x.k)]

    def _turned(self) -> list[Bug]:
        """Operands that were taken the other way round; of square matrices."""
        case, made = self.case, list[Bug]()
        for name, x in (("a", case.a), ("b", case.b)):
            if x.shape[0] == x.shape[1]:
                other = np.ascontiguousarray(x.T)
                turned = replace(case, a=other) if name == "a" else replace(case, b=other)
                made.append(Bug(f"{name.upper()} is transposed", partial(_taken_from, turned)))
        return made

    def _near(self, total: Doubles, size: Doubles) -> Doubles:
        """How far results can be from right sums, roughly: rounding of the sum and of the output."""
        d = self.case.d_format
        first = next(p for _, found in self.every for p in found)
        own = loss(first.model, self.case.k, self.case.c is not None)
        wide = 2.0**-d.precision if own is None else own[0]
        with np.errstate(invalid="ignore"):
            return 4 * (wide * size + np.abs(total) * 2.0**-d.precision) + 2.0 ** (d.e_min - d.fraction_bits)

    # ------------------------------------------------------------------ bugs of all elements
    def bug_of(self, side: str, right: Sequence[ProductProducer]) -> FoundBug | None:
        """A bug of a whole output: on the recipes that give the other one, then on every recipe."""
        count = int(self.apart.sum())
        every, some = self._some(self.apart, _SOME), self._some(self.apart, _REPLAYED)
        for p in right[:2]:
            bug = self._replayed(side, p, some, every)
            if bug is not None:
                return FoundBug(bug.what, side, True, p, count)
        x, want = Elements.of(self.case, self.places), self.of(side)[tuple(self.places.T)]
        values, (total, size) = values_of(want, self.case.d_format), x.sums()
        near = self._near(total, size)
        off = _off(x, values, near)
        likely = self._likely(x, want)
        for bug in likely[:_EVERYWHERE]:
            self.progress(f"trying every recipe as if {bug.what}")
            few = self.few()
            for p, _ in self._made(few, self.every, (side,), len(few), bug):
                if same_words(want, self.at(p, self.places, bug), self.case.d_format).all():
                    return FoundBug(bug.what, side, True, p, count)
        if off > 4 and likely and likely[0].after is None:
            return FoundBug(likely[0].what, side, False, None, count)
        return None

    # ------------------------------------------------------------------ what is said
    def share(self, makes: Sequence[ProductProducer] = ()) -> float | None:
        """The largest difference against the largest that rounding can make there; of some that differ.

        By the recipes that make the outputs, or by any that was tried.
        """
        worst = self.worst()
        if worst is None:
            return None
        places = np.concatenate([self._some(self.apart, _SOME), [worst]])
        return self._share(places, [p.model for p in makes])

    def _share(self, places: Places, models: Sequence[ModelGemm]) -> float | None:
        """The same of some elements; None where no theorem is about a unit.

        Of products of subnormal operands, of which theorems say nothing, everything may be lost.
        """
        x, d, with_c = Elements.of(self.case, places), self.case.d_format, self.case.c is not None
        tried = models or [p.model for _, found in self.every for p in found]
        losses = [loss(m, self.case.k, with_c) for m in tried]
        known = [y for y in losses if y is not None]
        if not known or (models and None in losses):
            return None
        relative, least = (max(y) for y in zip(*known, strict=True))
        e, g = (values_of(self.of(side)[tuple(places.T)], d) for side in _SIDES)
        total, size = x.sums()
        with np.errstate(invalid="ignore", over="ignore"):
            rounding = (np.abs(e) + np.abs(g)) * 2.0**-d.precision
            most = 2 * (relative * size + least + rounding + subnormal_products(x))
            share = np.abs(g - e) / most
        share = share[np.isfinite(share) & np.isfinite(total)]
        return float(share.max()) if share.size else None

    def worst(self) -> tuple[int, int] | None:
        """The element that differs most."""
        flat = np.flatnonzero(self.apart)
        if not len(flat):
            return None
        e, g = (
            values_of(self.of(side).reshape(-1)[flat], self.case.d_format) for side in ("expected", "got")
        )
        with np.errstate(invalid="ignore"):
            far = np.nan_to_num(np.abs(g - e), nan=np.inf, posinf=np.inf)
        i, j = divmod(int(flat[int(far.argmax())]), self.apart.shape[1])
        return i, j

    def confirm(self, p: ProductProducer) -> None:
        """Compute one element in exact fractions; SolverDisagreementError where the circuit's is another."""
        place = self.places[:1]
        plan, words = planned(p.model, Elements.of(self.case, place))
        given = {name: [int(y) for y in x.reshape(-1)] for name, x in words.items()}
        exact = program_result(plan, given.pop("a"), given.pop("b"), given.pop("c", [0])[0], **given)
        made = self.at(p, place)
        if not same_words(made, np.array([exact], made.dtype), self.case.d_format).all():
            raise SolverDisagreementError(
                f"expected one result of {p.model.recipe.name} on {p.model.unit.name} at row {place[0][0]}, "
                f"column {place[0][1]}, but got {exact:#x} of the oracle and {int(made[0]):#x} of the circuit"
            )

    def found(
        self,
        kind: Difference,
        makes: dict[str, tuple[ProductProducer, ...]] | None = None,
        bug: FoundBug | None = None,
    ) -> Compared:
        """The answer, with what is known besides."""
        makes = makes or {"expected": (), "got": ()}
        named = [made[0] for made in makes.values() if made]
        named += [p for p in ((bug.model, bug.other) if bug is not None else ()) if p is not None]
        for p in dict.fromkeys(named):
            self.confirm(p)
        differing = int(self.apart.sum())
        first = divmod(int(self.apart.argmax()), self.apart.shape[1]) if differing else None
        both = [*makes["expected"][:1], *makes["got"][:1]] if makes["expected"] and makes["got"] else []
        chance = None
        if 0 < differing <= _FIRST and (both or (bug is not None and bug.other is not None)):
            at = tuple(self.few()[:differing].T)
            right, wrong = ("got", "expected") if bug and bug.side == "expected" else _SIDES
            words = (d[:differing] for d in self.first)
            chance = by_accident(self.case.d_format, self.of(right)[at], self.of(wrong)[at], words)
        return Compared(
            self.case, kind, makes["expected"], makes["got"], bug, differing, first, self.worst(),
            self.share(both), self.tried, self.checked, chance=chance,
        )  # fmt: skip


def _taken_from(case: ProductCase, x: Elements) -> Elements:
    """The elements of another product at the same places."""
    return Elements.of(case, x.places)


def _off(x: Elements, values: Doubles, near: Doubles) -> float:
    """The largest distance of results from exact sums, in what is near; Inf where one is not finite."""
    total, _ = x.sums()
    with np.errstate(invalid="ignore"):
        far = np.abs(values - total) / near
    return float(far.max()) if np.isfinite(far).all() else float("inf")


def loss(model: ModelGemm, k: int, with_c: bool) -> tuple[float, float] | None:
    """What a recipe on a unit loses at most of K products: a part of the sum of all magnitudes, and a number.

    The unit's theorem is about every accumulator, which begins at zero, or at C where the recipe says so.
    The rounding of every sum of accumulators, of alpha, beta, C and the bias comes on top.  Of subnormal
    results, of which theorems say nothing, everything may be lost.  None where no theorem is about the unit.
    """
    unit, recipe = model.unit, model.recipe
    accumulators = [x for part in parts_of(unit, recipe, k) for x in part]
    calls = max(sum(-(-(stop - start) // unit.k) for start, stop in x) for x in accumulators)
    sums = -(-k // recipe.tile) if recipe.stream else len(accumulators)
    own = _constant(unit, calls * unit.k, with_c and recipe.c_place == "accumulator")
    if own is None:
        return None
    partials = {"accumulator": unit.d_format, "output": model.d_format}
    formats = [unit.d_format, partials.get(recipe.partials) or format_named(recipe.partials)]
    formats += [model.d_format] if recipe.merge == "serial" else []
    each = max(2.0**-fmt.precision for fmt in formats)
    least = max(2.0**fmt.e_min for fmt in (*formats, model.d_format))
    rounded = sums + _EPILOGUE
    return (1 + own) * (1 + each) ** rounded - 1, least * (calls * sums + rounded)


@cache
def _constant(unit: UnitSpec, products: int, with_c: bool) -> float | None:
    """The proved constant of a unit, from zero or beside any c; None where no theorem is about that."""
    proved = theorem_constant(unit)
    if proved is None or proved.short_of(products):
        return None
    bound = proved.bound_with_c(products) if with_c else proved.constants.of(products)
    return None if bound is None else float(bound)


def _nearest(
    first: Sequence[ProductProducer], second: Sequence[ProductProducer]
) -> tuple[ProductProducer, ProductProducer]:
    """Of the recipes of two outputs the pair with the fewest differences in unit and recipe."""

    def far(
        one: ProductProducer, two: ProductProducer
    ) -> tuple[int, tuple[bool, bool, int], tuple[bool, bool, int]]:
        differences = (one.model.unit != two.model.unit) + (one.model.recipe != two.model.recipe)
        return differences, max(one.rank, two.rank), min(one.rank, two.rank)

    pairs = ((one, two) for one in first[:_PAIRED] for two in second[:_PAIRED])
    return min(pairs, key=lambda pair: far(*pair))


def _kind(first: ProductProducer, second: ProductProducer) -> Difference:
    """What two recipes differ in."""
    one, two = first.model, second.model
    if first.fault or second.fault:
        return Difference.BUG
    if first.reference or second.reference:
        return Difference.ROUNDING
    formats = [(m.unit.a_format, m.unit.d_format, m.recipe.partials, m.recipe.operands) for m in (one, two)]
    if formats[0] != formats[1]:
        return Difference.FORMAT
    return Difference.ROUNDING if one.unit != two.unit else Difference.ORDER


def _where(marks: Marks) -> str:
    """Rows and columns of marked elements, in words."""
    rows, columns = (np.flatnonzero(marks.any(axis)).tolist() for axis in (1, 0))
    shown = []
    for name, lines, length in (("row", rows, marks.shape[0]), ("column", columns, marks.shape[1])):
        parts = [str(i) if i == j else f"{i} to {j}" for i, j in runs(lines)]
        if len(lines) == length:
            shown.append(f"all {name}s")
        else:
            more = f" and {len(parts) - 3} more" if len(parts) > 3 else ""
            shown.append(f"{name}{'s' if len(lines) > 1 else ''} {', '.join(parts[:3])}{more}")
    return "in " + ", ".join(shown)
