"""Inputs on which a device is wrong: those in which some bits of operands have some values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tcformal.design.unit import UnitSpec
from tcformal.identification.asker import Asker
from tcformal.identification.masks import numbers_of
from tcformal.identification.repeat import dense_inputs
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, batch_of
from tcformal.simulation.operands.witness import Witness

#: Random inputs on which a set is tried, their seed, and the parts of those in it and of others that may be
#: otherwise.
_TRIED, _SEED, _RIGHT_INSIDE, _WRONG_OUTSIDE = 96, 31, 0.05, 0.05


@dataclass(frozen=True, slots=True)
class WrongSet:
    """A set of inputs on which a device does not give what a design does; elsewhere it does.

    Shapes: by operand and place, which bits matter, and the values that these have; c is at place 0.
    """

    bits: dict[tuple[str, int], tuple[int, int]]
    #: The bits of results that are flipped, where these are the same in every wrong one; 0 elsewhere.
    flipped: int
    #: Whether fraction bits of one operand decide it, beside signs: no parameter of a design does that.
    outside: bool

    @property
    def text(self) -> str:
        """The set in words."""
        where = " and ".join(
            f"{name}{'' if name == 'c' else f'[{i}]'} & {mask:#x} = {value:#x}"
            for (name, i), (mask, value) in self.bits.items()
        )
        what = f", with {self.flipped:#x} flipped" if self.flipped else ""
        return f"wrong where {where}{what}"


def wrong_set(asker: Asker, design: UnitSpec, w: Witness) -> WrongSet | None:
    """The set of inputs on which a device is wrong, from one of them: the bits without which it is right.

    Confirmed on random inputs, of which some are put into the set; None where these say otherwise.
    Errors: as `Asker.ask`.
    """
    spec = asker.spec
    formats = {"a": spec.a_format, "b": spec.b_format, "c": spec.c_format}
    places = [(name, i) for name in "ab" for i, x in enumerate(getattr(w, name)) if w.a[i] | w.b[i]]
    flips = [(place, 1 << bit) for place in [*places, ("c", 0)] for bit in range(formats[place[0]].width)]
    changed = batch_of([_with(w, *place, _word(w, *place) ^ bit) for place, bit in flips])
    designed = replay(design, changed)
    right = np.asarray(asker.ask(changed) == designed)
    # Zeros and infinities are right for another reason.
    right &= [bool(x) for x in numbers_of(spec.d_format, designed.tolist())]
    masks: dict[tuple[str, int], int] = {}
    for (place, bit), cured in zip(flips, right.tolist(), strict=True):
        if cured:
            masks[place] = masks.get(place, 0) | bit
    if not masks:
        return None
    bits = {place: (mask, _word(w, *place) & mask) for place, mask in masks.items()}
    others = dense_inputs(spec, asker.k, _TRIED, _SEED)
    inside = _put(others, bits)
    seen, wrong_inside = _wrong(asker, design, inside)
    _, wrong_outside = _wrong(asker, design, others)
    wrong_outside &= ~np.all([_has(others, place, *x) for place, x in bits.items()], axis=0)
    if (~wrong_inside).mean() > _RIGHT_INSIDE or wrong_outside.mean() > _WRONG_OUTSIDE:
        return None
    differ = {*np.bitwise_xor(seen, replay(design, inside))[wrong_inside].tolist()}
    fractions = [
        (formats[name].fraction_bits, mask & ~formats[name].sign_bit) for (name, _), (mask, _) in bits.items()
    ]
    told = [(n, mask) for n, mask in fractions if mask]
    outside = len(told) == 1 and told[0][1].bit_count() > 1 and not told[0][1] >> told[0][0]
    return WrongSet(bits, differ.pop() if len(differ) == 1 else 0, outside)


def _word(w: Witness, name: str, i: int) -> int:
    """One operand's word."""
    row: Sequence[int] = (w.c,) if name == "c" else getattr(w, name)
    return row[i]


def _with(w: Witness, name: str, i: int, word: int) -> Witness:
    """A witness with another word."""
    if name == "c":
        return replace(w, c=word)
    row = [*getattr(w, name)]
    row[i] = word
    return replace(w, a=tuple(row)) if name == "a" else replace(w, b=tuple(row))


def _columns(x: Batch, name: str) -> Raw:
    """The words of an operand, with an axis of places."""
    words: Raw = x.named()[name]
    return words.reshape(len(x.c), -1)


def _put(x: Batch, bits: dict[tuple[str, int], tuple[int, int]]) -> Batch:
    """Inputs with some bits of operands as given."""
    made = {name: _columns(x, name).copy() for name in "abc"}
    for (name, i), (mask, value) in bits.items():
        made[name][:, i] = made[name][:, i] & ~np.uint64(mask) | np.uint64(value)
    return replace(x, a=made["a"], b=made["b"], c=made["c"][:, 0])


def _has(x: Batch, place: tuple[str, int], mask: int, value: int) -> NDArray[np.bool_]:
    """Where some bits of an operand are as given."""
    name, i = place
    return np.asarray(_columns(x, name)[:, i] & np.uint64(mask) == np.uint64(value))


def _wrong(asker: Asker, design: UnitSpec, x: Batch) -> tuple[Raw, NDArray[np.bool_]]:
    """The answers, and where they are not the design's."""
    answers = asker.ask(x)
    return answers, np.asarray(answers != replay(design, x))
