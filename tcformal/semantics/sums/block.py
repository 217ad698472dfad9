"""One block of a dot product: its products and c, summed step by step in the design's order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tcformal.design.spec import Design
from tcformal.encodings.spec import Format
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.number import finite
from tcformal.semantics.special import (
    Addend,
    Carried,
    carried_nan,
    first_nan,
    positive_zero,
    products_nans,
    step_nans,
)
from tcformal.semantics.stages import DotStep, Nan, Operand, Total
from tcformal.semantics.sums.framed import framed_total
from tcformal.semantics.sums.round_down import rounded_down_sum
from tcformal.semantics.sums.step import (
    as_term,
    convert_number,
    fused_sum,
    round_total,
    truncated_total,
    unrounded,
)
from tcformal.semantics.sums.windows import exact_total

_RUNNING = Operand("running")


class Summation:
    """A builder of the steps of one block, collected in `steps`.

    NaN: each step's operands in their order of priority: a_k, b_k and the running total as `step_nans` has
    them; the even chain, the odd one; c, the sum of the products, or the other way round for a pair's.
    """

    def __init__(
        self,
        g: Graph,
        design: Design,
        d: Format,
        steps: list[DotStep] | None = None,
    ) -> None:
        self.g, self.design, self.d = g, design, d
        self.steps: list[DotStep] = [] if steps is None else steps
        #: Names of the conversions of partial sums and of the block's sum.
        self._final = design.conversion
        self._partial = design.accumulator if design.accumulator is not None else design.conversion

    def run(self, addends: Sequence[Addend], c: Carried, made: Operand) -> Carried:
        """Build the sum of one block's products and c, with the result named `made`."""
        g, design = self.g, self.design
        if design.product_rounding is not None:
            addends = [self.rounded_product(i, x) for i, x in enumerate(addends)]
        if design.framed:
            return self._framed(addends, c, made)
        if design.c_position == "joined":
            nans = self._joined_nans(addends, c)
            return self.sum([*addends, c], self._final, made, self._invalid(), nans, len(addends))
        if design.c_position == "after":
            return self._after(addends, c, made)
        if design.c_position == "first":
            return self._accumulate(addends, c, made, _RUNNING, self._final)
        if design.summation in ("tr", "gtr"):
            return self._rounded_down(addends, c, made)
        invalid = self._invalid()
        total = self._without_c(addends, invalid)
        with g.scope("last"):
            both = [carried_nan("c", c), carried_nan("total", total)]
            if design.summation == "fused":
                both.reverse()
            return self.sum([total, c], self._final, made, invalid, both)

    def _joined_nans(self, addends: Sequence[Addend], c: Carried) -> Sequence[Nan]:
        """The candidate NaNs of a sum of products and c."""
        rule = self.design.nan_rule
        if rule == "products_c":
            return products_nans(self.g, addends, c, self._invalid(), self.design)
        return () if rule == "word" else step_nans(rule, addends[0], c)

    def _invalid(self) -> Node:
        """The NaN word of an invalid operation."""
        return self.g.const(self.design.nan_word, self.d.width)

    def sum(
        self,
        summands: Sequence[Addend | Carried],
        conversion: str,
        made: Operand,
        invalid: Node,
        nans: Sequence[Nan] = (),
        c: int | None = None,
    ) -> Carried:
        """One fused sum; its NaN word is that of the first NaN in `nans`, else `invalid`.

        Shapes: `c` is the place of c among the summands, None where it is none of them.
        """
        g, design = self.g, self.design
        word = first_nan(g, nans, invalid, self.d)
        target = design.rho if conversion == self._final else design.step
        numbers = [x.number for x in summands]
        if not design.normalised:
            total, specials = unrounded(g, numbers, design, c)
            self.steps.append(replace(self._truncated(g.here, summands, made, total), specials=specials))
            return Carried(specials.result, word, made)
        summed = fused_sum(g, numbers, design, target, c)
        self.steps.append(
            DotStep(
                scope=g.here, operands=tuple(x.operand for x in summands), made=made, total=summed.total,
                rounded=summed.rounded, specials=summed.specials, conversion=conversion,
                exact=design.fraction_bits is None, nans=() if word is invalid else tuple(nans),
            )
        )  # fmt: skip
        return Carried(summed.result, word, made)

    def _without_c(self, addends: Sequence[Addend], invalid: Node) -> Carried:
        """The sum of a block's products, to which c is added last."""
        g, step = self.g, self.design.step
        if self.design.summation == "fused":
            with g.scope("products"):
                nans: Sequence[Nan] = ()
                if self.design.nan_rule != "word":
                    earlier, later = addends
                    with g.scope("first"):
                        word = first_nan(g, earlier.nans, invalid, self.d)
                    nans = step_nans(
                        self.design.nan_rule, later, Carried(earlier.number, word, earlier.operand)
                    )
                return self.sum(addends, self._partial, _RUNNING, invalid, nans)
        if self.design.summation == "pairwise":
            return self._tree(addends, invalid)
        if self.design.summation == "pair_chains":
            return self._pair_chains(addends, invalid)
        if self.design.summation == "two_chains":
            chains = []
            for chain, half in ((Operand("even"), addends[0::2]), (Operand("odd"), addends[1::2])):
                with g.scope(chain.kind):
                    zero = Carried(positive_zero(g, step.fraction_bits, step.e_min), invalid, Operand("zero"))
                    chains.append(self._accumulate(half, zero, chain, chain, self._partial))
            with g.scope("both"):
                nans = [carried_nan(x.operand.kind, x) for x in chains]
                return self.sum(chains, self._partial, _RUNNING, invalid, nans)
        first = Carried(addends[0].number, invalid, addends[0].operand)
        return self._accumulate(addends[1:], first, _RUNNING, _RUNNING, self._partial)

    def _pair_chains(self, addends: Sequence[Addend], invalid: Node) -> Carried:
        """Sums of neighbouring pairs, accumulated in two alternating chains."""
        g, step = self.g, self.design.step
        pairs = []
        for i in range(0, len(addends), 2):
            with g.scope(f"pair{i // 2}"):
                both = []
                for j, x in enumerate(addends[i : i + 2]):
                    with g.scope(f"product{j}"):
                        both.append(Carried(x.number, first_nan(g, x.nans, invalid, self.d), x.operand))
                made = Operand("tree", of=tuple(x.operand for x in both))
                nans = [carried_nan("product", x) for x in both]
                pairs.append(self.sum(both, self._partial, made, invalid, nans))
        chains = []
        for chain, sums in ((Operand("even"), pairs[0::2]), (Operand("odd"), pairs[1::2])):
            zero = positive_zero(g, step.fraction_bits, step.e_min)
            total = Carried(zero, invalid, Operand("zero"))
            for i, pair in enumerate(sums):
                with g.scope(f"{chain.kind}.step{i}"):
                    nans = [carried_nan("total", total), carried_nan("pair", pair)]
                    total = self.sum([total, pair], self._partial, chain, invalid, nans)
            chains.append(total)
        with g.scope("both"):
            nans = [carried_nan(x.operand.kind, x) for x in chains]
            return self.sum(chains, self._partial, _RUNNING, invalid, nans)

    def _accumulate(
        self, addends: Sequence[Addend], total: Carried, made: Operand, running: Operand, last: str
    ) -> Carried:
        """Add products one by one to a running total; `made` and `last` belong to the final step."""
        invalid = self._invalid()
        for i, x in enumerate(addends):
            final = i == len(addends) - 1
            with self.g.scope(f"step{i}"):
                nans = step_nans(self.design.nan_rule, x, total)
                total = self.sum(
                    [total, x], last if final else self._partial, made if final else running, invalid, nans
                )
        return total

    def rounded_product(self, i: int, x: Addend) -> Addend:
        """A product rounded by the design, number `i` in its block."""
        design = self.design
        with self.g.scope(f"product{i}"):
            done = convert_number(self.g, x.number, design, design.product_conversion)
            self.steps.append(
                DotStep(
                    scope=self.g.here, operands=(x.operand,), made=x.operand, total=None,
                    rounded=done.rounded, specials=done.specials, conversion=str(design.product_rounding),
                    exact=True,
                )
            )  # fmt: skip
        return Addend(done.result, x.nans, x.operand)

    def _tree(self, addends: Sequence[Addend], invalid: Node) -> Carried:
        """Pairwise summation; an odd element passes to the next level."""
        level, numbers = 0, [Carried(x.number, invalid, x.operand) for x in addends]
        while len(numbers) > 1:
            pairs = []
            for i in range(0, len(numbers) - 1, 2):
                both = numbers[i : i + 2]
                of = tuple(y for x in both for y in x.operand.of or (x.operand,))
                made = _RUNNING if len(of) == len(addends) else Operand("tree", of=of)
                with self.g.scope(f"level{level}.pair{i // 2}"):
                    pairs.append(self.sum(both, self._partial, made, invalid))
            numbers = pairs + numbers[2 * len(pairs) :]
            level += 1
        return numbers[0]

    def _rounded_down(self, addends: Sequence[Addend], c: Carried, made: Operand) -> Carried:
        """The sums of TR-FDPA and GTR-FDPA: all products or two halves, then with c."""
        g, design = self.g, self.design
        done = rounded_down_sum(g, [x.number for x in addends], c.number, design)
        chosen = {"products": (_RUNNING, addends), "even": (Operand("even"), addends[0::2])}
        chosen["odd"] = (Operand("odd"), addends[1::2])
        for scope, total in done.products:
            name, summands = chosen[scope]
            self.steps.append(self._truncated(f"{g.here}.{scope}", summands, name, total))
        self.steps.append(
            DotStep(
                scope=f"{g.here}.last", operands=(_RUNNING, c.operand), made=made, total=done.total,
                floor=done.floor, rounded=done.last.rounded, specials=done.last.specials,
                conversion=self._final, exact=False,
            )
        )  # fmt: skip
        return Carried(done.last.result, c.nan_word, made)

    def _after(self, addends: Sequence[Addend], c: Carried, made: Operand) -> Carried:
        """One truncated sum of the products, plus c untruncated, with one rounding."""
        g, design = self.g, self.design
        products = [x.number for x in addends]
        with g.invariants.suppose(lambda: finite(g, products)), g.scope("products"):
            first = truncated_total(
                g, [x.term for x in products], design, design.fraction_bits or 0, design.zero_exponent
            )
        self.steps.append(self._truncated(f"{g.here}.products", addends, _RUNNING, first))
        numbers = [*products, c.number]
        with g.invariants.suppose(lambda: finite(g, numbers)), g.scope("last"):
            whole = exact_total(g, [as_term(g, first), c.number.term], design.rho.read_bits)
        done = round_total(g, whole, numbers, design, design.rho)
        self.steps.append(
            DotStep(
                scope=f"{g.here}.last", operands=(_RUNNING, c.operand), made=made, total=whole,
                rounded=done.rounded, specials=done.specials, conversion=self._final, exact=True,
            )
        )  # fmt: skip
        return Carried(done.result, c.nan_word, made)

    def _framed(self, addends: Sequence[Addend], c: Carried, made: Operand) -> Carried:
        """A sum of products, or of group sums, with a differently aligned c."""
        g, design, invalid = self.g, self.design, self._invalid()
        numbers = [*(x.number for x in addends), c.number]
        nans = self._joined_nans(addends, c)
        word = first_nan(g, nans, invalid, self.d)
        with g.invariants.suppose(lambda: finite(g, numbers)):
            groups, total = framed_total(g, numbers[:-1], numbers[-1], design)
        operands: list[Operand] = [x.operand for x in addends]
        size = design.aligned_group or 1
        if groups:
            named = [Operand("tree", of=tuple(operands[i : i + size])) for i in range(0, len(operands), size)]
            for i, (name, part) in enumerate(zip(named, groups, strict=True)):
                self.steps.append(
                    self._truncated(f"{g.here}.group{i}", addends[i * size : (i + 1) * size], name, part)
                )
            operands = named
        twice = design.accumulator is not None
        first = replace(design, zero_sign="positive") if twice else design
        done = round_total(g, total, numbers, first, design.step)
        self.steps.append(
            DotStep(
                scope=g.here, operands=(*operands, c.operand), made=_RUNNING if twice else made, total=total,
                rounded=done.rounded, specials=done.specials,
                conversion=self._partial if twice else self._final, exact=False, nans=tuple(nans),
            )
        )  # fmt: skip
        result = done.result
        if twice:
            with g.scope("narrowed"):
                last = convert_number(g, result, design, design.rho)
                self.steps.append(
                    DotStep(
                        scope=g.here, operands=(_RUNNING,), made=made, total=None, rounded=last.rounded,
                        specials=last.specials, conversion=self._final, exact=True,
                    )
                )  # fmt: skip
            result = last.result
        return Carried(result, word, made)

    def _truncated(
        self, scope: str, summands: Sequence[Addend | Carried], made: Operand, total: Total
    ) -> DotStep:
        """A truncated sum that is passed on unrounded."""
        return DotStep(
            scope=scope, operands=tuple(x.operand for x in summands), made=made, total=total, rounded=None,
            specials=None, conversion=self._final, exact=False,
        )  # fmt: skip
