"""cuBLASLt planning: from the fields of a heuristic's algorithm to a unit and a recipe; a public name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tcformal.checks import check_choice, check_int, check_text, shown
from tcformal.design.catalog import catalogue
from tcformal.design.short_names import architecture_of
from tcformal.design.unit import Evidence, Fact
from tcformal.errors import InputError
from tcformal.programs.recipe import Recipe, recipe
from tcformal.shown import Shown, short

#: The fields, cublasLtMatmulAlgoConfigAttributes_t, in the order of lists.
FIELDS = (
    "ID", "TILE_ID", "SPLITK_NUM", "REDUCTION_SCHEME", "CTA_SWIZZLING", "CUSTOM_OPTION", "STAGES_ID",
    "INNER_SHAPE_ID", "CLUSTER_SHAPE_ID",
)  # fmt: skip
#: What a record has beside the fields.
KEYS = ("arch", "a", "b", "d", "compute", "fast", "algo")
_FORMATS = ("fp64", "fp32", "tf32", "fp16", "bf16", "e4m3", "e5m2")
#: Elements of k in a tile, by STAGES_ID: six stages of each of these, then single ones.
_TILES = {0: 32} | {6 * i + j + 1: tile for i, tile in enumerate((16, 32, 64, 128)) for j in range(6)}
_TILES |= {25: 32, 26: 8, 27: 16, 28: 8, 29: 16, 30: 32, 31: 8, 32: 8, 33: 16, 34: 32, 35: 64, 36: 128}
_WGMMA = {("fp16", "fp16"): "k16.f32.f16.f16", ("bf16", "bf16"): "k16.f32.bf16.bf16",
          ("e4m3", "e4m3"): "k32.f32.e4m3.e4m3", ("e4m3", "e5m2"): "k32.f32.e4m3.e5m2",
          ("e5m2", "e4m3"): "k32.f32.e5m2.e4m3"}  # fmt: skip
_MMA = {"16F": "f16.f16.f16.f16", "fp16": "f32.f16.f16.f32", "bf16": "f32.bf16.bf16.f32"}
_TF32 = "hopper/mma.m16n8k8.f32.tf32.tf32.f32"
_TF32_GROUP = "hopper/wgmma.m64n8k8.f32.tf32.tf32"
#: A chain of fused multiply–adds in fp32, which NVIDIA's processors have without a matrix instruction.
_FMA32 = "cdna1/v_mfma_f32_32x32x2f32"
_FMA64 = "ampere/mma.m8n8k4.f64.f64.f64.f64"
#: The same of one product in a call, by computation, for algorithm 13, which rounds no operand to tf32.
_ONE = {"32F": "power10/xvf32gerpp", "32F_FAST_TF32": "power10/xvf32gerpp", "64F": "power10/xvf64gerpp"}
#: The threads of algorithm 13 that share K out, by CUSTOM_OPTION; others cut it in ways that depend on K.
_THREADS = {75: 32, 83: 32, 93: 32, 73: 16, 101: 16}
_TCGEN05 = {"e4m3": "blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e4m3.e4m3"}
#: Algorithms whose parts take tiles of k in turn.
_IN_TURN = (35, 36, 55)
#: Algorithms of CUTLASS's kernels, whose incomplete tile comes first.
_CUTLASS = (12, 20, 21, 22, 23, 24)
#: Compute capabilities, and the architectures of the catalogue that are theirs.
_CAPABILITIES = {
    "sm_80": "ampere", "sm_86": "ampere", "sm_87": "ampere", "sm_89": "ada", "sm_90": "hopper",
    "sm_90a": "hopper", "sm_100": "blackwell", "sm_103": "blackwell", "sm_120": "rtx-blackwell",
}  # fmt: skip
_COMPUTE = {"fp64": "64F", "fp32": "32F", "fp16": "16F"}
_NVIDIA = ("ampere", "ada", "hopper", "blackwell", "rtx-blackwell")
#: Why algorithms of an H100 are taken to be those of other GPUs.
_COMPILED = "on an H100 these algorithms run kernels that were compiled for sm_75 and sm_80 (cutlass_80_…)"
#: Reduction schemes: none or in place (each part is added to D), in the computation's format, in D's format.
_SCHEMES = (0, 1, 2, 4)


@dataclass(frozen=True, slots=True)
class PlannedProduct(Shown):
    """The computation of a library's configuration: a unit's name, and a recipe.

    Examples:
        >>> algorithm = {"ID": 66, "SPLITK_NUM": 4, "REDUCTION_SCHEME": 2, "STAGES_ID": 35}
        >>> asked = {"a": "bf16", "b": "bf16", "d": "bf16", "compute": "32F", "algo": algorithm}
        >>> tcformal.plan_cublaslt(asked).unit
        'hopper/wgmma.m64n8k16.f32.bf16.bf16'
    """

    unit: str
    recipe: Recipe

    def _summary(self) -> str:
        return f"PlannedProduct {short(self.recipe.name)} on {short(self.unit)}"


def plan_cublaslt(record: Mapping[str, object]) -> PlannedProduct:
    """The unit and the recipe of a cuBLASLt algorithm.

    Shapes: `algo`: the nine fields by name or in the order of `FIELDS`, null for what it lacks; or the ID.
    Ranges and units: `a`, `b`, `d`: formats, of which tf32 is fp32 with a fast computation; `compute`: as in
    CUBLAS_COMPUTE_…, such as `32F` or `32F_FAST_TF32`; `fast`: whether 8-bit products are accumulated fast,
    0 or 1; `arch`: an architecture, a GPU, or a compute capability such as `sm_89`.  Sources give the
    algorithms of sm_90 and, of sm_103, algorithm 74; those of CUTLASS (12, 20 to 24) are taken to be the same
    on sm_80, sm_89, sm_100 and sm_120, which is inferred: an H100 runs kernels that were compiled for sm_80.
    Zero, NaN, Inf: as the unit's design and IEEE 754 say.
    Errors: InputError for a key that is missing or unknown, and for a configuration without a known recipe.
    Source: cublas_match; results/products, recorded on an H100.

    Examples:
        >>> algorithm = {"ID": 66, "SPLITK_NUM": 4, "REDUCTION_SCHEME": 2, "STAGES_ID": 35}
        >>> asked = {"a": "bf16", "b": "bf16", "d": "bf16", "compute": "32F", "algo": algorithm}
        >>> tcformal.plan_cublaslt(asked)
        <PlannedProduct cublaslt-66@splits=4,fused=c,output=bf16 on hopper/wgmma.m64n8k16.f32.bf16.bf16>
    """
    return _Planner(record).plan()


class _Planner:
    """A planner for one cuBLASLt record."""

    def __init__(self, record: Mapping[str, object]) -> None:
        if not isinstance(record, Mapping):
            raise InputError(f"expected an object with the keys {', '.join(KEYS)}, but got {shown(record)}")
        for key in record:
            check_choice("key of a cuBLASLt record", key, KEYS)
        for key in ("a", "b", "d", "compute", "algo"):
            if key not in record:
                raise InputError(f"expected the key {key} in a cuBLASLt record, but there is none")
        self.a, self.b, self.d = (check_choice(f"format of {x.upper()}", record[x], _FORMATS) for x in "abd")
        compute = check_text("compute", record["compute"])
        self.compute, self.record = _COMPUTE.get(compute, compute), record
        self.given = check_text("arch", record.get("arch", "hopper"))
        arch = _CAPABILITIES.get(self.given.lower()) or architecture_of(self.given)
        self.arch = check_choice("architecture of NVIDIA", arch, _NVIDIA)
        fast = record.get("fast")
        # JSON writes a truth value as true or as 1.
        given = int(fast) if isinstance(fast, bool) else fast
        self.fast = None if given is None else check_int("fast", given, low=0, high=1)
        self.fields = _fields(record["algo"])
        self.number = self.fields["ID"]
        self.splits = self.fields["SPLITK_NUM"]
        if self.splits < 1:
            raise self.refusal("stream-K or another split whose order no source gives")

    def plan(self) -> PlannedProduct:
        """The unit and the recipe of the record."""
        unit = self.unit()
        if self.d in ("e4m3", "e5m2"):
            raise self.refusal(f"results in {self.d}")
        settings: dict[str, int | str] = {}
        if self.number == 13:
            settings["splits"] = _THREADS[self.fields["CUSTOM_OPTION"]]
        if self.splits > 1:
            settings["splits"] = self.splits
            if self.fields["REDUCTION_SCHEME"] not in _SCHEMES:
                raise self.refusal(f"reduction scheme {self.fields['REDUCTION_SCHEME']}")
            if self.fields["REDUCTION_SCHEME"] == 4:
                settings["partials"] = "output"
            elif self.fields["REDUCTION_SCHEME"] < 2:
                settings["merge"] = "serial"
        if self.splits > 1 and self.number in _IN_TURN and self.fields["CUSTOM_OPTION"] == 1:
            settings["merge"] = "halves"
        if self.number in (*_CUTLASS, 35, 36):
            settings["tile"] = _TILES[self.fields["STAGES_ID"]]
        workspace = self.splits > 1 and self.number not in _IN_TURN and "merge" not in settings
        if workspace or self.number == 23:
            settings["fused"] = "c"
        if unit in (_TF32, _TF32_GROUP):
            settings["operands"] = "fp32"
        elif unit == _FMA32 and self.a in ("fp16", "bf16"):
            settings["operands"] = self.a
        if self.d != _accumulator(unit):
            settings["output"] = self.d
        name = f"cublaslt-{self.number}"
        if self.number == 66 and self.fast == 0:
            name += "-promoted"
        listed = ",".join(f"{key}={value}" for key, value in settings.items())
        made = recipe(f"{name}@{listed}" if listed else name)
        if self.arch != "hopper" and self.number in _CUTLASS:
            facts = {name: Fact(_COMPILED, Evidence.INFERRED) for name in made.facts}
            made = replace(made, facts=facts)
        return PlannedProduct(unit, made)

    def unit(self) -> str:
        """The unit that the algorithm calls."""
        number, compute, stages = self.number, self.compute, self.fields["STAGES_ID"]
        if number == 74 and self.arch == "blackwell" and self.a == self.b == "e4m3" and self.splits == 1:
            return _TCGEN05[self.a]
        if self.arch != "hopper" and number in _CUTLASS:
            found = _Planner({**self.record, "arch": "hopper"}).unit()
            unit = found.replace("hopper/", f"{self.arch}/")
            if unit not in catalogue():
                raise self.refusal("an instruction that this architecture lacks")
            return unit
        if self.arch != "hopper":
            raise self.refusal("algorithms of which no source says on this architecture how they add")
        if number == 66 and compute == "32F" and (self.a, self.b) in _WGMMA:
            return "hopper/wgmma.m64n8" + _WGMMA[self.a, self.b]
        if number in (*_CUTLASS, 35, 36, 55) and stages not in _TILES:
            raise self.refusal(f"stages {stages}")
        if number == 12 and not stages and self.a == self.b:
            return _FMA64 if self.a == "fp64" else _FMA32  # one product for each element: K is 1
        if number in (12, 21, 23, 24) and compute.startswith("32F_FAST"):
            return _TF32  # the fast computations with 16 bits are given the same kernels
        if number in (12, 21, 23, 24) and compute in ("16F", "32F") and self.a == self.b:
            kind = _MMA.get("16F" if compute == "16F" else self.a)
            if kind is not None:
                # Kernels without stages are those of Turing, whose calls take half as many products.
                return f"hopper/mma.m16n8k{16 if stages else 8}.{kind}"
        if number == 13 and self.a == self.b and compute in _ONE and self.splits == 1:
            if self.fields["CUSTOM_OPTION"] not in _THREADS:
                raise self.refusal("this custom option")
            return _ONE[compute]
        if self.a == self.b in ("fp32", "tf32") and number in (20, 55):
            return _FMA32
        if self.a == self.b == "fp64" and number in (22, 35, 36):
            return _FMA64
        if self.splits == 1 and self.a == self.b:
            return self.whole()
        raise self.refusal("these formats and fields")

    def whole(self) -> str:
        """The unit of an algorithm that is known only without split-K."""
        number, compute = self.number, self.compute
        if number == 39 and compute == "16F":
            return "hopper/wgmma.m64n8k16.f16.f16.f16"
        if number in (43, 63) and compute.startswith("32F_FAST"):
            return _TF32_GROUP if number == 43 else _TF32
        if number in (16, 56) and compute in ("32F", "32F_PEDANTIC") and self.a in ("fp16", "bf16"):
            return _FMA32
        raise self.refusal("these formats and fields")

    def refusal(self, what: str) -> InputError:
        """The error that no recipe is known, with the reason."""
        return InputError(
            f"expected a configuration of cuBLASLt whose recipe is known, but got {what} with algorithm "
            f"{self.number} on {self.given} ({self.a}, {self.b} to {self.d}, {self.compute}, "
            f"SPLITK_NUM {self.splits}, CUSTOM_OPTION {self.fields['CUSTOM_OPTION']})"
        )


def _accumulator(unit: str) -> str:
    """The accumulator format: that of the unit's result."""
    if unit in (_FMA64, _ONE["64F"]):
        return "fp64"
    return "fp16" if unit.endswith("f16.f16.f16") else "fp32"


def _fields(algo: Any) -> dict[str, int]:
    """The nine algorithm fields, of a number alone the ID; missing ones are 0, SPLITK_NUM 1."""
    if isinstance(algo, int) and not isinstance(algo, bool):
        algo = {"ID": algo}
    if isinstance(algo, Mapping):
        for key in algo:
            check_choice("field of an algorithm of cuBLASLt", key, FIELDS)
        fields = dict(algo)
    elif isinstance(algo, Sequence) and not isinstance(algo, str) and len(algo) == len(FIELDS):
        fields = dict(zip(FIELDS, algo, strict=True))
    else:
        raise InputError(
            f"expected the fields {', '.join(FIELDS)} by name or in a list, but got {shown(algo)}"
        )
    if fields.get("ID") is None:
        raise InputError("expected the field ID of an algorithm of cuBLASLt, but there is none")
    values = {}
    for key in FIELDS:
        value = fields.get(key)
        default = 1 if key == "SPLITK_NUM" else 0
        values[key] = default if value is None else check_int(key, value, low=-(1 << 31), high=(1 << 32) - 1)
        if values[key] >> 31 == 1:
            values[key] -= 1 << 32  # the attributes are words of 32 bits
    return values
