"""Every other value of every axis of what was identified: the refuting input, the proof, or neither."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tcformal.callbacks import Progress, processor_seconds
from tcformal.design.names import resolve
from tcformal.design.trees.arrangements import permuted, tree_of, tree_unit
from tcformal.design.trees.tree import stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.errors import TcformalError
from tcformal.identification.asker import Asker
from tcformal.identification.identification import AxisOutcome, IdentifyVerdict, Settled
from tcformal.identification.rates import Rate
from tcformal.identification.repeat import FEW
from tcformal.identification.survivors import Search, Survivors
from tcformal.semantics.chain import same_definition
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, batch_of, lengthened, rows_of, witness_at
from tcformal.simulation.operands.inputs import boundaries, inputs_to_try, pool_of
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.structures import Designs
from tcformal.theory.equality import equal_by_theorem, in_blocks

# ------------------------------------------------------------------ sameness
#: Inputs of a pool that are tried before a solver is asked, and pools.
_POOL_SIZE, _POOLS = 10_000, 5
#: The part of the time that each solver has for one question about two designs, and the least seconds: all
#: where scales have fractions, of which solvers settle no sum of two products in half a minute.
_WHOLE, _LEAST = 1 / 15, 1.0


#: What stands between a proof and the design that is proved to be the base already.
BY_WAY_OF = ", by way of "


@dataclass(frozen=True, slots=True)
class Likeness:
    """What is known of two designs: a proof that they are the same, a separating input, or neither."""

    proof: str = ""
    witness: Witness | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """Two designs for k products, of which a proof or an input says something about the whole designs.

    `order[i]` is the number that product i has in the whole designs.
    """

    one: UnitSpec
    two: UnitSpec
    k: int
    order: tuple[int, ...]

    def more(self, k: int) -> str:
        """What the proof is of, where it is not of all k products."""
        return f" of {self.k} products; both hand their result on as the next c" if self.k < k else ""

    def of_all(self, found: Witness, k: int) -> list[Witness]:
        """A separating input as inputs of the whole designs."""
        made = lengthened(found, k) if self.k < k else [found]
        place = sorted(range(k), key=self.order.__getitem__)
        return [replace(w, a=tuple(w.a[i] for i in place), b=tuple(w.b[i] for i in place)) for w in made]


def _order(unit: UnitSpec) -> tuple[int, ...]:
    """The products of a tree as its sums take them in, inner sums first."""
    assert unit.tree is not None
    return tuple(x for step in unit.tree.root.steps() for x in step.children if isinstance(x, int))


def _renumbered(unit: UnitSpec, order: Sequence[int]) -> UnitSpec:
    """A tree of which product order[i] is product i."""
    assert unit.tree is not None
    place = sorted(range(len(order)), key=order.__getitem__)
    return tree_unit(unit, replace(unit.tree, root=permuted(unit.tree.root, place)))


def _plain_form(unit: UnitSpec, k: int) -> UnitSpec | None:
    """A design of k products in the unit's blocks; the unit itself where it is a tree of k.

    None for a unit of which k products are no whole blocks.
    """
    if unit.tree is not None:
        return in_blocks(unit, k) if unit.k == k else None
    if k == unit.k:
        return unit
    if unit.emulation is not None or unit.scale_format is not None:
        return None
    length = min(unit.k, unit.design.products)
    return None if k % length else replace(unit, k=k, design=replace(unit.design, products=length))


def _changes(one: UnitSpec, two: UnitSpec) -> int:
    """How many parameters two designs differ in."""
    values = two.design.parameters()
    return sum(value != values[name] for name, value in one.design.parameters().items())


@dataclass(slots=True)
class Sameness:
    """Compares designs with one design for dot products of k terms.

    Solvers are asked for `seconds` of the processor in all; what is not decided then, or when the time is
    `over`, stays open.
    """

    base: UnitSpec
    k: int
    seconds: float = 300.0
    over: Callable[[], bool] = lambda: False
    _pools: dict[int, tuple[Batch, Raw]] = field(default_factory=dict)
    #: Designs that are proved to be the base.
    proved: list[UnitSpec] = field(default_factory=list)
    _left: float = field(init=False)

    def __post_init__(self) -> None:
        self._left = self.seconds

    def compared(self, other: UnitSpec) -> Likeness:
        """What is known of the base and another design of its formats."""
        found = self.quickly(other)
        return found if found.proof or found.witness else self.by_solvers(other)

    def by_theorem(self, other: UnitSpec) -> Likeness:
        """What theorems on the parameters say: those of both designs have one normal form, or nothing."""
        for near in self._nearest(other):
            if (equal := equal_by_theorem(near, other, self.k)) is not None:
                return self._taken(other, near, equal.text)
        return Likeness()

    def quickly(self, other: UnitSpec) -> Likeness:
        """What theorems, definitions and some pools of inputs say."""
        if (known := self.by_theorem(other)).proof:
            return known
        if self.over():
            return Likeness()
        if same_definition(self.base, other, self.k):
            self.proved.append(other)
            return Likeness("the definitions are the same")
        return self.by_inputs(other)

    def by_inputs(self, other: UnitSpec) -> Likeness:
        """What some pools of inputs say."""
        return Likeness(witness=self._separated(other))

    def _taken(self, other: UnitSpec, near: UnitSpec, proof: str) -> Likeness:
        """A design that is proved to be another one, which is the base or was proved to be it."""
        self.proved.append(other)
        plain = near is self.base or same_definition(self.base, near, self.k)
        return Likeness(proof if plain else f"{proof}{BY_WAY_OF}{near.name}")

    def _near(self, other: UnitSpec) -> UnitSpec:
        """The design nearest to another one, of its sums, that is proved to be the base; or else the base."""
        if other.tree is None:
            return self.base
        how = other.tree.root, other.tree.converted
        if self.base.tree is not None and (self.base.tree.root, self.base.tree.converted) == how:
            return self.base
        known = (u for u in self.proved if u.tree is not None and (u.tree.root, u.tree.converted) == how)
        return min(known, key=lambda u: _changes(u, other), default=self.base)

    def _nearest(self, other: UnitSpec) -> tuple[UnitSpec, ...]:
        """What a design is compared with: the nearest one that is proved to be the base, and the base.

        And one of the same parameters that is proved to be it, of other sums.
        """
        alike = [
            u for u in self.proved
            if u.tree is not None and other.tree is not None
            and (u.design, u.tree.settings) == (other.design, other.tree.settings)
        ]  # fmt: skip
        return tuple(dict.fromkeys((self._near(other), self.base, *alike[:1])))

    def told(self, other: UnitSpec, inputs: Sequence[Witness]) -> bool:
        """Whether another design differs from the base on one of some inputs."""
        return self._shown(other, inputs).witness is not None

    def by_solvers(self, other: UnitSpec) -> Likeness:
        """What solvers say of both designs as a whole, unless the time for that is over."""
        if self.over():
            return Likeness()
        if (known := self.by_theorem(other)).proof or self._left <= 0:
            return known  # by way of a design that solvers proved to be the base
        near = self._near(other)
        asked = self._asked(other, near)
        from tcformal.query.assume import Assumptions  # theorems and inputs settle most designs
        from tcformal.query.engine import answer
        from tcformal.query.options import SolveOptions
        from tcformal.query.pair import question
        from tcformal.query.question import Kind
        from tcformal.solve.result import Limits

        start, began = processor_seconds(), time.monotonic()
        scale = self.base.scale_format
        most = _LEAST if scale is not None and scale.fraction_bits else max(_LEAST, _WHOLE * self.seconds)
        try:
            q = question(asked.one, asked.two, Assumptions(), k=asked.k)
            verdict = answer(q, SolveOptions(limits=Limits(time_s=most)))
        except TcformalError:
            return Likeness()
        finally:
            self._left -= max(processor_seconds() - start, time.monotonic() - began)
        if verdict.kind is Kind.SEPARATED and verdict.found is not None:
            short = [w for w in (verdict.witness, verdict.found) if w is not None]
            return self._shown(other, [x for w in short for x in asked.of_all(w, self.k)])
        if verdict.kind is not Kind.EQUIVALENT:
            return Likeness()
        return self._taken(other, near, verdict.reason + asked.more(self.k))

    def _asked(self, other: UnitSpec, near: UnitSpec) -> _Asked:
        """Both designs for as few products as they hand their whole state on after; else for all.

        Soundness: products are numbered anew on both sides alike, which only renames inputs; designs that
        agree on so many products with every c agree on all, block by block.  Zeros that fill calls up are
        such blocks where both have as many of them; else the units are compared with their zeros.
        """
        first, second, order = near, other, tuple(range(self.k))
        if all(u.tree is not None and u.k == self.k for u in (first, second)):
            order = _order(first)
            first, second = (_renumbered(u, order) for u in (first, second))
        one, two = _plain_form(first, self.k), _plain_form(second, self.k)
        zeros = {-self.k % u.k for u in (first, second)}
        in_blocks = one is not None and two is not None and one.operands.c == one.operands.d
        if zeros != {0} and (len(zeros) > 1 or not in_blocks):
            return _Asked(first, second, self.k, order)
        if one is not None and two is not None and in_blocks:
            plain = [x for x in (one, two) if (x.emulation, x.scale_format, x.tree) == (None, None, None)]
            n = math.lcm(*(min(self.k, x.design.products) for x in plain))
            if len(plain) == 2 and n < self.k and self.k % n == 0:
                return _Asked(replace(one, k=n), replace(two, k=n), n, order)
        pairs = ((first, one), (second, two))
        first, second = (u if made is None or u.k == self.k else made for u, made in pairs)
        return _Asked(first, second, self.k, order)

    def _shown(self, other: UnitSpec, found: Sequence[Witness]) -> Likeness:
        """The first of some inputs on which both designs differ."""
        if not found:
            return Likeness()
        pool = batch_of(found)
        apart = np.flatnonzero(replay(self.base, pool) != replay(other, pool))
        return Likeness(witness=found[int(apart[0])]) if apart.size else Likeness()

    def _separated(self, other: UnitSpec) -> Witness | None:
        """An input of some pools on which another design differs from the base."""
        scaled = self.base.scale_format is not None
        for seed in range(0 if scaled else -1, _POOLS):
            if self.over():
                break
            if seed not in self._pools:
                of = self.base, self.k
                pool = boundaries(*of, 0) if seed < 0 else pool_of(*of, _POOL_SIZE, seed)
                self._pools[seed] = pool, replay(self.base, pool)
            pool, given = self._pools[seed]
            apart = np.flatnonzero(replay(other, pool) != given)
            if apart.size:
                return witness_at(pool, int(apart[0]))
        return None


# ------------------------------------------------------------------ other values
#: Inputs, and their seed, that are tried on designs which give all answers.
_POOL, _SEED = 6000, 5
#: The axis of a family of other sums than the simplest design's.
_STRUCTURE = "structure"


@dataclass(frozen=True, slots=True)
class _OtherValue:
    """One other value of an axis: the simplest design of a family with it."""

    survivors: Survivors
    design: Designs
    axis: str
    value: str
    name: str

    @property
    def left(self) -> bool:
        """Whether the answers that were taken up leave it."""
        return all(int(value) in self.survivors.values(i) for i, value in enumerate(self.design[0]))

    def outcome(self, settled: Settled, probe: int | None = None, proof: str = "") -> AxisOutcome:
        """What is known of it, with the first input that refutes it, or the proof."""
        return AxisOutcome(self.axis, self.value, self.name, settled, probe, proof)


def certified(
    search: Search, simplest: UnitSpec, asker: Asker, same: Sameness, progress: Progress
) -> list[AxisOutcome]:
    """What is known of each value that the simplest design does not have, one axis changed at a time.

    Theorems and pools of inputs come first for all values, then solvers.  Inputs that tell values from the
    simplest design's are asked of the device together, after the pools and after the solvers.  Where the time
    is over, what was not looked at is undecided.
    """
    rows = [_values(survivors, simplest, asker.k) for survivors in search.alive]
    rows.sort(key=lambda row: bool(row) and row[0].axis == _STRUCTURE)  # what is proved of these helps others
    values = {x.name: x for row in rows for x in row}
    of = {x.name: row[0].name if row[0].axis == _STRUCTURE else "" for row in rows for x in row}
    made = _outcomes(values.values(), asker, {}, same.over)
    values = {name: x for name, x in values.items() if name in made}
    for ask in (same.quickly, same.by_solvers):
        known: dict[str, Likeness] = {}
        told: list[Witness] = []
        for name, x in values.items():
            if same.over():
                break
            if made[name].settled is not Settled.UNDECIDED or same.told(resolve(name), told):
                continue
            # Where nothing is known of the sums of a family, no proof of one of its values is tried.
            unknown = (first := of[name]) != name and known.get(first) == Likeness()
            if unknown and ask == same.by_solvers:
                continue
            progress(f"proving that {x.axis}={x.value} changes nothing")
            known[name] = found = (same.by_inputs if unknown else ask)(resolve(name))
            told += [] if found.witness is None else [found.witness]
        if told and not asker.late:
            asker.ask(batch_of(told))
        left = [x for name, x in values.items() if made[name].settled is Settled.UNDECIDED]
        made |= _outcomes(left, asker, known, same.over)
    return sorted(made.values(), key=lambda x: x.axis == _STRUCTURE)


def _outcomes(
    values: Iterable[_OtherValue], asker: Asker, known: Mapping[str, Likeness], over: Callable[[], bool]
) -> dict[str, AxisOutcome]:
    """What is known of some values, by name, after every answer; a witness was asked of the device before.

    Where the time is over, those are left out that the search refuted without a word which answer does.
    """
    made: dict[str, AxisOutcome] = {}
    batch, answers = asker.history
    counted = asker.trusted(batch)
    batch, answers = rows_of(batch, counted), answers[counted]
    of: dict[int, list[_OtherValue]] = {}
    for x in values:
        of.setdefault(id(x.survivors), []).append(x)
    for some in of.values():
        family = some[0].survivors.family
        each = family.at_once(len(answers))
        for start in range(0, len(some), each):
            part = some[start : start + each]
            proofs = [known.get(x.name, Likeness()).proof for x in part]
            untried = over()
            for x, proof in zip(part, proofs, strict=True):
                if proof or not untried or x.left:
                    open_ = Settled.UNTRIED if untried else Settled.UNDECIDED
                    made[x.name] = x.outcome(Settled.SAME if proof else open_, None, proof)
            if untried:
                continue
            given = family.outputs(np.concatenate([x.design for x in part]), batch)
            for x, wrong in zip(part, given != answers, strict=True):
                if wrong.any():
                    made[x.name] = x.outcome(Settled.REFUTED, int(counted[int(wrong.argmax())]))
    return made


def settled_designs(
    others: Sequence[UnitSpec], axes: Sequence[AxisOutcome], asker: Asker, same: Sameness
) -> list[AxisOutcome]:
    """What is known of other designs that give all answers, where no value of an axis stands for them.

    Inputs that tell them from the simplest, some with NaN operands, are asked of the device together.
    """
    known = {x.design for x in axes}
    others = [u for u in others if u.name not in known]
    pool = inputs_to_try(asker.spec, asker.k, _POOL, _SEED)
    given, told = replay(same.base, pool), []
    likeness: dict[str, Likeness] = {}
    for u in others:
        if same.over():
            break
        apart = np.flatnonzero(replay(u, pool) != given)
        told += [witness_at(pool, int(row)) for row in apart[:1]]
        if not apart.size:
            likeness[u.name] = found = same.quickly(u)
            told += [] if found.witness is None else [found.witness]
    if told and not asker.late:
        asker.ask(batch_of(told))
    batch, answers = asker.history
    made, counted = [], asker.trusted(batch)
    for u in others:
        if same.over():
            made.append(AxisOutcome("design", u.name, u.name, Settled.UNTRIED))
            continue
        wrong = counted[replay(u, rows_of(batch, counted)) != answers[counted]]
        found = likeness.get(u.name, Likeness())
        proof = "" if wrong.size or found.witness else found.proof or same.by_solvers(u).proof
        settled = Settled.REFUTED if wrong.size else Settled.SAME if proof else Settled.UNDECIDED
        probe = int(wrong[0]) if wrong.size else None
        made.append(AxisOutcome("design", u.name, u.name, settled, probe, proof))
    return made


def certainty(listed: bool, trees: bool, varied: bool, near: bool = False) -> str:
    """What is known where no design is undecided, with a place for the simplest one's name.

    `listed`: it is a catalogued design, tried with its neighbours, or `near` to one; `trees`: after trees of
    sums.
    """
    if listed:
        others = "no tree of sums that was tried does" if trees else "trees of sums were not tried"
        return (
            f"of the catalogued designs and those with {'one or two parameters' if near else 'one parameter'}"
            f" changed only {{}} gives all answers; {others}"
        )
    if varied:
        return "every other value of each parameter of {} is refuted, or proved to change nothing"
    return "of the designs that were tried only those that are proved equal to {} give all answers"


def fault(name: str, rate: Rate, once: int) -> tuple[IdentifyVerdict, str] | None:
    """The verdict on a device that does not always give what a design does; None for one that does.

    `rate`: results that are not the design's; `once`: answers to repeated inputs that did not come again.
    """
    if rate.count > FEW * rate.of:
        reason = f"{name} gave every answer, but not {rate.count} of {rate.of} later ones"
        return IdentifyVerdict.CONTRADICTORY, reason
    if rate.count or once:
        more = f", and {once} answers to repeated inputs came once only" if once else ""
        return IdentifyVerdict.FAULTY, f"{name} gives all but {rate.count} of {rate.of} answers{more}"
    return None


def varied_by(alive: Sequence[Survivors], simplest: UnitSpec, k: int) -> bool:
    """Whether designs that were tried have the simplest one's parameters, with every other value of each."""
    if as_tree(simplest, k) is not None:
        return True
    sums = {resolve(s.family.name(s.simplest()[0])).design.summation for s in alive}
    return simplest.design.summation != "fused" and simplest.design.summation in sums


def _values(survivors: Survivors, simplest: UnitSpec, k: int) -> list[_OtherValue]:
    """Every other value of each axis of a family, and itself where the simplest design has another."""
    family, base = survivors.family, _base(survivors, simplest, k)
    made = []
    if (name := family.name(base[0])) != simplest.name:
        # First, because what is proved of the others is proved by way of it.
        made.append(_OtherValue(survivors, base, _STRUCTURE, name, name))
    for i, axis in enumerate(family.axes):
        for value in range(len(axis.values)):
            if value != base[0, i]:
                design = base.copy()
                design[0, i] = value
                name = family.name(design[0])
                if axis.name == "design" and resolve(name).k > max(k, simplest.k):
                    continue  # it shows with more products
                made.append(_OtherValue(survivors, design, axis.name, axis.values[value], name))
    return made


def _base(survivors: Survivors, simplest: UnitSpec, k: int) -> Designs:
    """The design of a family that has the simplest design's parameters, or else the plainest that is left."""
    plainest = survivors.simplest()
    made = as_tree(simplest, k)
    if made is None or made.tree is None:
        return plainest
    stages = stage_designs(made.tree, made.design)
    base = plainest.copy()
    for i, axis in enumerate(survivors.family.axes):
        stage, _, name = axis.name.rpartition(".")
        value = getattr(stages.get(stage, made.design), name, None)
        if name == "b_subnormals" and value is None:
            value = made.design.operand_subnormals
        text = "exact" if value is None else str(value)
        if text in axis.values and axis.values.index(text) in survivors.values(i):
            base[0, i] = axis.values.index(text)
    return base


def as_tree(unit: UnitSpec, k: int) -> UnitSpec | None:
    """A design as the tree of its k products, if it is one."""
    if unit.tree is not None and unit.k == k:
        return unit
    return None if unit.k > k or k % unit.k else tree_of(unit, k)
