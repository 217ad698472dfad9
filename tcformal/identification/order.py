"""The order of summation of a device, from masks: which products, and c, meet in which sum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np

from tcformal.checks import check_int
from tcformal.design.spec import Operands
from tcformal.design.trees.arrangements import groups, running
from tcformal.design.trees.tree import Step
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format
from tcformal.identification.masks import (
    DEPTHS,
    AskBatch,
    Asked,
    Masks,
    NoOrderError,
    NotFiniteError,
    RemainderError,
    Task,
    TooNearError,
    together,
)
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.values import decode, encoded
from tcformal.simulation.operands.batch import Batch, with_scales

# ------------------------------------------------------------------ the order
#: Exponents of the large terms: the largest that serve, and one that fp16 partial sums hold.
_HIGH = (64, 15)
#: A sum of so many parts has no hidden ones if no two of three parts are one.
_SMALL = 3


@dataclass(frozen=True, slots=True)
class Order:
    """The order of summation of a device, as far as it shows.

    Ranges and units: `fraction_bits` are those that a sum keeps below its largest term, by sum, where they
    were seen; None for one that loses nothing before it is rounded.
    """

    #: The outermost sum; None where nothing can be said.
    root: Step | None
    fraction_bits: dict[Step, int | None]
    #: Why there is no order, or what does not fit the one that is given; empty where all is clear.
    reason: str
    #: Sums in which some parts are added up before they are cut, though none hides another, with these parts:
    #: each by its first product, k for c.
    groups: dict[Step, tuple[tuple[int, ...], ...]]
    probes: int
    batches: int
    #: Other orders that give the same masks: those in which the products of a block are a sum of their own,
    #: or plain ones where masks show nothing.
    others: tuple[Order, ...] = ()

    @property
    def measured(self) -> dict[str, str]:
        """The order and the fraction bits as people read them, by name."""
        if self.root is None:
            return {"order": self.reason}
        shown = {step: "exact" if bits is None else str(bits) for step, bits in self.fraction_bits.items()}
        orders = " or ".join(str(x.root) for x in (self, *self.others))
        return {"order": orders, **{f"fraction bits of {step}": x for step, x in shown.items()}}


def order_of(
    ask: AskBatch, formats: Operands, k: int, *, with_c: bool = True, depths: Sequence[int] = DEPTHS
) -> Order:
    """The order in which a device sums k products and c.

    Shapes: `ask` takes a batch of dot products of k terms and gives as many raw encodings of D; with_c:
    whether c can be chosen (else it is 0); depths: how far below large terms the others lie, the best first.
    Zero, NaN, Inf: probes are finite, and so must their results be.
    Errors: InputError for a k below 1.  An order that does not show is no error: `root` is None, and
    `reason` says why.
    Source: the idea of FPRev (large terms that cancel); powers of two on the other terms name all survivors.
    """
    check_int("k", k, low=1)
    asked, reason = Asked(ask), ""
    others: tuple[Order, ...] = ()
    for high in _HIGH:
        masks = Masks(formats, k, with_c=with_c, high=high, depths=depths)
        try:
            search = _OrderSearch(masks, Flatness(masks), HiddenSets(masks))
            root = _confirmed(asked, search)
            if root is None:
                search = _OrderSearch(masks, Flatness(masks), HiddenSets(masks, counting=False))
                root = asked.run(masks, search.whole())
        except RemainderError as error:
            reason = reason or str(error)
            continue
        except NoOrderError as error:
            reason = reason or str(error)
            others = _plain(k) if with_c and isinstance(error, TooNearError) else ()
            break
        except NotFiniteError:
            reason = f"results are NaN or Inf where large terms cancel, down to 2^{masks.high}"
            continue
        assert isinstance(root, Step)
        bits = {step: search.bits[step] for step in root.steps() if step in search.bits}
        if not masks.shows_exact:
            bits = {step: some for step, some in bits.items() if some is not None}
        reason = search.reason or misfit(root, search.pairs.known, search.bits, masks.k)
        return Order(root, bits, reason, search.unclear, asked.probes, asked.batches)
    return Order(None, {}, reason, {}, asked.probes, asked.batches, others)


def _plain(k: int) -> tuple[Order, ...]:
    """Orders in steps of neighbours and the sum so far; those of a step are summed apart, or are not."""
    steps: list[list[Sequence[int | str | Step]]] = [[*groups(k, n)] for n in range(k, 0, -1) if k % n == 0]
    steps += [[(Step(tuple(x)),) for x in parts] for parts in steps if len(parts) < k]
    roots = [running(parts, "c") for parts in steps]
    return tuple(Order(x, {}, "", {}, 0, 0) for x in roots if isinstance(x, Step))


#: In how many steps the products of a block may be taken, and the fewest products of such a step.
_PIECES, _STEP = (2, 4), 4
#: Formats of two signed factors whose powers of two are those of scales of so many exponent bits.
_OF_SCALES = {8: "bf16", 5: "e5m2", 4: "e4m3"}


def order_of_unit(ask: AskBatch, spec: UnitSpec, k: int, *, with_c: bool = True) -> Order:
    """As `order_of`, of a unit that may have scales; with_c: whether c can be chosen.

    Where products lie too near each other, their scales move one product of each block away from those of
    others: the order of blocks shows, and the products of a block are taken to be terms of the sum that the
    block is in, or a sum of their own, or terms of some sums in steps.
    """
    made = order_of(lambda x: ask(with_scales(spec, x)), spec.operands, k, with_c=with_c)
    if made.root is not None or spec.scale_format is None or k % (block := spec.scale_block or k):
        return made
    name = _OF_SCALES.get(spec.scale_format.exponent_bits)
    if name is None:
        return made
    scaled, o = format_named(name), spec.operands
    found = order_of(
        lambda x: ask(_scaled(spec, k, scaled, x)),
        Operands(a=scaled, b=scaled, c=o.c, d=o.d),
        k // block,
        with_c=with_c,
    )
    if found.root is None:
        return made
    flat, count = _of_products(found, block), (made.probes + found.probes, made.batches + found.batches)
    assert flat is not None
    ways = [_of_products(found, block, inner=True)] if block > 1 else []
    ways += [_of_products(found, block, pieces=n) for n in _PIECES if block % n == 0 and block // n >= _STEP]
    others = tuple(x for x in ways if x is not None)
    return replace(flat, probes=count[0], batches=count[1], others=others)


def _scaled(spec: UnitSpec, k: int, scaled: Format, x: Batch) -> Batch:
    """Products of powers of two as the first ones of blocks, whose scales these are."""
    assert spec.scale_format is not None
    assert spec.scale_block is not None
    n, blocks = len(x.c), k // spec.scale_block
    a, b = (np.zeros((n, k), np.uint64) for _ in "ab")
    scales = [np.full((n, blocks), spec.scale_format.one, np.uint64) for _ in "ab"]
    operands = (a, x.a, spec.a_format, scales[0]), (b, x.b, spec.b_format, scales[1])
    for words, given, fmt, of_blocks in operands:
        for row, i in zip(*np.nonzero(given), strict=True):
            number = decode(scaled, int(given[row, i])).number
            scale = encoded(spec.scale_format, abs(number))
            if scale is None:
                raise NoOrderError(f"{spec.scale_format.name} holds no {abs(number)}")
            words[row, i * spec.scale_block] = fmt.one | (fmt.sign_bit if number < 0 else 0)
            of_blocks[row, i] = scale
    return Batch(a, b, x.c, *scales)


def _of_products(order: Order, block: int, *, inner: bool = False, pieces: int = 1) -> Order | None:
    """The order of products that an order of blocks stands for; None for several blocks of one sum in pieces.

    The products of a block are terms of the sum that the block is in, with `inner` a sum of their own, or
    with several `pieces` terms of as many sums, one after the other.
    """
    assert order.root is not None
    bits: dict[Step, int | None] = {}
    size = block // pieces

    def whole(step: Step) -> Step:
        children: list[int | str | Step] = []
        last: Sequence[int] = ()
        for x in step.children:
            if isinstance(x, int):
                products = range(x * block, (x + 1) * block)
                children += [Step(tuple(products))] if inner else products[:size]
                last = products[size:]
            else:
                children.append(whole(x) if isinstance(x, Step) else x)
        made = Step(tuple(children), step.stage)
        kept = [made]
        for start in range(0, 0 if inner else len(last), size):
            kept.append(Step((*last[start : start + size], kept[-1]), step.stage))
        if step in order.fraction_bits:
            bits.update(dict.fromkeys(kept, order.fraction_bits[step]))
        return kept[-1]

    if pieces > 1 and any(sum(isinstance(x, int) for x in y.children) > 1 for y in order.root.steps()):
        return None
    return replace(order, root=whole(order.root), fraction_bits=bits, groups={})


def first_masks(formats: Operands, k: int) -> Batch:
    """What `order_of` asks first, which depends on no answer; nothing where an order shows no other way.

    Shapes: dot products of k terms.
    """
    masks = Masks(formats, k, with_c=True, high=_HIGH[0])
    search = _OrderSearch(masks, Flatness(masks), HiddenSets(masks))
    try:
        return masks.batch(next(search.pairs.confirmed(search.whole())))
    except (StopIteration, NoOrderError):
        return masks.batch([])


def _confirmed(asked: Asked, search: _OrderSearch) -> object:
    """The outermost sum; None where sets that counts suggest are not those that pairs hide."""
    try:
        root, right = asked.run(search.masks, search.pairs.confirmed(search.whole()))
    except NoOrderError:
        if not search.pairs.likely:
            raise
        return None
    return root if right else None


@dataclass
class _OrderSearch:
    """What is known of one device."""

    masks: Masks
    flatness: Flatness
    pairs: HiddenSets
    bits: dict[Step, int | None] = field(default_factory=dict)
    unclear: dict[Step, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    reason: str = ""
    #: Sums that are done.
    sums: dict[Leaves, int | str | Step] = field(default_factory=dict)
    #: Those, and sums that some task is at.
    begun: set[Leaves] = field(default_factory=set)

    def whole(self) -> Task:
        """The outermost sum."""
        m = self.masks
        leaves, guess = frozenset(m.leaves), (m.depth, m.width)
        if len(leaves) > 2:
            # Most devices are as they are taken to be: the first masks are asked at the same time.
            scouts = self._scouts(leaves) if m.roomy else []
            yield from together([m.calibrated(), self.pairs.hide(scouts, leaves)])
            if (frozenset(m.leaves), m.depth, m.width) != (leaves, *guess):
                self.pairs.clear()
        elif m.k in m.leaves and not (yield from m.has_c()):
            m.leaves = [x for x in m.leaves if x != m.k]
        root = yield from self.solved(frozenset(m.leaves))
        return root if isinstance(root, Step) else Step((root,))

    # ------------------------------------------------------------------ one sum
    def solved(self, among: Leaves) -> Task:
        """The sum of some leaves, known to be one, or a single leaf."""
        leaves = self._in_order(among)
        if len(leaves) == 1:
            return "c" if leaves[0] == self.masks.k else leaves[0]
        if among in self.begun:
            while among not in self.sums:
                yield []  # another task is at it
        else:
            self.begun.add(among)
            self.sums[among] = yield from self._beside(among, self._after_scouts(among))
        return self.sums[among]

    def _beside(self, among: Leaves, task: Task) -> Task:
        """What a task gives that looks into a sum, while the largest sums known below it are looked into."""
        groups, exact = self._groups(among)
        inner = [] if exact else [self.solved(g) for g in groups if len(g) > _SMALL]
        made, *_ = yield from together([task, *inner])
        return made

    def _after_scouts(self, among: Leaves) -> Task:
        """The sum of some leaves, after pairs that show more of it."""
        yield from self.pairs.hide(self._scouts(among), among)
        return (yield from self._beside(among, self._after_neighbours(among)))

    def _after_neighbours(self, among: Leaves) -> Task:
        yield from self._neighbours(among)
        return (yield from self._beside(among, self._made_of(among)))

    def _scouts(self, among: Leaves) -> list[tuple[int, int]]:
        """The pairs of parts that are asked first; none where two parts are left."""
        heads = self._heads(self._parts_of(among))
        if len(heads) <= 2:
            return []
        return [*combinations(heads[:3], 2), (heads[0], heads[-1]), (heads[-2], heads[-1])]

    def _neighbours(self, among: Leaves) -> Task:
        """Ask parts that may belong together, seeing how those do that are known to.

        Pairs promise chains and trees, and all leaves next to each other are asked; sets in one another, all
        parts next to each other; other sets promise more of their kind, and one pair of each is asked.
        """
        groups, exact = self._groups(among)
        inner = {s for s in self.pairs.seen(among).values() if s != among}
        if not inner:
            return
        parts = self._parts_of(among)
        heads = self._heads(parts)
        smallest = min(inner, key=len)
        pairs = list(combinations(heads[:3], 2)) if len(parts) > 2 else []
        size = min(len(s - {self.masks.k}) for s in inner)
        if size <= 2:
            pairs += pairwise(self._spaced(among, smallest))
        elif exact or len(inner) > len(groups):
            pairs += pairwise(self._spaced(heads, smallest))
        else:
            single = [x for x in heads if frozenset([x]) in parts and x != self.masks.k]
            pairs += list(pairwise(self._spaced(single, smallest)))[::size]
        yield from self.pairs.hide(pairs, among)

    def _made_of(self, among: Leaves) -> Task:
        """One sum of its parts, after pairs of some of them have been asked."""
        groups = self._groups(among)
        if groups[1]:
            told_apart = yield from self._exact_parts(among)
            if told_apart is None:
                self.reason = "a sum of several parts that masks do not tell apart"
                return (yield from self._step([frozenset([x]) for x in among]))
            return (yield from self._step(told_apart, None))
        parts = self._parts_of(among)
        if len(parts) <= 2:
            return (yield from self._step(parts))
        heads = self._heads(parts)
        # Sets that were found apart may be parts of one exact sum, which the others are no part of.
        large = [head for head, part in zip(heads, parts, strict=True) if len(part) > 1][:_SMALL]
        yield from self.pairs.hide([*combinations(heads[:3], 2), *combinations(large, 2)], among)
        if self._groups(among) != groups:
            yield from self.pairs.hide(spaced_alike(heads, self._groups(among)[0]), among)
            return (yield from self._made_of(among))
        if len(parts) == _SMALL:
            return (yield from self._step(parts))
        # The parts are looked into at the same time, whatever comes of this sum.
        (bits, found), *_ = yield from together([self._flat(heads, among), *map(self.solved, parts)])
        if found and self._groups(among) != groups:
            return (yield from self._made_of(among))
        made = yield from self._step(parts, bits)
        if found:
            self.unclear[made] = tuple(found)
        return made

    def _flat(self, heads: Sequence[int], among: Leaves) -> Task:
        """As `Flatness.hidden`, after pairs of parts that are added up before they are cut have been asked.

        Where one hides another they are a sum.
        """
        bits, found = yield from self.flatness.hidden(heads)
        if found:
            pairs = [pair for group in found for pair in (group[:2], (group[0], group[-1]))]
            left = [x for x in heads if not any(x in group for group in found)]
            left = self._spaced(left, frozenset(found[0]))
            yield from self.pairs.hide([*pairs, *pairwise(left)], among)
        return bits, found

    def _step(self, parts: Sequence[Leaves], bits: int | None = -1) -> Task:
        """The sum of parts, after each of them."""
        if len(parts) == 1:
            self.reason = "pairs hide terms in a way that no order does"
            parts = [frozenset([x]) for x in parts[0]]
        children = yield from together([self.solved(part) for part in parts])
        made = Step(tuple(children))
        if bits != -1:
            self.bits[made] = bits
        return made

    def _parts_of(self, among: Leaves) -> list[Leaves]:
        """The largest sets known below one sum and the leaves beside them, in order."""
        groups, _ = self._groups(among)
        single = (frozenset([x]) for x in among if not any(x in g for g in groups))
        return sorted([*groups, *single], key=lambda part: min(map(self._rank, part)))

    def _groups(self, among: Leaves) -> tuple[list[Leaves], bool]:
        """The largest sets known below one sum, and whether it is one that hides the parts of a pair only.

        Sets that overlap and are not nested are pairs of parts of one exact sum; they count as one set.
        """
        merged: list[Leaves] = []
        for one in sorted({s for s in self.pairs.seen(among).values() if s != among}, key=len):
            touching = [s for s in merged if s & one]
            merged = [*(s for s in merged if not s & one), one.union(*touching)]
        return ([], True) if merged == [among] else (merged, False)

    def _exact_parts(self, among: Leaves) -> Task:
        """The parts of an exact sum, of which a pair hides the two that it is in; None without such parts."""
        yield from self.pairs.hide(pairwise(self._in_order(among)), among)
        parts = exact_parts(among, self.pairs.seen(among))
        return parts and sorted(parts, key=lambda part: min(map(self._rank, part)))

    # ------------------------------------------------------------------ the order of leaves
    def _spaced(self, heads: Iterable[int], group: Leaves) -> list[int]:
        """Parts in the order that puts those together that are spaced as the first two leaves of a group."""
        own = [x for x in self._in_order(group) if x != self.masks.k]
        stride = own[1] - own[0] if len(own) > 1 else 1
        return sorted(heads, key=lambda x: (self._rank(x) % stride, self._rank(x)))

    def _heads(self, parts: Sequence[Leaves]) -> list[int]:
        """The first leaf of each part."""
        return [min(part, key=self._rank) for part in parts]

    def _in_order(self, among: Leaves) -> list[int]:
        return sorted(among, key=self._rank)

    def _rank(self, leaf: int) -> int:
        """c before the products."""
        return -1 if leaf == self.masks.k else leaf


# ------------------------------------------------------------------ what pairs hide
#: Probes of one pair from which on leaves are counted first; so many of all pairs are rather one batch.
_MANY, _ONE_BATCH = 3, 30


@dataclass
class HiddenSets:
    """What is known of one device's pairs: a pair hides the leaves of a sum, the pair among them.

    A set that follows from its size and from others is taken to be hidden until all such sets are confirmed.
    """

    masks: Masks
    #: Whether leaves may be counted.
    counting: bool = True
    known: dict[Couple, Leaves] = field(default_factory=dict)
    #: Pairs that are being asked.
    asking: set[Couple] = field(default_factory=set)
    #: Pairs whose sets follow from others.
    likely: dict[Couple, Leaves] = field(default_factory=dict)
    #: Those of them that are asked, or that hide a set of which another pair is.
    checked: set[Couple] = field(default_factory=set)

    def clear(self) -> None:
        """Forget what is known."""
        self.known.clear()
        self.likely.clear()
        self.checked.clear()

    def hide(self, pairs: Iterable[tuple[int, int]], among: Leaves) -> Task:
        """Ask what pairs of leaves hide among the leaves of one sum, or wait where another task asks it."""
        wanted = {p: None for p in map(frozenset, pairs) if len(p) == 2 and p not in self.known}
        new = [p for p in wanted if p not in self.asking]
        self.asking |= set(new)
        self._follow(new, among)
        left = [p for p in new if p not in self.known]
        if self._counts(len(left), len(among) - 2):
            yield from self._count(left, among)
        left = [p for p in new if p not in self.known]
        found = yield from together([self._survivors(p, among) for p in left])
        self.known |= {p: among - alive for p, alive in zip(left, found, strict=True)}
        self.asking -= set(new)
        while any(p in self.asking for p in wanted):
            yield []

    def seen(self, among: Leaves) -> dict[Couple, Leaves]:
        """What is known of pairs of leaves of one sum."""
        return {p: hidden for p, hidden in self.known.items() if p <= among}

    def confirmed(self, rest: Task) -> Task:
        """What another task gives, and whether no leaf of a set that follows comes back beside a pair of it.

        In an order of sums other pairs of such a set, which hide as many leaves or meet it, hide it, too.
        Such sets are asked at the same time as what the other task asks next.
        """
        done: list[object] = []

        def first() -> Task:
            done.append((yield from rest))

        def beside() -> Task:
            right = True
            while not done or self.likely.keys() - self.checked:
                new = self._one_of_each()
                counts = yield from together([self._counted(p, self.likely[p] - p) for p in new])
                right = right and all(count == 0 for count in counts)
                if not new:
                    yield []
            return right

        _, right = yield from together([first(), beside()])
        return done[0], right

    def _one_of_each(self) -> list[Couple]:
        """Of pairs that are not checked, the first of each set that none before them hides; all are then."""
        hidden = {self.likely[p] for p in self.checked}
        new: dict[Leaves, Couple] = {}
        for p in (p for p in self.likely if p not in self.checked):
            new.setdefault(self.likely[p], p)
        self.checked |= self.likely.keys()
        return [p for found, p in new.items() if found not in hidden]

    def _countable(self, others: int) -> bool:
        """Whether so many leaves can be counted."""
        return self.counting and others.bit_length() <= self.masks.width

    def _counts(self, pairs: int, others: int) -> bool:
        """Whether so many leaves can be counted, and take many probes if each is asked."""
        each = -(-others // self.masks.width)
        return self._countable(others) and each >= _MANY and pairs * each > _ONE_BATCH

    def _follow(self, pairs: Sequence[Couple], among: Leaves) -> None:
        """Take pairs to hide what another of them does that has a leaf of the same inner sum."""
        if not self._countable(len(among) - 2):
            return
        for pair in pairs:
            found = followed(pair, self.seen(among))
            if found is not None:
                self.known[pair] = self.likely[pair] = found

    def _count(self, pairs: Sequence[Couple], among: Leaves) -> Task:
        """Count what pairs hide; a set of which the size says enough is known then."""
        counts = yield from together([self._counted(p, among - p) for p in pairs])
        sizes = {p: len(among) - n for p, n in zip(pairs, counts, strict=True) if n is not None}
        certain = {p: p if n == len(p) else among for p, n in sizes.items() if n in (len(p), len(among))}
        self.known |= certain
        sums = {*self.seen(among).values(), *certain.values()}
        rest = {p: n for p, n in sizes.items() if p not in certain}
        found = supposed(sums, rest, [among - {self.masks.k}])
        self.known |= found
        self.likely |= found

    def _counted(self, pair: Couple, others: Leaves) -> Task:
        return (yield from self.masks.counted((min(pair), max(pair)), sorted(others), self.masks.depth))

    def _survivors(self, pair: Couple, among: Leaves) -> Task:
        m = self.masks
        return (yield from m.survivors(min(pair), max(pair), sorted(among - pair), m.depth, m.width))


def followed(pair: Couple, known: Mapping[Couple, Leaves]) -> Leaves | None:
    """What a pair hides by what others do: leaves of one inner sum meet a leaf beside it in the same sum.

    Parts of an exact sum that are hidden together are no inner sum: what they hide with others does not
    hold them.
    """
    for other, seen in known.items():
        beside = other & pair
        if len(beside) == 1:
            mine, its = pair - beside, other - beside
            if any(mine | its <= s < seen and not beside <= s for s in known.values()):
                return seen
    return None


def supposed(
    sums: Iterable[Leaves], sizes: Mapping[Couple, int], usual: Sequence[Leaves] = ()
) -> dict[Couple, Leaves]:
    """The sets that pairs hide by their sizes, where sums that share a leaf lie within one another.

    Shapes: `sums` are known to be hidden by pairs, `usual` are tried before; a pair is left out where no set
    of its size follows.
    """
    known, made = set(sums), {}
    for pair in sorted(sizes, key=lambda p: sizes[p]):
        whole = next((s for s in (*usual, *known) if pair <= s and len(s) == sizes[pair]), None)
        least = pair
        while touching := [s for s in known if s & least and not s <= least and not least <= s]:
            least = least.union(*touching)
        least = least if whole is None else whole
        if len(least) == sizes[pair]:
            made[pair] = least
            known.add(least)
    return made


# ------------------------------------------------------------------ what an order hides
#: Terms: products by their numbers, and c by the next one.
Leaves = frozenset[int]
Couple = frozenset[int]


def misfit(root: Step, known: Mapping[Couple, Leaves], bits: Mapping[Step, int | None], c: int) -> str:
    """Why masks do not fit an order; empty where they do.

    Shapes: `known`: the leaves that each pair was seen to hide; `bits`: as of `Order`; `c`: the leaf of c.
    """
    wrong = sum(seen != hidden_by(root, pair, bits, c) for pair, seen in known.items())
    if not wrong:
        return ""
    return f"{wrong} of {len(known)} pairs hide other terms than they would in this order"


def hidden_by(step: Step, pair: Couple, bits: Mapping[Step, int | None], c: int) -> Leaves:
    """What a pair hides in a sum, as far as its leaves go; the other arguments as of `misfit`."""
    parts = {x: _leaves(x if isinstance(x, Step) else Step((x,)), c) for x in step.children}
    inside = [x for x, leaves in parts.items() if pair <= leaves and isinstance(x, Step)]
    if inside:
        return hidden_by(inside[0], pair, bits, c)
    exact = step in bits and bits[step] is None
    return frozenset().union(*(leaves for leaves in parts.values() if not exact or leaves & pair))


def exact_parts(among: Leaves, seen: Mapping[Couple, Leaves]) -> set[Leaves] | None:
    """The parts of an exact sum, where a pair hides the two parts that it is in; None where it has no such.

    Shapes: `seen` is what pairs of leaves of the sum hide.
    """
    top = {p: s for p, s in seen.items() if not any(s < t and t != among for t in seen.values())}
    # Two that share leaves share one part.
    parts = {s & t for s, t in combinations({*top.values()}, 2) if s & t}
    # Where a leaf was only asked with leaves of one part, that part is still among its own.
    parts = {part for part in parts if not any(other < part for other in parts)}
    added = True
    while added:
        added = False
        for p, s in top.items():
            known = [part for part in parts if part & p]
            if len(known) == 1 and p - known[0] and s - known[0] not in parts:
                parts.add(s - known[0])
                added = True
    whole = sum(map(len, parts)) == len(among) and among.union(*parts) == among
    return parts if whole and among not in parts else None


def spaced_alike(heads: Sequence[int], groups: Sequence[frozenset[int]]) -> list[tuple[int, int]]:
    """Parts that are as far from each other as two which were found to be in one inner sum.

    A chain of inner sums shows whole that way, where part by part each would be asked after the last.
    """
    for group in groups:
        places = [n for n, head in enumerate(heads) if head in group]
        if len(places) > 1:
            stride = places[1] - places[0]
            return list(zip(heads, heads[stride:], strict=False))
    return []


def _leaves(step: Step, c: int) -> Leaves:
    found = frozenset(step.products())
    return found | {c} if any("c" in x.children for x in step.steps()) else found


# ------------------------------------------------------------------ how parts of one sum are cut
#: Fraction bits that are tried first: those of known sums, and their neighbours.
_USUAL_BITS = (10, 13, 14, 18, 22, 23, 24, 25, 26)
#: Parts of the last kept bit: two of either together are cut in another way than one by one, whatever the
#: rounding of the alignment.
_BELOW = (Fraction(3, 4), Fraction(3, 8))
#: Distances at which parts that belong together are looked for first.
_DISTANCES = (1, 2, 3, 4, 8, 16)

#: Two leaves.
LargeTerms = tuple[int, int]


class Flatness:
    """The sums of one device, each given by the first leaf of every part."""

    def __init__(self, masks: Masks) -> None:
        self.masks = masks
        #: The fraction bits that were found.
        self.found: set[int] = set()

    def hidden(self, heads: Sequence[int]) -> Task:
        """The fraction bits of a sum, and those parts of it that are added up before they are cut.

        Shapes: four parts or more, no two of the first three hide less than the whole; -> (bits, groups).
        Ranges and units: bits None where what is kept of terms does not depend on their exponents alone.
        """
        pair, alone = (heads[1], heads[2]), heads[-1:]
        bits = yield from self._fraction_bits(pair, [heads[0], *heads[3:]])
        last = power_of_two(-bits)
        below, single = yield from together([self._below(heads, bits), self._sum(pair, alone, last)])
        if single != last:
            # Two of them together are kept where one is lost.
            bits, below = (yield from self._fraction_bits(pair, alone)), (pair, _BELOW[0])
        if below is None:
            self.found.add(bits)
            return bits, []
        return bits, (yield from self._groups(heads, below[0], below[1], bits))

    def _below(self, heads: Sequence[int], bits: int) -> Task:
        """A pair of large terms beside which others are not cut one by one, and their size; or None."""
        triangle = list(combinations(heads[:3], 2))
        for part in _BELOW:
            low = power_of_two(-bits) * part
            tasks = [self._sum(pair, [x for x in heads if x not in pair], low) for pair in triangle]
            single, *sums = yield from together([self._sum(triangle[0], heads[-1:], low), *tasks])
            for pair, total in zip(triangle, sums, strict=True):
                if total != (len(heads) - 2) * single:
                    return pair, part
            if not single and part == _BELOW[0]:
                break  # cut toward zero: two together would not be
        return None

    def _groups(self, heads: Sequence[int], large: LargeTerms, part: Fraction, bits: int) -> Task:
        """Parts that are added up before they are cut, beside a pair of large terms in other ones.

        Parts that are cut in another way than most share one with a large term.
        """
        others = [x for x in heads if x not in large]
        low = power_of_two(-bits) * part
        starts = {0, len(others) // 2, len(others) - 1}
        tries = [(n, n + d if n + d < len(others) else n - d) for n in sorted(starts) for d in _DISTANCES]
        near = sorted({(min(x), max(x)) for x in tries if min(x) >= 0})
        alone = together([self._sum(large, [x], low) for x in others])
        tasks = [self._sum(large, (others[n], others[m]), low) for n, m in near]
        singles, *sums = yield from together([alone, *tasks])
        single = dict(zip(others, singles, strict=True))
        usual = max(singles, key=singles.count)
        lost = [x for x in others if single[x] != usual]
        if lost:
            return [(x, *lost) for x in large]
        distances = [
            m - n for (n, m), total in zip(near, sums, strict=True)
            if total != single[others[n]] + single[others[m]]
        ]  # fmt: skip
        if distances:
            stride = min(distances)
            spaced = [others[n] for first in range(stride) for n in range(first, len(others), stride)]
            pairs = list(pairwise(spaced))
        else:
            pairs = list(pairwise(others)) + [(others[0], x) for x in others[2:]]
        groups = yield from self._joined(pairs, large, low, single)
        if not groups:
            # Some parts are added up first, or the large terms would show no difference.
            groups = yield from self._joined(list(combinations(others, 2)), large, low, single)
        place = {x: n for n, x in enumerate(heads)}
        return sorted(tuple(sorted(g, key=place.__getitem__)) for g in groups) or [tuple(others)]

    def _joined(
        self, pairs: Sequence[LargeTerms], large: LargeTerms, low: Fraction, single: Mapping[int, Fraction]
    ) -> Task:
        """The sets of parts in which some pairs are not cut as its parts are one by one."""
        sums = yield from together([self._sum(large, pair, low) for pair in pairs])
        groups: list[set[int]] = []
        for pair, total in zip(pairs, sums, strict=True):
            if total != single[pair[0]] + single[pair[1]]:
                joined = set(pair).union(*(g for g in groups if g & set(pair)))
                groups = [*(g for g in groups if not g & joined), joined]
        return groups

    def _fraction_bits(self, pair: LargeTerms, others: Sequence[int]) -> Task:
        """How far below a pair of large terms all of some others are still kept."""
        kept, lost = 0, self.masks.depth + 1
        wanted = sorted({t for bits in self.found for t in (bits, bits + 1)}) or list(_USUAL_BITS)
        while lost - kept > 1:
            wanted = [t for t in wanted if kept < t < lost] or _spread(kept, lost)
            sums = yield from together([self._sum(pair, others, power_of_two(-t)) for t in wanted])
            for t, total in zip(wanted, sums, strict=True):
                if total == len(others) * power_of_two(-t):
                    kept = max(kept, t)
                else:
                    lost = min(lost, t)
            wanted = []
            kept = min(kept, lost - 1)
        return kept

    def _sum(self, pair: LargeTerms, others: Sequence[int], value: Fraction) -> Task:
        """What a sum makes of terms that are a part of two large ones of both signs, as a part of these."""
        m = self.masks
        # So many terms as large as all that are few bits below are no result, unless all are smaller.
        large = power_of_two(m.large(*pair) - int(len(others) * value).bit_length())
        able = {x: value * large for x in others if m.word_pair(x, value * large) is not None}
        (number,) = yield [{pair[0]: large, pair[1]: -large} | able]
        if number is None:
            raise NotFiniteError
        # A leaf that cannot be that small is taken to be as the others are.
        return number / large * Fraction(len(others), max(1, len(able)))


def _spread(kept: int, lost: int) -> list[int]:
    """Up to eight places between two."""
    step = -(-(lost - kept) // 9)
    return list(range(kept + step, lost, step)) or [kept + 1]
