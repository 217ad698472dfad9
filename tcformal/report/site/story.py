"""The first page's pictures: accumulators by year, one sum on two GPUs, fp8; apart from other pages."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib.resources import files
from urllib.parse import urlencode

from tcformal.analysis.bounds.accuracy import Accuracy, accuracy, bound_of, growth_with_length
from tcformal.design.names import resolve
from tcformal.design.trees.tree import Step
from tcformal.design.unit import UnitSpec
from tcformal.oracle.values import decode
from tcformal.report.chart import STEM, Axis, Point, Series, chart
from tcformal.report.escape import Plain
from tcformal.report.site.play import answer

#: Products of the dot product whose worst error is compared.
LENGTH = 1024
#: The pair that the page and the playground open on, and the exponents of c that are shown.
PAIR, NAMES = ("a100:fp16", "h100:fp16"), ("A100", "H100")
EXPONENTS, OPENING = (-23, -24, -25, -26), -25
#: The units whose error is drawn against length, up to this many products.
_GROWN, _LONGEST = ("h100:fp8", "b200:fp8"), 4096
#: How operands of 16, 8 and 4 bits are drawn, and what a legend calls them.
CLASSES = {16: "16-bit operands", 8: "8-bit operands", 4: "4-bit operands"}
_YEARS = Axis(2017, 2025.9, tuple((year, str(year)) for year in range(2018, 2026, 2)))
#: Where a chart puts sums that lose no bit before they are rounded.
_EXACT = "exact"

#: The address of the evidence for a unit.
Address = Callable[[str], str]


def share(x: Fraction | float, digits: int = 2) -> str:
    """A share in percent with so many digits, without an exponent."""
    value = float(x) * 100
    text = f"{value:.{digits}g}"
    return f"{float(text):.12f}".rstrip("0").rstrip(".") + " %" if "e" in text else f"{text} %"


@dataclass(frozen=True, slots=True)
class Release:
    """A processor, when it was first shown or sold as `2022-03` or `2022`, and who says so."""

    name: str
    vendor: str
    line: str
    shown: str
    formats: Sequence[str]
    source: str

    @property
    def year(self) -> int:
        """The year alone."""
        return int(self.shown[:4])

    @property
    def place(self) -> float:
        """The date as a number, a year without a month as its middle."""
        return self.year + (int(self.shown[5:] or 6) - 1) / 12


@dataclass(frozen=True)
class Width:
    """What one processor's sum of products does with operands of one format."""

    release: Release
    name: str

    @cached_property
    def unit(self) -> UnitSpec:
        """The unit that its libraries use."""
        return resolve(self.name)

    @property
    def bits(self) -> int:
        """The width of an operand, which decides how it is drawn."""
        return self.unit.operands.a.width

    @property
    def fraction_bits(self) -> int | None:
        """Fraction bits below the largest term's first one; None: no bit is lost before a rounding."""
        return self.unit.design.fraction_bits

    @property
    def products(self) -> int:
        """Products that are added before anything is rounded."""
        u = self.unit
        if u.tree is not None:
            return max(sum(not isinstance(x, Step) for x in step.children) for step in u.tree.root.steps())
        return min(u.k, u.design.products) if u.design.summation in ("fused", "tr", "gtr") else 1

    @cached_property
    def error(self) -> Fraction | None:
        """The proved bound for LENGTH products, a share of Σ|x·y|; None where no theorem applies."""
        return bound_of(self.unit, LENGTH)

    @property
    def evidence(self) -> str:
        """How the width of the sum is known."""
        return self.unit.facts["fraction_bits"].evidence.name.lower()

    def sentence(self) -> str:
        """All of it in words."""
        width = "no bit cut" if self.fraction_bits is None else f"{self.fraction_bits} fraction bits"
        error = "no bound proved" if self.error is None else f"at most {share(self.error)} wrong"
        return (
            f"{self.release.name}, {self.unit.operands.a.name}, {self.release.year}: {width}, "
            f"{self.products} product{'s' * (self.products > 1)} a sum, {error}; {self.evidence}"
        )


def widths() -> list[Width]:
    """Every processor of `releases.toml` with each of its formats, by vendor and date."""
    text = files("tcformal.report.site").joinpath("releases.toml").read_text(encoding="utf-8")
    rows = [Release(**row) for row in tomllib.loads(text)["processor"]]
    return [Width(row, f"{row.name}:{fmt}") for row in rows for fmt in row.formats]


@dataclass(frozen=True, slots=True)
class Measure:
    """One row of the timeline: what is drawn, and a chart for each vendor."""

    title: str
    note: str
    charts: dict[str, str]


def timeline(found: Sequence[Width], address: Address) -> list[Measure]:
    """The three measures, one chart for each vendor in each."""
    levels = sorted({x.fraction_bits for x in found if x.fraction_bits is not None})
    rows = {bits: float(i) for i, bits in enumerate(levels)} | {None: len(levels) + 0.0}
    bits = Axis(
        -0.5, len(levels) + 0.5, tuple((at, _EXACT if n is None else str(n)) for n, at in rows.items())
    )
    counts = Axis(0.8, 80, tuple((float(1 << i), str(1 << i)) for i in range(7)), log=True)
    errors = Axis(1e-6, 0.4, tuple((10.0**i, share(10.0**i)) for i in range(-6, 0)), log=True)
    return [
        _measure("Fraction bits of the sum", "more is better; rows are not to scale", found, address, bits,
                 lambda x: rows[x.fraction_bits]),
        _measure("Products added before rounding", "", found, address, counts, lambda x: float(x.products)),
        _measure(f"Worst error of {LENGTH} products", "share of Σ|x·y|, proved; less is better", found,
                 address, errors, lambda x: None if x.error is None else float(x.error)),
    ]  # fmt: skip


def _measure(
    title: str, note: str, found: Sequence[Width], address: Address, axis: Axis,
    of: Callable[[Width], float | None],
) -> Measure:  # fmt: skip
    charts = {}
    for vendor in dict.fromkeys(x.release.vendor for x in found):
        mine = [(x, y) for x in found if x.release.vendor == vendor and (y := of(x)) is not None]
        points: dict[tuple[int, str], list[Point]] = {}
        stems: dict[str, list[Point]] = {}
        for x, y in mine:
            name, at = x.release.name, x.release.place
            label = "" if name in stems else name
            points.setdefault((x.bits, x.release.line), []).append(
                Point(at, y, label, address(x.unit.name), x.sentence())
            )
            stems.setdefault(name, []).append(Point(at, y))
        series = [Series(STEM, some, marks="") for some in stems.values()]
        series += [Series(list(CLASSES).index(bits), some) for (bits, _), some in points.items()]
        words = ". ".join(x.sentence() for x, _ in mine)
        charts[vendor] = chart(_YEARS, axis, series, title=f"{title}: {vendor}", words=words)
    return Measure(title, note, charts)


def same_sums() -> list[Plain]:
    """1·1 + c on the opening pair for each c of EXPONENTS, computed now, with the playground's address."""
    made: list[Plain] = []
    for e in EXPONENTS:
        query = urlencode([*(("u", name) for name in PAIR), ("a", 1), ("b", 1), ("c", f"-2^{e}")], safe=":^/")
        found = answer(PAIR, ["1"], ["1"], f"-2^{e}")
        d = resolve(PAIR[0]).d_format
        values = [decode(d, int(row["hex"], 16)).number for row in found["results"]]
        made.append({
            **found, "exponent": e, "address": f"playground.html#{query}", "names": NAMES,
            "decimals": [f"{float(x):.9g}" for x in values], "differ": values[0] != values[1],
        })  # fmt: skip
    return made


def opening() -> Plain:
    """What the playground opens on: units and operands as texts, and the answer, computed now."""
    given: Plain = {
        "units": [resolve(name).name for name in PAIR],
        "a": ["1"],
        "b": ["1"],
        "c": f"-2^{OPENING}",
    }
    return given | {"answer": answer(PAIR, ["1"], ["1"], f"-2^{OPENING}")}


@dataclass(frozen=True, slots=True)
class Growth:
    """The error of long fp8 sums: proved and attained at LENGTH products, and pictures of two widths."""

    at: Sequence[Accuracy]
    pictures: dict[str, str]
    commands: Sequence[str]


def growth() -> Growth:
    """The bound and the attained error of each unit of _GROWN against length, computed now."""
    series, words = [], []
    for style, name in enumerate(_GROWN):
        rows = growth_with_length(accuracy(resolve(name), length=_LONGEST))
        who = name.partition(":")[0].upper()
        bound = [
            Point(n, float(b), f"{who}, fp8" if n == LENGTH else "") for n, b, _ in rows if b is not None
        ]
        seen = [Point(n, float(x), said=f"{who}, {n} products: {share(x)} attained") for n, _, x in rows if x]
        series += [Series(style, bound, marks=""), Series(style, seen, line="", marks="full")]
        words += [f"{who} with {n} products: at most {share(b)}" for n, b, _ in rows if b is not None]
    x = Axis(28, _LONGEST * 1.3, tuple((float(32 << i), f"{32 << i:,}") for i in range(0, 8, 2)), log=True)
    y = Axis(5e-7, 1.6, tuple((10.0**i, share(10.0**i)) for i in range(-6, 1)), log=True)
    title = "Error of a dot product in fp8 against its length"
    pictures = {
        kind: chart(x, y, series, title=title, words=". ".join(words), size=size)
        for kind, size in {"narrow": (340, 300), "wide": (760, 380)}.items()
    }
    at = [accuracy(resolve(name), length=LENGTH) for name in _GROWN]
    return Growth(at, pictures, [f"tcformal accuracy {name} --length {LENGTH}" for name in _GROWN])
