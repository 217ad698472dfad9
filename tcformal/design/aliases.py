"""Aliases: short names for common computations that no instruction performs."""

from __future__ import annotations

_CHAIN = "sequential@"

#: Each alias with the design that it stands for and its meaning; `k=N` says how many products it sums.
ALIASES: dict[str, tuple[str, str]] = {
    "exact": (
        "tfdpa@fraction_bits=exact,rounding=RNE,zero_sign=ieee,overflow=ieee", "the exact sum, rounded once"
    ),
    "fma": (_CHAIN, "fused multiply–adds, from c on"),
    "muladd": (f"{_CHAIN}product_rounding=RNE-D", "products and sums rounded to d's format, from c on"),
    "fp64": (f"{_CHAIN}accumulator=RNE-FP64", "a chain in fp64, from c on, rounded at the end"),
    "fma-c-last": (f"{_CHAIN}c_position=last", "fused multiply–adds, c last"),
    "muladd-c-last": (
        f"{_CHAIN}c_position=last,product_rounding=RNE-D", "products and sums rounded to d's format, c last"
    ),
    "fp64-c-last": (
        f"{_CHAIN}c_position=last,accumulator=RNE-FP64", "a chain in fp64, c last, rounded at the end"
    ),
}  # fmt: skip


def unaliased(base: str, settings: dict[str, str]) -> tuple[str, dict[str, str]]:
    """The family and settings that an alias stands for; other names are returned unchanged.

    Settings of the name win; `k` alone is also how many products are summed at once.
    """
    if base not in ALIASES:
        return base, settings
    family, _, text = ALIASES[base][0].partition("@")
    target = settings.get("d_format", "fp32").upper()
    usual = {
        key: value.replace("RNE-D", f"RNE-{target}")
        for key, value in (item.split("=") for item in text.split(",") if item)
    }
    if "k" in settings and not {"products", "terms"} & set(settings):
        usual["products"] = settings["k"]
    return family, usual | settings
