"""Recipes of matrix products as data, each field with its source; the catalogue of named ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any

from tcformal.checks import check_choice, check_int, check_text, shown
from tcformal.design.unit import Evidence, Fact
from tcformal.encodings.catalog import format_named
from tcformal.errors import InputError
from tcformal.shown import Shown, short

#: What a field that alters the result can be.
RecipeValue = int | str | bool
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
class Recipe(Shown):
    """A recipe: how calls of a unit are combined into D = alpha·A·B + beta·C + bias.

    Ranges and units: counts of products along K, unless a field says otherwise; 0 where there is none.
    Errors: InputError for a field that does not fit, or fields that do not fit together.
    Source: `facts`, one for each field.

    Examples:
        >>> tcformal.recipes()["cublaslt-66"].grain
        128
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
            elif name in _TRUTHS:
                if not isinstance(value, bool):
                    raise InputError(f"expected true or false for {name}, but got {shown(value)}")
            else:
                check_int(name, value, low=1 if name in ("splits", "grain") else 0, high=_LARGEST)
        self._check_together()

    def _summary(self) -> str:
        return f"Recipe {short(self.name, 60)}: {self.title}"

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

    def parameters(self) -> dict[str, RecipeValue]:
        """The fields that affect the result, by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _NO_PARAMETERS}

    def altered(self, name: str, settings: Mapping[str, Any]) -> Recipe:
        """The recipe with altered fields, under another name."""
        chosen = dict.fromkeys(settings, Fact("", Evidence.CHOSEN))
        return replace(self, name=name, facts={**self.facts, **chosen}, **settings)

    def varied(self, **fields: str | bool | int) -> Recipe:
        """The recipe with altered fields, which its name says: `NAME@field=value,…`."""
        listed = ",".join(f"{name}={str(value).lower()}" for name, value in fields.items())
        return self.altered(f"{self.name}{',' if '@' in self.name else '@'}{listed}", fields)


_TRUTHS = ("turns", "saturate")


def setting(key: str, text: str) -> RecipeValue:
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


_RECORDED = "results/products/NVIDIA-H100-80GB-HBM3, products and scans of cuBLASLt 13.1"
_MAP = "cublas_match plan and README"
_CUTLASS = "CUTLASS include/cutlass/"
_ONEDNN = "products of PyTorch 2.13 with oneDNN 3.12 on an Intel Xeon with AMX, recorded"
_TORCH = "small products of PyTorch 2.13 on an Intel Xeon, recorded"
_DEEPGEMM = "DeepGEMM deep_gemm/include/deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh"


#: What is not recorded of algorithm 66.
_SPLIT_66 = "With K split, alpha and beta are taken to join as in algorithm 21 (fused=c): not recorded."


def _row(
    name: str, title: str, units: str, known: Mapping[str, tuple[Any, Evidence, str]], *notes: str
) -> Recipe:
    """A catalogue entry: a recipe with its known fields and their evidence; the others are as in `plain`."""
    return Recipe(
        name=name, title=title, units=units, notes=notes,
        facts={key: Fact(source, evidence) for key, (_, evidence, source) in known.items()},
        **{key: value for key, (value, _, _) in known.items()},
    )  # fmt: skip


def _recorded(**values: Any) -> dict[str, tuple[Any, Evidence, str]]:
    return {key: (value, Evidence.RECORDED, _RECORDED) for key, value in values.items()}


def _stated(source: str, **values: Any) -> dict[str, tuple[Any, Evidence, str]]:
    return {key: (value, Evidence.DOCUMENTED, source) for key, value in values.items()}


def _probed(**values: Any) -> dict[str, tuple[Any, Evidence, str]]:
    return {key: (value, Evidence.PROBED, _MAP) for key, value in values.items()}


def _cublaslt() -> list[Recipe]:
    """The cuBLASLt algorithms by number; a planner sets the fields that depend on the product."""
    lines = {"grain": 128, "ragged_grain": 16, "grain_unit": "bytes"}
    older = {"residue": "first", "tile": 32, **lines, "start": "first", "merge": "workspace"}
    made = [
        _row(
            "cublaslt-66", "cuBLASLt's algorithm 66 (nvjet): one accumulator for each part of K",
            "hopper/wgmma of fp16 and bf16, and of fp8 with fast accumulation",
            _recorded(
                grain=128, grain_unit="bytes", residue="last", promotion=0, fused="sum", merge="workspace"
            ),
            _SPLIT_66,
        ),
        _row(
            "cublaslt-66-promoted",
            "cuBLASLt's algorithm 66 without fast accumulation: an accumulator is closed every 128 products",
            "hopper/wgmma of fp8",
            _recorded(
                grain=128, grain_unit="bytes", residue="last", promotion=128, start="first", fused="sum",
                merge="workspace",
            ),
            _SPLIT_66,
        ),
        _row(
            "cublaslt-20", "cuBLASLt's algorithm 20: fused multiply–adds of fp32, the incomplete tile first",
            "fused multiply–adds in fp32, such as cdna1/v_mfma_f32_32x32x2f32", _recorded(**older),
        ),
        _row(
            "cublaslt-22", "cuBLASLt's algorithm 22: fp64, the incomplete tile first",
            "ampere/mma.m8n8k4.f64.f64.f64.f64", _recorded(**older),
        ),
    ]  # fmt: skip
    made += [
        _row(
            f"cublaslt-{number}", f"cuBLASLt's algorithm {number} (CUTLASS): the incomplete tile first",
            "hopper/mma of fp16, bf16 and tf32", _recorded(**older),
            "tile is 8 to 128 by STAGES_ID; the operands of fp32 are rounded to tf32 before.",
        )
        for number in (21, 23, 24)
    ]  # fmt: skip
    made += [
        _row(
            "cublaslt-12", "cuBLASLt's algorithm 12 (CUTLASS): the incomplete tile first",
            "mma of fp16, bf16 and tf32", _probed(**older),
            "Of its recorded products K is 1: one product for each element, by fused multiply–adds.",
        ),
        *(
            _row(
                f"cublaslt-{number}",
                f"cuBLASLt's algorithm {number}: fp64, the parts take tiles of k in turn",
                "ampere/mma.m8n8k4.f64.f64.f64.f64",
                _recorded(turns=True, tile=16, start="first", merge="workspace", fused="sum"),
                "With custom option 1 the parts are added in halves: merge=halves.",
            )
            for number in (35, 36)
        ),
        _row(
            "cublaslt-55", "cuBLASLt's algorithm 55: fused multiply–adds of fp32, parts take tiles in turn",
            "fused multiply–adds in fp32, such as cdna1/v_mfma_f32_32x32x2f32",
            _recorded(turns=True, tile=8, start="first", merge="workspace", fused="sum"),
            "With custom option 1 the parts are added in halves: merge=halves.",
        ),
        _row(
            "cublaslt-13", "cuBLASLt's algorithm 13 (one row or column): threads take one k each in turn",
            "fused multiply–adds of one product, such as power10/xvf32gerpp",
            _recorded(turns=True, tile=1, splits=32, start="first", merge="tree", fused="sum"),
            "Of custom options 75, 83 and 93; of 73 and 101 there are 16 threads: splits=16.",
            "Alpha and beta are taken to join as in algorithm 55: not recorded.",
        ),
        *(
            _row(
                f"cublaslt-{number}", f"cuBLASLt's algorithm {number}: {title}, K whole", units,
                _recorded(splits=1),
            )
            for number, title, units in (
                (16, "fused multiply–adds of fp32 on widened operands", "fused multiply–adds in fp32"),
                (39, "fp16 alone", "hopper/wgmma of fp16 with sums in fp16"),
                (43, "operands of fp32 rounded to tf32", "hopper/wgmma of tf32"),
                (56, "fused multiply–adds of fp32 on widened operands", "fused multiply–adds in fp32"),
                (63, "operands of fp32 rounded to tf32", "hopper/mma of tf32"),
            )
        ),
        _row(
            "cublaslt-74",
            "cuBLASLt's algorithm 74 (sm_103): one accumulator, the incomplete group of 32 first",
            "blackwell/tcgen05 of fp8", _probed(residue="first", tile=32, promotion=0),
        ),
    ]  # fmt: skip
    return made


def _others() -> list[Recipe]:
    fp8 = _CUTLASS + "gemm/collective/fp8_accumulation.hpp"
    promoted = _stated(fp8, promotion=128, start="zero")
    linear = _stated(_CUTLASS + "epilogue/thread/linear_combination.h", fused="sum", c_place="epilogue")
    iterator = _CUTLASS + "transform/threadblock/predicated_tile_access_iterator.h"
    first = _stated(iterator, residue="first", tile=32)
    universal = _CUTLASS + "gemm/kernel/gemm_universal.h"
    serial = _CUTLASS + "gemm/kernel/gemm.h, params and epilogue"
    reduce = _CUTLASS + "reduction/kernel/reduce_split_k.h, operator()"
    return [
        _row(
            "plain", "calls of the unit from C on, each result the next c", "every unit",
            {"c_place": ("accumulator", Evidence.CHOSEN, "")},
        ),
        _row(
            "deepgemm-sm90", "DeepGEMM's fp8 product on Hopper: promoted and scaled every 128 products",
            "hopper/wgmma of fp8",
            _stated(_DEEPGEMM, promotion=128, promotion_scales="product", start="zero", output="bf16"),
        ),
        _row(
            "cutlass-sm90-fp8", "CUTLASS on sm_90, fp8 with promotion: added to fp32 every 128 products",
            "hopper/wgmma of fp8", promoted | linear,
            "promotion is the number of MMAs, mma_promotion_interval, times 32; 4 by default.",
        ),
        _row(
            "cutlass-sm90-fp8-scaled", "CUTLASS on sm_90, fp8 with block scales: scaled by A's, then by B's",
            "hopper/wgmma of fp8", promoted | linear | _stated(fp8, promotion_scales="chained"),
        ),
        _row(
            "cutlass-sm80-fp8",
            "CUTLASS's staged accumulation on sm_89: promoted after the first step of each tile",
            "ada/mma of fp8",
            _stated(
                _CUTLASS + "gemm/threadblock/mma_multistage.h, StagedAccumulation",
                promotion=64, first_promotion=32, start="zero",
            ) | linear | first | {"tile": (64, Evidence.CHOSEN, "")},
            "promotion and tile are the threadblock's K; first_promotion is the instruction's.",
        ),
        _row(
            "cutlass-split-k-serial", "CUTLASS's serial split-K: each part is added to D, in D's format",
            "mma", _stated(serial, splits=2, grain=32, merge="serial") | linear | first,
            "grain and tile are the threadblock's K; a part is a whole number of tiles.",
        ),
        _row(
            "cutlass-split-k-parallel",
            "CUTLASS's parallel split-K: parts are added up from zero in a workspace",
            "mma",
            _stated(reduce, splits=2, start="zero", merge="workspace", partials="accumulator")
            | linear
            | first
            | _stated(universal, grain=128, ragged_grain=16, grain_unit="bytes"),
        ),
        _row(
            "onednn", "oneDNN's products: K in blocks, each from zero, added up in order",
            "x86/tdpbf16ps, x86/vdpbf16ps and fused multiply–adds",
            {"promotion": (512, Evidence.RECORDED, _ONEDNN), "start": ("first", Evidence.RECORDED, _ONEDNN)},
            "promotion is the block of K, which depends on the shape, the threads and the cache; many shapes "
            "have none, which is plain.",
        ),
        _row(
            "lanes", "a loop over k in lanes: each takes one k in turn, and they are added up in order",
            "fused multiply–adds in fp32",
            {
                name: (value, Evidence.RECORDED, _TORCH)
                for name, value in {"turns": True, "tile": 1, "splits": 4, "start": "first"}.items()
            },
            "splits is the number of lanes; of PyTorch's small products there are four.",
        ),
        _row(
            "stream-k", "stream-K, deterministic: a tile's parts are added up in ascending k",
            "every unit",
            _stated("STREAM-K abstract", stream=108, tile=32, tile_m=128, tile_n=128)
            | {"start": ("first", Evidence.PROBED, "cublas_match README")},
            "stream is the number of workers (multiprocessors); every tile is streamed, none is left whole.",
        ),
    ]  # fmt: skip


@cache
def recipes() -> dict[str, Recipe]:
    """The catalogued recipes by name; `tcformal recipes` lists them.

    Examples:
        >>> tcformal.recipes()["cublaslt-66"]
        <Recipe cublaslt-66: cuBLASLt's algorithm 66 (nvjet): one accumulator for each part of K>
    """
    return {x.name: x for x in (*_others(), *_cublaslt())}


def recipe(name: str) -> Recipe:
    """Look up a recipe: `NAME` or `NAME@field=value,…`.

    Errors: UnknownNameError naming the closest names; InputError for a value that does not fit.
    """
    base, at, text = check_text("the name of a recipe", name).strip().partition("@")
    entry = recipes()[check_choice("recipe", base, recipes())]
    if not at:
        return entry
    settings: dict[str, RecipeValue] = {}
    for piece in text.split(","):
        key, equals, value = (x.strip() for x in piece.partition("="))
        if not equals or not value:
            raise InputError(f"expected FIELD=VALUE in the recipe {shown(name)}, but got {shown(piece)}")
        if key in settings:
            raise InputError(f"expected each field once in the recipe {shown(name)}, but got {key} twice")
        settings[key] = setting(key, value)
    return entry.altered(name, settings)


def recipe_of(x: str | Recipe) -> Recipe:
    """The recipe of an argument that is a name or a recipe; InputError for anything else."""
    if isinstance(x, Recipe):
        return x
    if isinstance(x, str):
        return recipe(x)
    raise InputError(f"expected a recipe or its name, but got {shown(x)}")
