"""Open hardware, from published RTL, C models and emulators: a file for each kind of vendor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tcformal.design.arithmetic import (
    QUIET_NAN,
    esperanto_chain,
    esperanto_sum,
    fixed_point_sum,
    fma_chain,
    nvdla_sum,
    vortex_dot,
)
from tcformal.design.trees.tree import Step, Tree, tree
from tcformal.design.unit import Evidence, Fact
from tcformal.design.vendors.facts import as_reference, documented
from tcformal.design.vendors.row import Published

#: Where the definitions stand; the first words are tags of `sources.toml`.
VORTEX = "Vortex, VX_tcu_fedp_tfr.sv and VX_tcu_tfr_*.sv"
VORTEX_DPI = "Vortex, VX_tcu_fedp_dpi.sv"
NVDLA = "NVDLA, NV_NVDLA_CMAC_CORE_MAC_exp.v, NV_NVDLA_CMAC_CORE_MAC_mul.v and NV_NVDLA_cmac.h"
HMX = "Hexagon HMX, hmx_fp16_mac, hmx_fp16_acc_ovf_check and hmx_fp16_cvt"
HMX_BITS = "Hexagon HMX, QDSP6_MX_FP_ACC_FRAC and QDSP6_MX_FP_RATE"
ESPERANTO = "Esperanto emulator, fpu/tensors.cpp and insns/tensors.cpp"


def _esperanto() -> Iterator[tuple[str, Published]]:
    """Esperanto's TensorFMA after its first pass; products with zeros leave c unchanged."""
    fact = as_reference(ESPERANTO, "ET-SoC-1-f5e79040")
    first = "The first pass has no c and skips nothing: as with c = -0 and zero_words=summed."
    yield "TensorFMA16A32", Published(
        shape=(16, 16, 32), a="fp16", b="fp16", c="fp32", design=esperanto_sum(), fact=fact, notes=(first,)
    )  # fmt: skip
    yield "TensorFMA32", Published(
        shape=(16, 16, 16), a="fp32", b="fp32", c="fp32", design=esperanto_chain(), fact=fact,
        overrides=(("conversion", Fact("the rounding mode is that of frm", Evidence.CHOSEN)),),
        notes=(first,),
    )  # fmt: skip


def _vortex() -> Iterator[tuple[str, Published]]:
    """Vortex's fused fp16 dot product: the RTL, and its stand-in for simulation."""
    yield "VX_tcu_fedp_tfr.fp16", Published(
        shape=(1, 1, 4), a="fp16", b="fp16", c="fp32", design=vortex_dot(),
        fact=as_reference(VORTEX, "Vortex-f7dce0c7"),
        notes=("A zero has a hidden bit, and a tie beside it is rounded up: queries/vortex/zeros.toml.",),
    )  # fmt: skip
    hidden = "A subnormal c has a hidden bit at exponent code 0; beside products of fp16 that does not show."
    for name, fmt, n in (("bf16", "bf16", 4), ("tf32", "e8m10", 2)):
        design = vortex_dot(products=n, c_subnormals="hidden_bit")
        fact = as_reference(VORTEX, "Vortex-f7dce0c7-bf16-tf32")
        notes = (hidden, "A tf32 is held in the low 19 bits of a register.")[: 1 if n == 4 else 2]
        row = Published(shape=(1, 1, n), a=fmt, b=fmt, c="fp32", design=design, fact=fact, notes=notes)
        yield f"VX_tcu_fedp_tfr.{name}", row
    step = Step((Step((Step((Step((0, "zero")), 1)), Step((Step((2, "zero")), 3)))), "c"))
    chain = replace(fma_chain(fmt="fp32", nan_word=QUIET_NAN["fp32"]), products=4)
    for fmt, design in (("fp16", chain), ("bf16", replace(chain, product_rounding="RNE-FP32"))):
        exact = ("Products of fp16 are exact in fp32, in which each of them is rounded.",)
        yield f"VX_tcu_fedp_dpi.{fmt}", Published(
            shape=(1, 1, 4), a=fmt, b=fmt, c="fp32", design=design, fact=documented(VORTEX_DPI),
            tree=Tree(step), notes=exact if fmt == "fp16" else (),
        )  # fmt: skip


def _hexagon() -> Iterator[tuple[str, Published]]:
    """Hexagon's fixed-point accumulator for pairs of products; then the bias, converted to fp16."""
    total: int | str | Step = "zero"
    for k in range(0, 32, 2):
        total = Step((k, k + 1, total) if k else (k, k + 1), "pair")
    fixed = {"pair": {"conversion": "RNE-Q17.46"}, "bias": {"conversion": "RNE-W17.46"}}
    yield "mxmem.hf", Published(
        shape=(32, 32, 32), a="fp16", b="fp16", c="e5m15", d="fp16", design=fixed_point_sum(),
        tree=tree(Step((Step((total, "c"), "bias"),)), fixed), fact=as_reference(HMX, "HMX-3aaad8ca"),
        overrides=(("product_rounding", documented(HMX_BITS)),),
        notes=("C is the bias of the conversion; the accumulator starts from 0.",),
    )  # fmt: skip


def _nvdla() -> Iterator[tuple[str, Published]]:
    """NVDLA's atomic operation: a sum of 38 bits with an exponent, which a double holds."""
    chosen = Fact("the unit has no c, and its sums are whole numbers and exponents", Evidence.CHOSEN)
    yield "cmac.fp16", Published(
        shape=(1, 8, 64), a="fp16", b="fp16", c="fp64", design=nvdla_sum(),
        fact=as_reference(NVDLA, "NVDLA-8e06b1b9"),
        overrides=tuple((x, chosen) for x in ("c_position", "conversion", "nan_word", "zero_sign")),
        notes=(
            "A is the data, B the weights. The unit takes an Inf for 2^16: queries/nvdla/cmac.toml.",
            "CACC adds these sums in 48 bits: that is another unit.",
        ),
    )  # fmt: skip


def open_hardware() -> dict[str, Iterator[tuple[str, Published]]]:
    """The rows of each vendor's units, by architecture."""
    return {"et-soc-1": _esperanto(), "vortex": _vortex(), "hexagon": _hexagon(), "nvdla": _nvdla()}
