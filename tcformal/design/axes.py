"""Axes of the design space: the values that each parameter can take, and the designs nearby.

`suite --vary`, `probe compare`, `compare` and `identify` all take their values from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tcformal.design.catalog import distinct_designs
from tcformal.design.names import resolve
from tcformal.design.rounding import (
    ACCUMULATIONS,
    ALIGNMENTS,
    C_SUBNORMALS,
    E_MAX_OF,
    LOST_BITS,
    MODES,
    MOST_RANDOM_BITS,
    NAN_RULES,
    NEAREST,
    NEGATED,
    ORDERS,
    OVERFLOWS,
    RESULT_SUBNORMALS,
    SUBNORMALS,
    SUM_ROUNDINGS_OF,
    VANISHED,
    ZERO_GROUPS,
    ZERO_SIGNS,
    ZERO_WORDS,
    random_word,
)
from tcformal.design.unit import UnitSpec, same_formats, takes
from tcformal.errors import InputError

#: Fraction bits that a variation goes through unless the caller says otherwise: [XIE F] has those from 10 on,
#: sums of products of eight bits can keep fewer.
FRACTION_BITS = range(2, 41)
#: Exponents of zero terms that the sources name, by the exponent bits of D, beside a unit's own.
_ZERO_EXPONENTS = {5: (-21, -20, -19, -14), 8: (-139, -133, -132, -131, -126)}
#: Steps to the numbers near one, and to exponents of zero terms.
_NEAR, _BELOW_ZERO = (-2, -1, 1, 2), (-6, -2, -1, 0, 1, 2, 6, 16)
#: Shapes that partial sums and rounded products can have.
_PARTIAL = ("FP32", "FP16", "BF16", "E8M10", "E8M13")
#: Fraction bits of tf32, and to which aligned terms may be cut once more; parameters that count such bits.
_TF32_BITS, _SECOND, _OWN_BITS = 10, (7, 10, 23), ("c_bits", "second_fraction_bits")
#: Parameters of which a neighbour has a number near.
_BITS = ("fraction_bits", "sum_fraction_bits")

#: A variation: parameters as `name=value,…`.
Settings = str


def altered(base: UnitSpec, settings: Settings) -> str:
    """The name of a unit with parameters set; parameters already in its name are replaced."""
    unit, _, text = base.name.partition("@")
    pairs = [item.partition("=") for item in [*text.split(","), *settings.split(",")] if item]
    merged = {name.strip(): value.strip() for name, _, value in pairs}
    return "@".join([unit, ",".join(f"{name}={value}" for name, value in merged.items())]) if merged else unit


def axes(unit: UnitSpec) -> dict[str, tuple[Settings, ...]]:
    """The values that each parameter of a unit can take, by parameter; some have no effect on the unit."""
    return {name: tuple(f"{name}={value}" for value in row) for name, row in axis_values(unit).items()}


def changed(unit: UnitSpec, values: dict[str, Iterable[object]]) -> Iterator[UnitSpec]:
    """All units that differ from a unit in one parameter, among the given values."""
    if unit.emulation is not None:
        return
    for name, row in values.items():
        for value in row:
            try:
                neighbour = resolve(altered(unit, f"{name}={value}"))
            except InputError:
                continue  # a combination that means nothing
            if neighbour.design != unit.design:
                yield neighbour


def neighbours(unit: UnitSpec) -> Iterator[UnitSpec]:
    """All units that differ from a unit in one parameter of its axes; fraction bits stay near."""
    values = axis_values(unit)
    for name in _BITS:
        own = getattr(unit.design, name)
        values[name] = [x for x in values.get(name, ()) if not isinstance(x, int) or x in around(own)]
    yield from changed(unit, values)


def rivals(spec: UnitSpec, k: int) -> list[UnitSpec]:
    """The unit, its neighbours, and one unit per catalogued design of its formats.

    Each definition once: the unit itself first.
    """
    kept: dict[tuple[object, ...], UnitSpec] = {}
    for u in (spec, *neighbours(spec), *catalogued_rivals(spec, k)):
        if takes(u, k):
            kept.setdefault(computed(u, k), u)
    return list(kept.values())


def catalogued_rivals(spec: UnitSpec, k: int) -> list[UnitSpec]:
    """One unit per catalogued design that computes dot products of `k` terms in the unit's formats."""
    return [resolve(name) for name in distinct_designs(lambda u: same_formats(u, spec) and takes(u, k))]


def computed(u: UnitSpec, k: int) -> tuple[object, ...]:
    """A hashable key of the computation of `k`-term dot products: equal keys give equal results.

    Calls are filled up with products 0·0, which may make a -0 a +0.
    """
    return u.design, min(u.k, u.design.products), u.emulation, u.tree, -(-k // u.k) * u.k


def around(value: int | str | None, steps: Iterable[int] = _NEAR) -> list[int]:
    """The integers near a value; none for a parameter that is not numeric."""
    return [value + step for step in steps] if isinstance(value, int) else []


def nan_words(unit: UnitSpec) -> list[str]:
    """The default NaNs of IEEE, x86 and NVIDIA in the unit's D format."""
    d = unit.operands.d
    quiet = d.infinity | 1 << (d.fraction_bits - 1)
    return [f"{word:#x}" for word in (quiet, quiet | 1 << (d.width - 1), (1 << (d.width - 1)) - 1)]


def other_shapes(shape: str) -> list[str]:
    """The alternative shape of fp32 results: FP32 or E8M13."""
    return {"FP32": ["E8M13"], "E8M13": ["FP32"]}.get(shape, [])


def axis_values(unit: UnitSpec) -> dict[str, Iterable[object]]:
    """The values that each parameter of a unit can take, by parameter; some have no effect on the unit."""
    d = unit.design
    if unit.operands.d.integer:
        return _of_integers(unit)
    length = min(unit.k, d.products)
    cut = f"sum_fraction_bits={max(31, d.fraction_bits or 0)},zero_exponent=none"
    zeros = {*_ZERO_EXPONENTS.get(unit.operands.d.exponent_bits, ()), *around(d.zero_exponent, _BELOW_ZERO)}
    if d.e_max_of == "products":
        # Below all terms, so that products that vanish leave c as it is.
        of_products = unit.a_format.least_exponent + unit.b_format.least_exponent
        zeros.add(min(of_products, unit.c_format.least_exponent))
    mode, _, shape = d.conversion.partition("-")
    # An exact sum is that of the products, however these are cut into pieces.
    pieces = () if d.fraction_bits is None else (8,) if d.piece_bits is None else around(d.piece_bits)
    longest = max(fmt.fraction_bits + 1 for fmt in (unit.operands.a, unit.operands.b))
    pairs = [n for n in (1, 2, 4, 8) if length % n == 0]
    bits = sorted({*FRACTION_BITS, *around(d.fraction_bits)})
    return {
        "conversion": (*_modes(d.conversion), *(f"{mode}-{other}" for other in other_shapes(shape))),
        "accumulator": _modes(d.accumulator),
        "rounding": MODES if d.accumulator is not None else (),
        "product_rounding": ("none", *_modes(d.product_rounding or f"RNE-{unit.operands.d.name.upper()}")),
        "alignment_rounding": MODES if d.alignment_rounding in MODES else ALIGNMENTS,
        "fraction_bits": ("exact", *bits),
        "products": [n for n in (1 << i for i in range(9)) if n <= unit.k and unit.k % n == 0],
        "sum_fraction_bits": () if d.sum_fraction_bits is None else FRACTION_BITS,
        "sum_rounding": SUM_ROUNDINGS_OF.get(d.summation, ()),
        "accumulation": ACCUMULATIONS,
        "c_fraction_bits": ("none", *around(d.c_fraction_bits)),
        "aligned_group": ("none", *(() if d.c_fraction_bits is None else pairs)),
        "vanished_c": () if d.c_fraction_bits is None else VANISHED,
        "carry_bits": ("exact", *range(1, max(8, length.bit_length() + 4))),
        "zero_exponent": ("own", "none", *sorted(zeros)),
        "c_position": ("joined", "first", "last", "after"),
        "summation": (
            "fused", "fused,c_position=last", "sequential", "sequential,c_position=last", "pairwise",
            "two_chains", "pair_chains", f"tr,{cut}", f"gtr,{cut}",
        ),
        "normalise_products": ("false", "true"),
        "normalise_operands": ("false", "true"),
        "piece_bits": ("none", *(x for x in pieces if x < longest)),
        "dropped_pieces": () if d.piece_bits is None else range(3),
        "exponent_step": () if d.lost_bits != "halves" else (1, 2, 4),
        "order": ORDERS,
        "negated": NEGATED[:2],
        "lost_bits": () if d.lost_bits == "cut" else LOST_BITS,
        "zero_words": () if d.zero_words == "summed" else ZERO_WORDS,
        "zero_terms": () if d.lost_bits == "cut" else ("none", *around(d.zero_terms, (-1, 1))),
        **{name: () if (own := getattr(d, name)) is None else ("none", *around(own)) for name in _OWN_BITS},
        "c_alignment_rounding": () if d.c_alignment_rounding is None else ("none", *ALIGNMENTS),
        "e_max_of": () if d.e_max_of == "terms" else E_MAX_OF,
        "group_exponent": around(d.group_exponent) if d.group_exponent else (),
        "zero_group": () if d.zero_group == "products" else ZERO_GROUPS,
        "operand_rounding": () if d.operand_rounding is None else ("none", *_modes(d.operand_rounding)),
        "operand_subnormals": SUBNORMALS,
        "b_subnormals": () if d.b_subnormals is None else ("none", *SUBNORMALS),
        "c_subnormals": C_SUBNORMALS if d.lost_bits == "sticky" else SUBNORMALS,
        "result_subnormals": RESULT_SUBNORMALS,
        "zero_sign": ZERO_SIGNS,
        "overflow": OVERFLOWS[:2],
        "nan_rule": NAN_RULES,
        "nan_word": nan_words(unit),
    }  # fmt: skip


def _of_integers(unit: UnitSpec) -> dict[str, Iterable[object]]:
    """The parameters of a unit of integers: what overflows, and where sums are cut or saturate on the way."""
    d, name = unit.design, unit.operands.d.name.upper()
    orders = "sequential,c_position=first", "fused,c_position=last"
    steps = (f"{order},accumulator={d.conversion}" for order in orders)
    return {
        "conversion": (f"WRAP-{name}", f"SAT-{name}"),
        "products": [n for n in (1 << i for i in range(9)) if n <= unit.k and unit.k % n == 0],
        "summation": ("fused", *steps),
    }


def rare_values(unit: UnitSpec) -> dict[str, Iterable[object]]:
    """Additional axis values that few catalogued designs have, or none."""
    if unit.operands.d.integer:
        return {}
    d, f = unit.design, unit.design.fraction_bits
    precise = unit.operands.a.fraction_bits > _TF32_BITS
    return {
        "alignment_rounding": ALIGNMENTS,
        "c_alignment_rounding": ALIGNMENTS,
        "e_max_of": E_MAX_OF,
        "c_bits": around(f),
        "second_fraction_bits": [x for x in _SECOND if f is not None and x < f],
        # The 19 bits of tf32 in words of fp32.
        "operand_rounding": [f"{mode}-E8M{_TF32_BITS}" for mode in ("RZ", *NEAREST)] if precise else (),
        "overflow": OVERFLOWS,
        "negated": NEGATED,
        "b_subnormals": SUBNORMALS,
        "accumulator": [f"{mode}-{shape}" for shape in _PARTIAL for mode in MODES] if d.accumulator else (),
        "product_rounding": [f"{mode}-{shape}" for shape in _PARTIAL for mode in MODES],
        "product_limit": ("none", 128, unit.operands.d.e_max + 1),
    }


def words_near(mode: str) -> list[str]:
    """A stochastic rounding with the words beside its own, of as many random bits and of one more.

    Examples:
        >>> words_near("SR3+7")
        ['SR3+6', 'SR3+7', 'SR4+13', 'SR4+14', 'SR4+15']
    """
    bits, word = random_word(mode) or (0, None)
    if word is None:
        return []
    of = ((bits, (word - 1, word, word + 1)), (bits + 1, (2 * word - 1, 2 * word, 2 * word + 1)))
    return [f"SR{n}+{w}" for n, near in of for w in near if 0 <= w < 1 << n and n <= MOST_RANDOM_BITS]


def _modes(text: str | None) -> tuple[str, ...]:
    """The conversions of one shape in every rounding mode, and those that add a word near to its own."""
    if text is None:
        return ()
    own, _, shape = text.partition("-")
    return tuple(f"{mode}-{shape}" for mode in (*MODES, *words_near(own)))
