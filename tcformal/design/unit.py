"""A unit's record: instruction, shape, operand formats and design, each number with its source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from tcformal.checks import check_int
from tcformal.design.spec import Design, Operands, check_integers
from tcformal.design.trees.tree import Tree, stage_designs
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.shown import Shown, short

#: Names of sparse instructions.
_SPARSE = re.compile(r"\.sp(\.|::)|\bv_s[mw]\w*mac")


class Evidence(Enum):
    """The evidence levels of a number, in listing order."""

    DOCUMENTED = "vendor specification"
    RECORDED = "replayed against recorded hardware outputs"
    MEASURED = "measured by this project's own probes; the source is the file of results"
    REFERENCE = "equal to an implementation by others, run by this project; the source is the file of results"
    PROBED = "stated by a paper after probing hardware"
    INFERRED = "follows from other numbers"
    CHOSEN = "chosen by whoever named this design"


@dataclass(frozen=True, slots=True)
class Fact:
    """The provenance of one parameter."""

    source: str
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Emulation:
    """A compiler's composition of real instructions: convert, run parts, add c.

    Ranges and units: the parts are taken in order, the first from c = +0, each later one from the
    result of the one before; `addition` then adds the unit's c.
    """

    #: Each A and B element is first converted to this format, exactly.
    converted: Format
    #: The k of each part, in the order in which the inner unit takes them.
    parts: tuple[tuple[int, ...], ...]
    #: Design of the final addition: a `sequential` step of the partial result and c.
    addition: Design


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitSpec(Shown):
    """The record of one matrix unit.

    Shapes: D[m, n] = A[m, k] · B[k, n] + C[m, n].
    """

    #: `<arch>/<instruction>`, or `<family>@<parameters>` for a design without a unit (m = n = 1).
    name: str
    m: int
    n: int
    k: int
    operands: Operands
    design: Design
    #: Format of the scales, and consecutive k that share one; None without scales.
    scale_format: Format | None = None
    scale_block: int | None = None
    #: How the compiler composes this unit from real ones; None for a hardware instruction.
    emulation: Emulation | None = None
    #: The order of summation as a structure; None: the order that the design's parameters name.
    tree: Tree | None = None
    #: Provenance of each design parameter by name.
    facts: Mapping[str, Fact] = field(default_factory=dict, compare=False, hash=False)
    #: Remarks that a reader of the numbers must know (open disagreements).
    notes: tuple[str, ...] = ()
    #: The name of a processor by which the unit was asked for, `h100:fp16`; empty where it was by its own.
    asked: str = field(default="", compare=False, hash=False)

    def __post_init__(self) -> None:
        for name in ("m", "n", "k"):
            check_int(name, getattr(self, name), low=1)
        if self.k % min(self.k, self.design.products):
            raise InputError(
                f"expected k of {self.name} to be a multiple of {self.design.products} products, "
                f"but got {self.k}"
            )
        if not self.design.rho.fits(self.operands.d):
            raise InputError(
                f"expected a conversion into {self.operands.d.name} for {self.name}, "
                f"but got {self.design.conversion}"
            )
        check_integers(self.design, self.operands)
        if self.scale_format is not None:
            self._check_scales(self.scale_block or 0)
        if not self.pieces:
            raise InputError(
                f"expected dropped_pieces that leave some of a product of {self.name}, "
                f"but got {self.design.dropped_pieces}"
            )
        if self.tree is not None:
            self._check_tree(self.tree)
        elif not self.design.normalised:
            raise InputError(f"expected normalised=false in a tree's inner sum alone, but {self.name} has it")

    def _summary(self) -> str:
        return f"UnitSpec {short(self.shown, 60)}: {formats_text(self)}, {self.m}×{self.n}×{self.k}"

    def _check_scales(self, block: int) -> None:
        unscaled = {
            "of integers": self.operands.d.integer,
            "where products are cut in parts": self.design.piece_bits or self.design.lost_bits == "halves",
            "of a composition of other units": self.emulation is not None,
            "where the words of NaN and Inf are numbers": self.design.special_words == "numbers",
        }
        for what, so in unscaled.items():
            if so:
                raise InputError(f"expected no scales {what}, but {self.name} has some")
        if block % (self.design.group or 1):
            raise InputError(
                f"expected scales of whole groups of {self.design.group} products for {self.name}, "
                f"but got one for {block}"
            )

    def _check_tree(self, tree: Tree) -> None:
        if tree.k != self.k:
            such = f"such as (0..{self.k - 1}+c)" if self.k > 1 else "(0+c)"
            raise InputError(
                f"expected a tree of the {self.k} products of {self.name}, {such}, but got one of {tree.k}"
            )
        if self.emulation is not None:
            raise InputError("expected no composition beside a tree, but got one")
        if self.scale_format is not None and (tree.converted is not None or tree.nan_rule != "word"):
            raise InputError(
                f"expected a tree of products as they are, with one NaN, beside the scales of {self.name}, "
                f"but got converted={tree.converted and tree.converted.name}, nan_rule={tree.nan_rule}"
            )
        stages = stage_designs(tree, self.design)
        last = stages[tree.root.stage]
        if self.design.special_words == "numbers" and tree.converted is not None:
            raise InputError(
                f"expected special_words=special beside converted={tree.converted.name}, but got numbers"
            )
        for stage in stages.values():
            check_integers(stage, self.operands)
        if not last.normalised:
            raise InputError(f"expected normalised=true in the outermost sum of {self.name}, but got false")
        if not last.rho.fits(self.operands.d):
            raise InputError(
                f"expected a conversion into {self.operands.d.name} for {self.name}, "
                f"but got {last.conversion} in the outermost sum"
            )

    @property
    def a_format(self) -> Format:
        """Format of A's elements."""
        return self.operands.a

    @property
    def b_format(self) -> Format:
        """Format of B's elements."""
        return self.operands.b

    @property
    def c_format(self) -> Format:
        """Format of C's elements."""
        return self.operands.c

    @property
    def d_format(self) -> Format:
        """Format of D's elements."""
        return self.operands.d

    @property
    def pieces(self) -> int:
        """The number of partial products per product, from pieces of its factors; 1 for whole products."""
        bits = self.design.piece_bits
        if bits is None:
            return 1
        a, b = (-(-(x.fraction_bits + 1) // bits) for x in (self.operands.a, self.operands.b))
        return sum(i + j >= self.design.dropped_pieces for i in range(a) for j in range(b))

    def input_formats(self) -> dict[str, Format]:
        """The formats of a, b, c, and of both scales for scaled units."""
        o, scale = self.operands, self.scale_format
        scales = {} if scale is None else {"scale_a": scale, "scale_b": scale}
        return {"a": o.a, "b": o.b, "c": o.c} | scales

    @property
    def sparse(self) -> bool:
        """Whether the unit was asked for by the name of a sparse instruction."""
        return _SPARSE.search(self.asked) is not None

    @property
    def instruction(self) -> str:
        """The name by which devices run the unit and keep outputs; a sparse instruction has its own."""
        if not self.sparse:
            return self.name
        return self.asked if "/" in self.asked.partition("@")[0] else f"{self.arch}/{self.asked}"

    @property
    def shown(self) -> str:
        """The name that people are shown."""
        return self.asked or self.name

    @property
    def title(self) -> str:
        """The same, with the unit that a processor's name stands for."""
        return f"{self.asked} = {self.name}" if self.asked else self.name

    @property
    def arch(self) -> str:
        """The architecture, or the family's name."""
        return self.name.partition("/")[0].partition("@")[0]

    @property
    def sources(self) -> tuple[str, ...]:
        """The distinct sources of the parameters, in order of first use."""
        return tuple(dict.fromkeys(fact.source for fact in self.facts.values()))


def base_name(spec: UnitSpec) -> str:
    """The name of the unit or family without altered parameters."""
    return spec.name.partition("@")[0]


def base_instruction(spec: UnitSpec) -> str:
    """The name of the instruction without altered parameters."""
    return spec.instruction.partition("@")[0]


def formats_text(spec: UnitSpec) -> str:
    """The operand formats as text, with the scales of a scaled unit."""
    if spec.scale_format is None:
        return str(spec.operands)
    return f"{spec.operands}, scales {spec.scale_format.name} per {spec.scale_block}"


def same_formats(first: UnitSpec, second: UnitSpec) -> bool:
    """Whether two units have equal operand and result encodings."""
    return (first.operands, first.scale_format, first.scale_block) == (
        second.operands,
        second.scale_format,
        second.scale_block,
    )


def takes(spec: UnitSpec, k: int) -> bool:
    """Whether a unit can compute dot products of `k` terms, in one call or in a chain."""
    chained = spec.operands.c == spec.operands.d
    if spec.tree is not None:  # which is of all its products
        return k == spec.k or (k % spec.k == 0 and chained)
    return k <= spec.k or chained


def most_exact_terms(spec: UnitSpec) -> int:
    """The most terms of a sum of a unit that cuts none of them; 0 where every sum does."""
    d = spec.design
    if spec.tree is not None:
        designs = stage_designs(spec.tree, d)
        exact = (x for x in spec.tree.root.steps() if designs[x.stage].fraction_bits is None)
        return max((len(x.children) for x in exact), default=0)
    if d.fraction_bits is not None:
        return 0
    return min(spec.k, d.products) + (d.c_position == "joined") if d.summation == "fused" else 2


def product_signs(spec: UnitSpec, length: int) -> list[int]:
    """The sign of each product in chained calls: -1 for subtracted products, else 1."""
    return [-1 if spec.design.subtracts(i % spec.k) else 1 for i in range(length)]
