"""Summation trees: which products, and c, are added in which fused sum.

A tree is written `(0..3+c)`, or `p(q(0+1)+q(2+3)+c)` where sums have their own parameters: a number is the
product of that k, `c` the operand c, `z` a +0, and a name before a bracket is the sum's stage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn

from tcformal.checks import check_choice, shown
from tcformal.design.rounding import EXACT_SUM, MOST_BUILT, NAN_RULES
from tcformal.design.spec import Design
from tcformal.encodings.spec import Format
from tcformal.errors import InputError

Value = int | str | bool | None
#: Parameters that a stage may have of its own; all others are the unit's, in every stage.
STAGE_PARAMETERS = (
    "fraction_bits", "alignment_rounding", "conversion", "carry_bits", "accumulation", "zero_exponent",
    "normalise_products", "c_alignment_rounding", "c_bits", "second_fraction_bits", "normalised",
    "minus_one", "e_max_of",
)  # fmt: skip
#: Parameters of a design that a tree stands for, with the values that they then have.
PLAIN: dict[str, Value] = {
    "summation": "fused", "c_position": "joined", "order": "ascending", "accumulator": None, "group": None,
    "group_exponent": 0, "zero_group": "products",
    "sum_fraction_bits": None, "sum_rounding": "RD", "c_fraction_bits": None, "aligned_group": None,
    "lost_bits": "cut", "zero_words": "summed", "zero_terms": None, "exponent_step": 1,
    "vanished_c": "cut", "factor_nan_word": None,
    "piece_bits": None, "dropped_pieces": 0, "nan_rule": "word",
}  # fmt: skip

#: All but the one that asks for products in pairs.
TREE_NAN_RULES = tuple(x for x in NAN_RULES if x != "products_c")

_MOST_PRODUCTS = MOST_BUILT
#: Sums that lie in each other, at most.
MOST_LEVELS = _MOST_PRODUCTS + 2
#: Digits of the k of a product, at most.
_MOST_DIGITS = 9
_OPERANDS = {"c": "c", "z": "zero"}
_TOKEN = re.compile(r"\s*(?:(?P<run>[0-9]+(?:\.\.[0-9]+)?)|(?P<word>[a-z][a-z0-9_]*)|(?P<mark>[()+]))\s*")


@dataclass(frozen=True, slots=True, repr=False)
class Step:
    """One fused sum: a node of a summation tree.

    Shapes: one or more children, no two of them the same; a sum does not depend on their order, so that they
    are kept sorted: products by k, inner sums by their least k, c, a +0.  At most 258 sums lie in each other:
    a chain of 256 products, an outer sum and one to spare.
    Errors: InputError for anything else than products, `c`, `zero` and inner sums, and for deeper ones.
    """

    children: tuple[int | str | Step, ...] = field(compare=False)
    #: The name of the parameters that this sum has; empty for the unit's own.
    stage: str = field(default="", compare=False)
    #: How it is written: two sums that are written alike are one.
    text: str = field(init=False)
    #: How many sums lie in each other, this one with them; the least k of its products.
    depth: int = field(init=False, compare=False)
    least: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if not self.children:
            raise InputError("expected at least one child of a step, but got none")
        for child in self.children:
            if not isinstance(child, Step) and child not in ("c", "zero") and not _is_product(child):
                raise InputError(
                    f"expected a k, 'c', 'zero' or a Step as child of a step, but got {shown(child)}"
                )
        if self.stage in _OPERANDS or not re.fullmatch(r"([a-z][a-z0-9_]*)?", self.stage):
            raise InputError(
                f"expected a stage named by small letters, not c or z, but got {shown(self.stage)}"
            )
        inner = [child for child in self.children if isinstance(child, Step)]
        depth = 1 + max((x.depth for x in inner), default=0)
        if depth > MOST_LEVELS:
            raise InputError(f"expected at most {MOST_LEVELS} sums in each other in a tree, but got more")
        ks = sorted(child for child in self.children if isinstance(child, int))
        object.__setattr__(self, "children", tuple(sorted(self.children, key=_rank)))
        object.__setattr__(self, "depth", depth)
        least = min([*ks[:1], *(x.least for x in inner)], default=_MOST_PRODUCTS)
        object.__setattr__(self, "least", least)
        object.__setattr__(self, "text", self._written(ks))

    def products(self) -> Iterator[int]:
        """The k of every product in this subtree."""
        return (child for step in self.steps() for child in step.children if isinstance(child, int))

    def splits(self, other: Step | None) -> bool:
        """Whether each sum of another tree has the products of one of this tree's; that of None does."""
        sums = {frozenset(x.products()) for x in self.steps()}
        return other is None or all(frozenset(x.products()) in sums for x in other.steps())

    def steps(self) -> Iterator[Step]:
        """All sums of this subtree in postorder."""
        sums, left = [], [self]
        while left:
            sums.append(step := left.pop())
            left += (child for child in step.children if isinstance(child, Step))
        return reversed(sums)

    @property
    def c_place(self) -> int | None:
        """The place of c among the operands, or of the only inner sum beside products, which is their c."""
        if "c" in self.children:
            return self.children.index("c")
        sums = [i for i, child in enumerate(self.children) if isinstance(child, Step)]
        products = any(isinstance(child, int) for child in self.children)
        return sums[0] if products and len(sums) == 1 else None

    def _written(self, ks: list[int]) -> str:
        parts: list[str] = []
        while ks:
            length = next((i for i, k in enumerate(ks) if k != ks[0] + i), len(ks))
            parts += [f"{ks[0]}..{ks[length - 1]}"] if length > 2 else map(str, ks[:length])
            ks = ks[length:]
        short = {name: text for text, name in _OPERANDS.items()}
        parts += [short[x] if isinstance(x, str) else str(x) for x in self.children if not isinstance(x, int)]
        return f"{self.stage}({'+'.join(parts)})"

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Step {self.text}>"

    def __reduce__(self) -> tuple[object, ...]:
        return read_steps, (self.text,)


@dataclass(frozen=True, slots=True)
class Tree:
    """The summation tree of one call, with the parameters of its stages.

    Shapes: the products of k = 0, 1, … once each, at most 256 of them, and c at most once.
    Errors: InputError for other products, for parameters of a stage that no sum names, and for a NaN rule
    beside a sum of several products, whose NaNs no source puts in an order.
    """

    root: Step
    #: (stage, parameter, value), sorted: what differs from the unit's design.
    settings: tuple[tuple[str, str, Value], ...] = ()
    #: Each A and B element is first converted to this format, exactly; None: they are taken as they are.
    converted: Format | None = None
    #: As the nan_rule of a design: each sum returns the first NaN of its product's factors and of the running
    #: sum, which stands for c, then for inner sums by their least k.
    nan_rule: str = "word"

    def __post_init__(self) -> None:
        ks = sorted(self.root.products())
        if not ks or ks != list(range(len(ks))) or len(ks) > _MOST_PRODUCTS:
            raise InputError(
                f"expected the products 0, 1, … once each in a tree, at most {_MOST_PRODUCTS}, "
                f"but got {shown(self.root.text)}"
            )
        if sum(step.children.count("c") for step in self.root.steps()) > 1:
            raise InputError(f"expected c at most once in a tree, but got {shown(self.root.text)}")
        named = dict.fromkeys(step.stage for step in self.root.steps() if step.stage)
        for stage, name, _ in self.settings:
            if stage not in named:
                raise InputError(f"expected a stage of {self.root}, but got {stage!r}")
            check_choice("parameter of a stage", name, STAGE_PARAMETERS)
        check_choice("nan_rule", self.nan_rule, TREE_NAN_RULES)
        for step in self.root.steps() if self.nan_rule != "word" else ():
            if sum(isinstance(x, int) for x in step.children) > 1:
                raise InputError(
                    f"expected sums of at most one product for nan_rule={self.nan_rule}, but got {step}"
                )
        object.__setattr__(self, "settings", tuple(sorted(self.settings, key=lambda x: x[:2])))

    @property
    def k(self) -> int:
        """The number of products per call."""
        return sum(1 for _ in self.root.products())

    @property
    def stages(self) -> dict[str, dict[str, Value]]:
        """The overridden parameters of each stage; every stage of a sum is present."""
        rows: dict[str, dict[str, Value]] = {step.stage: {} for step in self.root.steps()}
        for stage, name, value in self.settings:
            rows[stage][name] = value
        return rows


def tree(root: Step, stages: Mapping[str, Mapping[str, Value]] | None = None) -> Tree:
    """Build a tree from its root and the parameters of its stages."""
    rows = [(stage, name, value) for stage, row in (stages or {}).items() for name, value in row.items()]
    return Tree(root, tuple(rows))


def stage_designs(made: Tree, design: Design) -> dict[str, Design]:
    """The design of each stage of a tree, by stage; an exact sum has no alignment.

    Errors: InputError for parameters that mean nothing together, or orders of summation beside the tree's.
    """
    for name, value in PLAIN.items():
        if getattr(design, name) != value:
            raise InputError(f"expected {name}={value} beside a tree, but got {getattr(design, name)}")
    designs = {}
    for stage, given in made.stages.items():
        exact = given.get("fraction_bits", design.fraction_bits) is None
        try:
            designs[stage] = replace(design, **{**(EXACT_SUM if exact else {}), **given})  # type: ignore[arg-type]
        except InputError as error:
            raise InputError(f"{error} (in stage {stage})") from None
    return designs


def read_steps(text: str) -> Step:
    """Parse `(0..3+c)` into the root of a tree; InputError for invalid text."""
    return _Reader(text).whole()


class _Reader:
    """A parser of a tree's text."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def whole(self) -> Step:
        """Parse the root, with a stack of open sums."""
        opened = [self._opened(self._take("word") or "")]
        while True:
            stage, children = opened[-1]
            word = self._take("word") if (run := self._take("run")) is None else None
            if run is not None:
                children += self._products(run)
            elif word in _OPERANDS:
                children.append(_OPERANDS[word])
            else:
                opened.append(self._opened(word or ""))
                if len(opened) > MOST_LEVELS:
                    raise InputError(
                        f"expected at most {MOST_LEVELS} sums in each other for steps, but got "
                        f"{shown(self.text)}"
                    )
                continue
            while (mark := self._take("mark")) == ")":
                stage, children = opened.pop()
                made = Step(tuple(children), stage)
                if not opened:
                    if self.at != len(self.text):
                        self._refuse()
                    return made
                opened[-1][1].append(made)
            if mark != "+":
                self._refuse()

    def _opened(self, stage: str) -> tuple[str, list[int | str | Step]]:
        if self._take("mark") != "(":
            self._refuse()
        return stage, []

    def _products(self, run: str) -> range:
        first, _, last = run.partition("..")
        low, high = (int(text) if len(text) <= _MOST_DIGITS else -1 for text in (first, last or first))
        if not 0 <= low <= high < low + _MOST_PRODUCTS:
            raise InputError(
                f"expected at most {_MOST_PRODUCTS} products such as 2..5 for steps, but got {shown(run)}"
            )
        return range(low, high + 1)

    def _take(self, kind: str) -> str | None:
        """Consume the next token if it is of this kind."""
        token = _TOKEN.match(self.text, self.at)
        if token is None or token[kind] is None:
            return None
        self.at = token.end()
        return str(token[kind])

    def _refuse(self) -> NoReturn:
        rest = self.text[self.at :] or "the end"
        raise InputError(
            f"expected a tree of sums such as p(q(0+1)+q(2..5)+c) for steps, but got {rest!r:.60}"
        )


def _is_product(child: object) -> bool:
    return isinstance(child, int) and not isinstance(child, bool) and child >= 0


def _rank(child: int | str | Step) -> tuple[int, int, str]:
    """The sort key of a sum's children: products, inner sums, c, +0."""
    if isinstance(child, Step):
        return 1, child.least, child.text
    return (0, child, "") if isinstance(child, int) else (2, 0, child)
