"""A witness: the operands of one dot product as raw encodings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Witness:
    """The operands of one dot product as raw encodings."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    c: int
    #: One scale per block of k, for units with scales.
    scale_a: tuple[int, ...] = ()
    scale_b: tuple[int, ...] = ()

    def inputs(self) -> dict[str, int]:
        """The operands by the DAG's input names."""
        rows = {"a": self.a, "b": self.b, "scale_a": self.scale_a, "scale_b": self.scale_b}
        named = {f"{name}[{i}]": x for name, row in rows.items() for i, x in enumerate(row)}
        return named | {"c": self.c}

    @staticmethod
    def of(inputs: Mapping[str, int], k: int | None = None) -> Witness:
        """A witness from values by input name, with zero for inputs that a solver left unconstrained."""
        k = sum(name.startswith("a[") for name in inputs) if k is None else k

        def row(name: str, count: int) -> tuple[int, ...]:
            return tuple(inputs.get(f"{name}[{i}]", 0) for i in range(count))

        scales = [sum(name.startswith(f"scale_{letter}[") for name in inputs) for letter in "ab"]
        return Witness(
            row("a", k), row("b", k), inputs.get("c", 0), row("scale_a", scales[0]), row("scale_b", scales[1])
        )
