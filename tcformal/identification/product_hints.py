"""Hints on products that nothing makes: altered units; apart, because they are asked for last."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from tcformal.design.axes import neighbours
from tcformal.design.unit import UnitSpec, takes
from tcformal.errors import InputError
from tcformal.identification.bugs import same_words
from tcformal.identification.causes import SIDES, Hints, by_accident
from tcformal.identification.outputs import ProductCase
from tcformal.identification.product_elements import Elements, different, results
from tcformal.identification.product_recipes import ProductProducer, with_output
from tcformal.programs.recipe import Recipe, recipe
from tcformal.simulation.model_gemm import gemm
from tcformal.simulation.operands.batch import Raw

#: Units, and recipes on each, that are altered.
_BASES = 3
#: The places on which a recipe is verified, and its results there.
Verified = Callable[[ProductProducer], tuple[NDArray[np.intp], Raw]]


def product_hints(
    case: ProductCase, places: NDArray[np.intp], makes: Mapping[str, tuple[ProductProducer, ...]],
    verified: Verified,
) -> Hints[ProductProducer] | None:  # fmt: skip
    """What would explain outputs that nothing makes: what makes the other one, altered in one parameter.

    Shapes: `places` [n, 2]: the elements on which altered units are tried, and by which the chances are said.
    None where nothing makes either output.
    """
    known = [p for side in SIDES for p in makes[side]]
    wanted = [side for side in SIDES if not makes[side]]
    if not known:
        return None
    at = tuple(places.T)
    given = dict(zip(SIDES, (case.expected[at], case.got[at]), strict=True))
    found: dict[str, list[ProductProducer]] = {side: [] for side in SIDES}
    tried: list[Raw] = []
    elements = Elements.of(case, places)
    recipes = dict.fromkeys([*(p.model.recipe for p in known if not p.fault), recipe("plain")])
    bases = {p.model.unit: p.units for p in reversed(known)}
    for base, names in list(bases.items())[: -_BASES - 1 : -1]:
        for u in neighbours(base):
            if not takes(u, case.k):
                continue
            some = list(different(list(_altered(u, names, list(recipes)[:_BASES], case)), case.k))
            for p, d in zip(some, results([p.model for p in some], elements), strict=True):
                if d is None:
                    continue
                words = d.astype(case.expected.dtype)
                tried.append(words)
                for side in wanted:
                    if same_words(given[side], words, case.d_format).all():
                        where, whole = verified(p)
                        whole_side = (case.expected if side == "expected" else case.got)[tuple(where.T)]
                        if same_words(whole_side, whole, case.d_format).all():
                            found[side].append(p)
    chances = [by_accident(case.d_format, given[x], given[y], tried) for x, y in (SIDES[::-1], SIDES)]
    return Hints(len(tried), tuple(found["expected"]), tuple(found["got"]), (chances[0], chances[1]))


def _altered(
    u: UnitSpec, names: tuple[str, ...], recipes: list[Recipe], case: ProductCase
) -> Iterator[ProductProducer]:
    """Recipes on an altered unit, with the names of the units that it is altered from."""
    for one in recipes:
        with contextlib.suppress(InputError):  # a recipe that this unit cannot follow
            yield ProductProducer(gemm(u, with_output(one, case, u)), False, names)
