"""The elementary operation of a unit: its name, formula, error bound and known risks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tcformal.design.rounding import NEAREST, bits_taken
from tcformal.design.spec import Design
from tcformal.design.trees.tree import Tree, stage_designs
from tcformal.design.unit import UnitSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An elementary operation: name, formula, error bound, and source.

    Ranges and units: `bounds` are additive; ulp is the unit in the last place of the result.
    """

    name: str
    formula: str
    #: (source of the error, bound) pairs.
    bounds: tuple[tuple[str, str], ...]
    source: str


#: Where the sums of CPUs are documented.
_VENDOR = {
    "x86": "Intel SDM volume 2", "arm": "Arm ARM, BFDOT and BFMMLA", "power10": "Power ISA 3.1B",
    "gaudi": "Gaudi 1", "gaudi2": "Gaudi 2", "riscv": "RVBNA; Spike",
    "et-soc-1": "Esperanto emulator", "rdna3": "ROCm emulator", "rdna4": "ROCm emulator", "vortex": "Vortex",
    "hexagon": "Hexagon HMX", "nvdla": "NVDLA", "wormhole": "ttsim", "blackhole": "ttsim",
}  # fmt: skip
_HALF_ULP = ("output rounding", "0.5 ulp")
#: Parameters of roundings that the names of operations do not count.
_OWN_CUTS = (
    "operand_rounding", "a_bits", "b_bits", "c_alignment_rounding", "c_bits", "second_fraction_bits",
    "minus_one",
)  # fmt: skip


def operation(u: UnitSpec) -> Operation:
    """The elementary operation that follows from a unit's parameters.

    Source: XIE §4.1 (names and algorithms), Table 9 (bounds); Intel SDM and Arm ARM (CPUs).
    """
    stages = {"": u.design} if u.tree is None else stage_designs(u.tree, u.design)
    cut = any(
        d.e_max_of != "terms" or any(getattr(d, name) is not None for name in _OWN_CUTS)
        for d in stages.values()
    )
    return replace(_operation(u), bounds=tuple(_own_cuts(u, stages))) if cut else _operation(u)


def _own_cuts(u: UnitSpec, stages: Mapping[str, Design]) -> Iterator[tuple[str, str]]:
    """Error bounds of factors that are rounded or cut, and of sums whose terms are cut in other ways."""
    d = u.design
    if d.operand_rounding is not None:
        yield (
            f"{d.operand_rounding} of each factor",
            "0.5 ulp" if d.operand_rounding[:3] in NEAREST else "1 ulp",
        )
    for name, bits in (("A", d.a_bits), ("B", d.b_bits)):
        if bits is not None:
            first, last = bits_taken(bits)
            lost = f"2^-{last} of it" if first == 0 else f"its bits before {first}"
            yield f"bits {bits} of {name}", lost
    sizes = {s: len(x.children) for x in (u.tree.root.steps() if u.tree else ()) for s in (x.stage,)}
    for stage, of in stages.items():
        n = sizes.get(stage, min(u.k, d.products) + 1)
        for f in (of.fraction_bits, of.second_fraction_bits, of.c_bits):
            if f is not None:
                of_e = " of the products' e_max" if of.e_max_of == "products" else ""
                yield f"{n} terms at {f} bits{of_e}{f' in {stage}' if stage else ''}", f"{n}·2^(e_max-{f})"
        if of.minus_one is not None:
            yield "a sum of -1 unit", f"2^{of.minus_one} units"
    yield _HALF_ULP if d.rho.mode in NEAREST else ("output rounding", "1 ulp")


def _operation(u: UnitSpec) -> Operation:
    """The operation with the bounds of sums of whole factors."""
    d = u.design
    length = min(u.k, d.products)
    rho = d.conversion
    if u.operands.d.integer:
        way = (
            ("at the end" if d.accumulator is None else "after every sum")
            if d.step.saturates
            else f"modulo 2^{u.operands.d.width}"
        )
        if u.tree is not None:
            each = {name or "the others": x.conversion for name, x in stage_designs(u.tree, d).items()}
            way = ", ".join(f"{name}: {text}" for name, text in each.items())
        return Operation(
            name="integer DPA",
            formula=f"d = {u.tree.root}, {way}"
            if u.tree is not None
            else f"d = c + Σ a_k·b_k, {'saturated ' * d.step.saturates}{way}",
            bounds=(("overflow", "unbounded; else exact"),),
            source=_VENDOR.get(u.arch, "integers"),
        )
    if u.emulation is not None:
        parts = len(u.emulation.parts)
        inner = "FMA chain" if d.products == 1 else "T-FDPA"
        return Operation(
            name="emulated",
            formula=f"d = {u.emulation.addition.conversion}({inner} over {parts} part(s) of k from 0, + c)",
            bounds=(("parts", f"{parts} times the bound of {inner}"), ("addition of c", "0.5 ulp")),
            source="CUDA 13.0 SASS",
        )
    if u.tree is not None:
        return Operation(
            name="tree of sums",
            formula=f"d = {u.tree.root}, each sum as its stage says",
            bounds=_of_tree(u.tree, d),
            source=_VENDOR.get(u.arch, "a design chosen by name"),
        )
    if d.summation in ("tr", "gtr"):
        halves = "Σ_even + Σ_odd, each" if d.summation == "gtr" else "Σ"
        once = d.sum_rounding == "RD_ADDENDS"
        cut, bits = "RD" if once else d.sum_rounding, f"_{d.sum_fraction_bits}"
        total = f"{cut}{bits * once}({halves} RZ_{d.fraction_bits}(a_k·b_k)) + {cut}(c)"
        return Operation(
            name="GTR-FDPA" if d.summation == "gtr" else "TR-FDPA",
            formula=f"d = {rho}({total})" if once else f"d = {rho}({cut}{bits}({total}))",
            bounds=(("fused summation", f"{length + 1}·2^(e_max-{d.fraction_bits})"), _HALF_ULP),
            source="XIE Algorithms 10 and 11, Table 9",
        )
    if d.framed:
        return _framed(u, length)
    if d.lost_bits != "cut":
        return _remembered(u, length)
    if d.fraction_bits is not None and d.summation == "fused" and d.c_position == "joined":
        return _truncated(u, length)
    if d.c_position == "after":
        return _then_c(u, length)
    if d.summation == "fused" and d.c_position == "joined":
        name = "FMA" if length == 1 else "E-FDPA"
        return Operation(
            name=name,
            formula=f"d = {rho}(c + a_k·b_k), k by k" if length == 1 else f"d = {rho}(c + Σ a_k·b_k)",
            bounds=(_HALF_ULP,),
            source="XIE Algorithms 3, 4 and 6, Table 9",
        )
    return _stepwise(u, length)


def _of_tree(made: Tree, design: Design) -> tuple[tuple[str, str], ...]:
    """Error bounds of a tree's roundings, if all its sums are exact before rounding."""
    stages = stage_designs(made, design).values()
    if any(stage.fraction_bits is not None for stage in stages):
        return ()
    if design.product_rounding is not None and design.product_conversion.integer_bits is not None:
        fixed = design.product_conversion
        return (("each product", f"2^{fixed.e_min - fixed.fraction_bits - 1}"), _HALF_ULP)
    nearest = all(stage.rho.mode in NEAREST for stage in stages)
    bounds = [(f"each of {len(list(made.root.steps()))} sums", "0.5 ulp" if nearest else "1 ulp")]
    if design.result_subnormals != "kept":
        bounds.append(("subnormal results as zero", f"2^{design.rho.e_min} a sum"))
    return tuple(bounds)


def _truncated(u: UnitSpec, length: int) -> Operation:
    d = u.design
    name = "T-FDPA" if u.scale_format is None else "ST-FDPA" if d.group is None else "GST-FDPA"
    term = {"T-FDPA": "a_k·b_k", "ST-FDPA": "a_k·b_k·α·β", "GST-FDPA": "α_g·β_g·Σ_g a_k·b_k"}[name]
    terms = length if d.group is None else length // d.group
    ulp = "0.5 ulp" if d.rho.mode in NEAREST else "1 ulp"
    algorithm = {"T-FDPA": 7, "ST-FDPA": 8, "GST-FDPA": 9}[name]
    return Operation(
        name=name,
        formula=(
            f"d = {d.conversion}(Σ {d.alignment_rounding}_{d.fraction_bits}({term}) + c), {terms} terms and c"
        ),
        bounds=(
            ("fused summation", f"{terms + 1}·2^(e_max-{d.fraction_bits})"),
            ("output rounding", f"{ulp} of {d.rho.fraction_bits} fraction bits"),
        ),
        source=f"XIE Algorithm {algorithm}, Table 9",
    )


def _remembered(u: UnitSpec, length: int) -> Operation:
    """The operation of a sum with sticky, jammed or halved lost bits."""
    d = u.design
    ulp = _HALF_ULP if d.rho.mode in NEAREST else ("output rounding", "1 ulp")
    of_c = (("a subnormal c", f"2^{u.operands.c.e_min - 1}"),) if d.c_subnormals == "hidden_bit" else ()
    # The halves of a product lose less than a unit each.
    units = 2 * length if d.lost_bits == "halves" else length + 1
    return Operation(
        name=f"{d.lost_bits} DPA",
        formula=f"d = {d.conversion}(Σ_{length} a_k·b_k + c), {d.fraction_bits} bits, others {d.lost_bits}",
        bounds=(("fused summation", f"{units}·2^(e_max-{d.fraction_bits})"), *of_c, ulp),
        source=_VENDOR.get(u.arch, "a design chosen by name"),
    )


def _then_c(u: UnitSpec, length: int) -> Operation:
    d = u.design
    pieces = "" if d.piece_bits is None else f" in pieces of {d.piece_bits} bits"
    cut = f"{d.alignment_rounding}_{d.fraction_bits}(a_k·b_k)"
    count = length * u.pieces
    ulp = _HALF_ULP if d.rho.mode in NEAREST else ("output rounding", "1 ulp")
    return Operation(
        name="DPA, then c",
        formula=f"d = {d.conversion}((Σ {cut}) + c), {length} products{pieces}",
        bounds=(("sum of the products", f"{count}·2^(e_max-{d.fraction_bits})"), ulp),
        source=_VENDOR.get(u.arch, "a design chosen by name"),
    )


def _framed(u: UnitSpec, length: int) -> Operation:
    d = u.design
    groups = 0 if d.aligned_group is None else length // d.aligned_group
    cut, of_c = f"{d.alignment_rounding}_{d.fraction_bits}", f"{d.alignment_rounding}_{d.c_fraction_bits}(c)"
    terms = f"Σ_{groups} {cut}(Σ_{d.aligned_group} {cut}(a_k·b_k))" if groups else f"Σ {cut}(a_k·b_k)"
    sign = "" if d.accumulation != "ones_complement" else ", complements for the other sign than c's"
    twice = "" if d.accumulator is None else f", first {d.accumulator}"
    unit = f"2^(max(e_max, e_c-{(d.c_fraction_bits or 0) - (d.fraction_bits or 0)})-{d.fraction_bits})"
    return Operation(
        name="complement DPA" if sign else "paired DPA" if groups else "DPA, c apart",
        formula=f"d = {d.conversion}({terms} + {of_c}){sign}{twice}",
        bounds=(("fused summation", f"{length + groups + 1}·{unit}"), _HALF_ULP),
        source=_VENDOR.get(u.arch, "a design chosen by name"),
    )


def _stepwise(u: UnitSpec, length: int) -> Operation:
    d = u.design
    flush = d.operand_subnormals != "kept"
    ftz = d.summation == "pairwise" and d.operand_subnormals == "positive_zero"
    names = {"pairwise": "pairwise sum", "two_chains": "two FMA chains", "sequential": "FMA steps"}
    bounds = [("each addition and product", "0.5 ulp" if d.step.mode.startswith("RN") else "1 ulp")]
    bulk = d.summation == "fused" and d.fraction_bits is not None
    if bulk:
        bounds.insert(0, ("fused summation", f"{length}·2^(e_max-{d.fraction_bits})"))
    if flush:
        bounds.insert(0, ("subnormal operands as zero", f"2^{u.operands.a.e_min} in a factor"))
    if d.result_subnormals != "kept":
        bounds.append(("subnormal results as zero", f"2^{d.rho.e_min}"))
    return Operation(
        name="FTZ-AddMul" if ftz else "bulk sum, then c" if bulk else names.get(d.summation, "sum, then c"),
        formula=f"{length} products, {d.summation}, steps {d.accumulator}, c {d.c_position}, {d.conversion}",
        bounds=tuple(bounds),
        source="XIE Algorithms 1 and 2, Table 9" if ftz else _VENDOR.get(u.arch, "a design chosen by name"),
    )


def risks(u: UnitSpec) -> tuple[str, ...]:
    """Known risks of a unit in the terms of XIE Table 10, derived from its parameters."""
    d, names = u.design, []
    nvidia_sum = d.summation == "fused" and d.fraction_bits is not None and not d.framed
    nvidia_sum = nvidia_sum and u.emulation is None and u.tree is None
    if d.operand_subnormals != "kept" and u.operands.a.name == "fp16":
        names.append("input FTZ: fp16 subnormals count as zero, an error of up to 2^-14 per factor")
    if nvidia_sum and d.fraction_bits is not None and d.fraction_bits < 23:
        names.append(f"small F: {d.fraction_bits} fraction bits in the sum, fewer than fp32 has")
    if nvidia_sum and d.rho.fraction_bits < u.operands.d.fraction_bits:
        names.append(f"{d.conversion}: the result keeps {d.rho.fraction_bits} fraction bits only")
    if u.operands.d.name == "fp16":
        names.append(f"{d.conversion}: the output precision limits the sum's")
    if d.framed:
        names.append("asymmetry: bits are cut by rounding down or as complements (Φ(-A,B,-C) ≠ -Φ(A,B,C))")
    if d.summation in ("tr", "gtr") and d.sum_rounding != "RZ":
        names.append("asymmetry: rounding down inside biases results toward -Inf (Φ(-A,B,-C) ≠ -Φ(A,B,C))")
    return tuple(names)
