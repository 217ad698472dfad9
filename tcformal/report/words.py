"""A design in words: its order, and what is kept, cut or flushed; apart, for use without identifications."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tcformal.design.rounding import random_word
from tcformal.design.spec import Design
from tcformal.design.trees.arrangements import tree_of
from tcformal.design.trees.tree import Step, read_steps, stage_designs
from tcformal.design.unit import UnitSpec

_ROUNDED = {
    "RNE": "rounded to", "RNA": "rounded (half away from zero) to", "RZ": "cut to", "RD": "rounded down to",
    "RU": "rounded up to", "RO": "rounded to odd in", "WRAP": "wrapped to", "SAT": "saturated to",
}  # fmt: skip
_CUT = {
    "RZ": "cut toward zero", "RNE": "rounded to nearest", "RNA": "rounded half away from zero",
    "RD": "rounded down", "RU": "rounded up", "RO": "rounded to odd",
}  # fmt: skip
#: How shapes begin that formats are named by.
_NAMED = ("FP", "BF", "IN", "UI")
#: Parts of an order from which on it is no pattern of equal ones.
_TWO = 2


def in_words(unit: UnitSpec, k: int) -> str:
    """What a unit does with k products, in one clause; its name where its sums are no tree.

    Examples:
        >>> from tcformal.design.names import resolve
        >>> in_words(resolve("turing/mma.m16n8k8.f32.f16.f16.f32"), 16)
        'k in steps of 8, each one sum of 8 products and the sum so far, 24 fraction bits, cut toward zero;
        results cut to fp32'
    """
    made = unit
    if unit.tree is None:
        found = tree_of(unit, k) if unit.k <= k and not k % unit.k else None
        if found is None:
            return unit.name
        made = found
    assert made.tree is not None
    designs = stage_designs(made.tree, made.design)
    root = made.tree.root
    outer = designs[root.stage]
    parts = [f"{_order(_plain(root))}{_kept(designs, root)}", *_rounding(designs, root, outer)]
    return "; ".join([*parts, *_others(made)])


def order_in_words(steps: str) -> str:
    """An order of sums as it is written in brackets, in words.

    Examples:
        >>> order_in_words("(3+(2+(1+(0+c))))")
        'products added one by one to c'
    """
    return _order(_plain(read_steps(steps)))


# ------------------------------------------------------------------ the order
def _plain(step: Step) -> Step:
    """The sums without the names of their stages and without +0, a sum of one part as that part."""
    children = tuple(_plain(x) if isinstance(x, Step) else x for x in step.children if x != "zero")
    if len(children) == 1 and isinstance(children[0], Step):
        return children[0]
    return Step(tuple(x.children[0] if isinstance(x, Step) and len(x.children) == 1 else x for x in children))


def _order(root: Step) -> str:
    """Which sums there are."""
    inner = [x for x in root.children if isinstance(x, Step)]
    own = [x for x in root.children if isinstance(x, int)]
    has_c = "c" in root.children
    if not inner:
        return _terms(own, "c" if has_c else "")
    if text := _chain(root):
        return text
    if has_c and len(inner) == 1 and not own:
        return f"{_order(inner[0])}, then c"
    if text := _lanes(root):
        return text
    sizes = {len([*x.products()]) for x in inner}
    if not own and len(sizes) == 1 and all(not _inner(x) for x in inner):
        return f"sums of {_group(inner)}, added{' with c' if has_c else ''} in one sum"
    return f"the sums {root}"


def _terms(products: Sequence[int], more: str) -> str:
    count = len(products)
    if count == 1:
        return "one product" + (f" added to {more}" if more else "")
    return f"one sum of {count} products" + (f" and {more}" if more else "")


def _chain(root: Step) -> str:
    """Steps of equally many products, each with the sum so far; empty for another order."""
    steps: list[list[int]] = []
    at: Step | None = root
    start = ""
    while at is not None:
        inner = [x for x in at.children if isinstance(x, Step)]
        own = [x for x in at.children if isinstance(x, int)]
        if len(inner) > 1 or not own or (inner and "c" in at.children):
            return ""
        if not inner:
            start = "c" if "c" in at.children else ""
        steps.append(own)
        at = inner[0] if inner else None
    steps.reverse()
    n = len(steps[-1])
    if not start and n == 1 and len(steps[0]) == _TWO:
        steps[:1] = [[x] for x in steps[0]]
    if {len(x) for x in steps} != {n}:
        return ""
    firsts = [x[0] for x in steps]
    if any(x != list(range(x[0], x[0] + n)) for x in steps):
        return ""
    strides = {y - x for x, y in pairwise(firsts)}
    if len(strides) != 1:
        return ""
    stride = strides.pop()
    begins = "" if start else " from 0"
    back = " from the last to the first" if stride < 0 else ""
    if n == 1:
        every = "" if abs(stride) == 1 else f", every {abs(stride)}th k"
        return f"products added one by one to {start or 'the first'}{back}{every}"
    return f"k in steps of {n}{back}{begins}, each one sum of {n} products and the sum so far"


def _lanes(root: Step) -> str:
    """Equal lanes that are folded in pairs, with c or without; empty for another order."""
    has_c = "c" in root.children
    folded: list[Step | int] = [x for x in root.children if isinstance(x, Step | int)]
    levels = 0
    lanes: list[Step | int] = folded
    while len(lanes) > 1 and all(isinstance(x, Step) and _folds(x) for x in lanes):
        lanes = [y for x in lanes if isinstance(x, Step) for y in x.children if isinstance(y, Step | int)]
        levels += 1
    if len(folded) != _TWO:
        return ""
    sets = [[x] if isinstance(x, int) else sorted(x.products()) for x in lanes]
    n = len(lanes)
    if n < _TWO or len({len(x) for x in sets}) != 1 or n & (n - 1):
        return ""
    heads = [x[0] for x in sets]
    ascending = heads == sorted(heads)
    how = "folded in pairs of neighbours" if ascending else "folded by halves" if _by_halves(heads) else ""
    if not how:
        return ""
    more = " and c" if has_c else ""
    if len(sets[0]) == 1:
        return f"products {how}{more}"
    inner = next(x for x in lanes if isinstance(x, Step))
    stride = sets[0][1] - sets[0][0]
    where = f" (k mod {n})" if stride == n else ""
    each = _order(_relabelled(inner)).removesuffix(" to the first")
    each = each if each.startswith("one ") else f"with its {each}"
    how = "then added" if n == _TWO else how
    return f"{n} lanes{where}, each {each}, {how}{more}"


def _folds(step: Step) -> bool:
    """Whether a sum is one of two inner sums, or of two products where all are."""
    children = step.children
    return len(children) == _TWO and (
        all(isinstance(x, Step) for x in children) or all(isinstance(x, int) for x in children)
    )


def _by_halves(heads: Sequence[int]) -> bool:
    """Whether heads stand in the order in which i meets i + n/2, then the sums meet likewise."""
    order = sorted(heads)
    ranks = [order.index(x) for x in heads]
    n = len(ranks)

    def halves(items: list[int]) -> list[int]:
        if len(items) == 1:
            return items
        return halves(items[::2]) + halves(items[1::2])

    return ranks == halves(list(range(n)))


def _relabelled(step: Step) -> Step:
    """A lane with its products numbered from 0."""
    place = {x: i for i, x in enumerate(sorted(step.products()))}

    def made(x: Step) -> Step:
        numbers = (place[y] if isinstance(y, int) else y for y in x.children)
        return Step(tuple(made(y) if isinstance(y, Step) else y for y in numbers))

    return made(step)


def _group(inner: Sequence[Step]) -> str:
    """What the products of equal inner sums are, in words."""
    ks = [sorted(x.products()) for x in inner]
    n = len(ks[0])
    if all(x == list(range(x[0], x[0] + n)) for x in ks):
        return f"{n} neighbouring products each"
    stride = ks[0][1] - ks[0][0] if n > 1 else 1
    return f"{n} products each, every {stride}th k"


def _inner(step: Step) -> bool:
    return any(isinstance(x, Step) for x in step.children)


# ------------------------------------------------------------------ what sums keep
def _kept(designs: dict[str, Design], root: Step) -> str:
    """The fraction bits of sums that cut terms off."""
    texts = []
    for stage in dict.fromkeys(step.stage for step in root.steps()):
        d = designs[stage]
        if d.fraction_bits is not None:
            which = "" if len(designs) == 1 else _which(root, stage)
            below = " below the largest product" if d.e_max_of == "products" else ""
            of_c = "" if d.c_bits is None else f" ({d.c_bits} of c)"
            texts.append(f"{which}{d.fraction_bits} fraction bits{of_c}{below}, {_CUT[d.alignment_rounding]}")
    return "".join(f", {x}" for x in texts)


def _which(root: Step, stage: str) -> str:
    if root.stage == stage:
        return "in the last sum "
    steps = [step for step in root.steps() if step.stage == stage]
    products = any(isinstance(x, int) for step in steps for x in step.children)
    return "in sums of products " if products else "in sums of sums "


def _rounding(designs: dict[str, Design], root: Step, outer: Design) -> list[str]:
    """What products, partial sums and results are rounded to."""
    made = []
    if outer.product_rounding is not None:
        made.append(f"products {_to(outer.product_rounding)}")
    last = outer.conversion
    inner = {s.stage: designs[s.stage].conversion for s in root.steps() if s is not root}
    texts = dict.fromkeys(inner.values())
    if len(texts) == 1 and (only := next(iter(texts))) != last:
        made.append(f"partial sums {_to(only)}")
    elif len(texts) > 1:
        made += [f"{_which(root, stage)[3:]}{_to(text)}" for stage, text in inner.items() if text != last]
    made.append(f"{'results' if [*texts] == [last] else 'the result'} {_to(last)}")
    return made


def _to(text: str) -> str:
    mode, _, shape = text.partition("-")
    shape, _, limit = shape.partition(":")
    end = f", infinite from 2^{limit} on" if limit else ""
    random = random_word(mode)
    rounded = _ROUNDED.get(mode, "") if random is None else _stochastic(*random)
    return f"{rounded} {shape.lower() if shape[:2] in _NAMED else shape}{end}"


def _stochastic(bits: int, word: int | None) -> str:
    added = "random bits" if word is None else f"bits that are {word}"
    return f"rounded stochastically ({bits} {added}) to"


def _others(unit: UnitSpec) -> list[str]:
    """Subtracted products, flushed subnormals and saturated results."""
    d, wide = unit.design, None if unit.tree is None else unit.tree.converted
    made = [] if d.operand_rounding is None else [f"a and b {_to(d.operand_rounding)} first"]
    if d.negated != "none":
        which = {"odd": "products of odd k", "even": "products of even k", "all": "all products"}[d.negated]
        made.append(f"{which} subtracted")
    of_b = d.operand_subnormals if d.b_subnormals is None else d.b_subnormals
    rules = ("a", d.operand_subnormals, unit.a_format), ("b", of_b, unit.b_format)
    names = [
        name
        for name, rule, fmt in rules
        # Of operands that are converted first, those that are subnormal then.
        if rule not in ("kept", "hidden_bit") and (wide is None or fmt.least_exponent < wide.e_min)
    ]
    names += ["c"] if d.c_subnormals not in ("kept", "hidden_bit") else []
    if d.result_subnormals != "kept":
        names.append("results")
    if names:
        last = names.pop()
        made.append(f"subnormal {', '.join(names)}{' and ' if names else ''}{last} taken as zero")
    if d.overflow == "largest":
        made.append("too large results are the largest number")
    return made
