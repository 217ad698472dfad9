"""A recipe of a matrix product as data, each field with its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from tcformal.checks import check_choice, check_int, shown
from tcformal.design.unit import Evidence, Fact
from tcformal.encodings.catalog import format_named
from tcformal.errors import InputError

#: What a field that is a text may be.
CHOICES: dict[str, tuple[str, ...]] = {
    "grain_unit": ("products", "bytes"), "residue": ("last", "first"), "tail": ("kept", "dropped"),
    "promotion_scales": ("none", "product", "chained"), "scales_of": ("own", "first-part"),
    "start": ("first", "zero"), "merge": ("workspace", "halves", "tree", "serial"),
    "c_place": ("epilogue", "accumulator"),
    "fused": ("sum", "c", "none"),
}  # fmt: skip
#: Fields that name a format, or the format of the unit's result, or that of the product.
_FORMATS = {"operands": ("given",), "partials": ("accumulator", "output"), "output": ("accumulator",)}
_LARGEST = 1 << 30
_NO_PARAMETERS = ("name", "title", "units", "facts", "notes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A recipe: how calls of a unit are combined into D = alpha·A·B + beta·C + bias.

    Ranges and units: counts of products along K, unless a field says otherwise; 0 where there is none.
    Errors: InputError for a field that does not fit, or fields that do not fit together.
    Source: `facts`, one for each field.
    """

    name: str
    title: str
    #: Which units the sources use it with, in words.
    units: str = ""
    #: A and B are in the unit's formats, or in this one and are first rounded to them, to nearest.
    operands: str = "given"
    #: K is cut into so many parts at most, each of ⌈K / splits⌉ rounded up to whole grains; the last one
    #: takes the rest.  `grain_unit` bytes: of A's elements.  Where the grain does not divide K,
    #: `ragged_grain` takes its place.
    splits: int = 1
    grain: int = 1
    ragged_grain: int = 0
    grain_unit: str = "products"
    #: The parts take tiles of k in turn: part p takes the tiles p, p + splits, ….
    turns: bool = False
    #: Products of a tile of k, 0 where nothing depends on it.
    tile: int = 0
    #: The tile that is not full is a part's last one, or its first.
    residue: str = "last"
    #: Deterministic stream-K: the tiles of D, row by row, with all their tiles of k, are shared out evenly
    #: among so many workers; `tile_m` and `tile_n` are the rows and columns of a tile of D.
    stream: int = 0
    tile_m: int = 0
    tile_n: int = 0
    #: An accumulator takes so many products, then it is added to a sum in the accumulator's format and begins
    #: again at zero; the first one may take another number.
    promotion: int = 0
    first_promotion: int = 0
    #: Promoted sums are multiplied by scales of A's rows and of B's columns, one for each `promotion`
    #: products: by their rounded product in one fused multiply–add, or by A's, rounded, then by B's in one.
    promotion_scales: str = "none"
    #: Whether sums of promoted accumulators and of parts begin with the first one or add it to zero.
    start: str = "first"
    #: Parts are added up, in ascending order, in the accumulator's format; or with `halves` those of the
    #: second half to those of the first, then these sums, in ascending order, to the last part, which stayed
    #: out; or with `tree` those of the second half to those of the first, and so on until one is left; or
    #: one after the other is added to D, which is rounded to its own format every time.
    merge: str = "workspace"
    #: The format in which parts wait to be added: `accumulator`, `output` or a format's name.
    partials: str = "accumulator"
    #: C joins the finished sum, or is the c of the first call.
    c_place: str = "epilogue"
    #: alpha·sum + beta·C: which product goes into one fused multiply–add with the other one, rounded; with
    #: `none` both are rounded, and their sum again.
    fused: str = "sum"
    #: The format of D, to nearest with ties to even; `accumulator` for the unit's own.
    output: str = "accumulator"
    #: What overflows becomes the largest number of the format of D.
    saturate: bool = False
    #: A fault: the products of an incomplete last tile of k are left out where K is split.
    tail: str = "kept"
    #: A fault: every part of K uses the scales of the first one.
    scales_of: str = "own"
    facts: Mapping[str, Fact] = field(default_factory=dict, compare=False, hash=False)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, value in self.parameters().items():
            if name in CHOICES:
                check_choice(name, value, CHOICES[name])
            elif name in _FORMATS:
                if value not in _FORMATS[name]:
                    format_named(str(value))
            elif isinstance(getattr(Recipe, name, None), bool) or name in _TRUTHS:
                if not isinstance(value, bool):
                    raise InputError(f"expected true or false for {name}, but got {shown(value)}")
            else:
                check_int(name, value, low=1 if name in ("splits", "grain") else 0, high=_LARGEST)
        self._check_together()

    def _check_together(self) -> None:
        need = {
            "tile": self.turns or self.residue == "first" or self.tail == "dropped" or self.stream,
            "tile_m": self.stream, "tile_n": self.stream,
            "promotion": self.first_promotion or self.promotion_scales != "none",
        }  # fmt: skip
        for name, wanted in need.items():
            if wanted and not getattr(self, name):
                raise InputError(f"expected a {name} above zero for the recipe {self.name}, but got 0")
        if self.stream and (self.splits > 1 or self.turns):
            raise InputError(f"expected splits or stream for the recipe {self.name}, but got both")
        if self.turns and (self.residue == "first" or self.promotion):
            raise InputError(
                f"expected neither promotion nor the residue first for the recipe {self.name}, whose parts "
                "take tiles in turn"
            )
        if self.c_place == "accumulator" and (self.promotion or self.splits > 1 or self.stream):
            raise InputError(
                f"expected one accumulator for the recipe {self.name}, whose C is the c of the first call"
            )

    @property
    def sources(self) -> tuple[str, ...]:
        """The distinct sources of the fields, in order of first use."""
        return tuple(dict.fromkeys(fact.source for fact in self.facts.values()))

    def parameters(self) -> dict[str, Any]:
        """The fields that affect the result, by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _NO_PARAMETERS}

    def altered(self, name: str, settings: Mapping[str, Any]) -> Recipe:
        """The recipe with altered fields, under another name."""
        chosen = dict.fromkeys(settings, Fact("", Evidence.CHOSEN))
        return replace(self, name=name, facts={**self.facts, **chosen}, **settings)


_TRUTHS = ("turns", "saturate")


def setting(key: str, text: str) -> Any:
    """Parse the value of a field; UnknownNameError for an unknown field."""
    names = [f.name for f in fields(Recipe) if f.name not in _NO_PARAMETERS]
    check_choice("field of a recipe", key, names)
    if key in _TRUTHS:
        return check_choice(key, text.lower(), ("true", "false")) == "true"
    if key in CHOICES or key in _FORMATS:
        return text
    if not text.isascii() or not text.isdigit() or len(text) > 10:
        raise InputError(f"expected an integer for {key}, but got {shown(text)}")
    return int(text)
