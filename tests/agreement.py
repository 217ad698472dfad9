"""Vectors of a unit from the oracle, and what of them the Coq specification computes otherwise."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tcformal.design.catalog import catalogue, distinct_designs, floating
from tcformal.design.unit import UnitSpec
from tcformal.oracle.exact import dot, unit_dot
from tcformal.simulation.operands.batch import Batch, batch, edge_encodings, rows_of, together, with_scales
from tcformal.simulation.operands.inputs import alone, below_normal, pool_of, rests, ties, vanishing
from tcformal.theory.checked import coqc
from tcformal.theory.design import coq_function, undescribed

#: The first unit of each design that the specification describes.
DESCRIBED = [name for name in distinct_designs(floating) if not undescribed(catalogue()[name])]
#: Bits of the numbers that a row is written in: small ones are read far faster than large ones.
_CHUNK = 60
_HEAD = f"""From Coq Require Import ZArith List Bool Uint63.
From TC Require Import Spec Design Wide.
Import ListNotations.
Open Scope Z_scope.

Definition joined (l : list int) : Z :=
  fold_right (fun x n => Z.lor (Uint63.to_Z x) (Z.shiftl n {_CHUNK})) 0 l.
"""
_CHECKS = """

Fixpoint fields (widths : list Z) (n : Z) : list Z :=
  match widths with w :: r => Z.land n (Z.ones w) :: fields r (Z.shiftr n w) | [] => [] end.
Fixpoint two_by_two (l : list Z) : list (Z * Z) :=
  match l with a :: b :: r => (a, b) :: two_by_two r | _ => [] end.
Definition differs (d : words -> Z) (k : nat) (widths : list Z) (row : list int) : bool :=
  match fields widths (joined row) with
  | result :: c :: rest =>
      let factors := two_by_two (firstn (2 * k) rest) in
      let of_blocks := two_by_two (skipn (2 * k) rest) in
      negb (d {| pairs := factors; c_word := c; scale_words := of_blocks |} =? result)
  | _ => true
  end.
Fixpoint wrong (i : nat) (d : words -> Z) (k : nat) (widths : list Z) (rows : list (list int)) : list nat :=
  match rows with
  | row :: r => if differs d k widths row then i :: wrong (S i) d k widths r else wrong (S i) d k widths r
  | [] => []
  end.
"""


class Vectors:
    """Inputs of one length, as rows of words, and the oracle's results."""

    def __init__(self, spec: UnitSpec, k: int, made: Batch) -> None:
        self.spec, self.k, self.rows = spec, k, []
        for i in range(len(made.c)):
            a, b = made.a[i].tolist(), made.b[i].tolist()
            of_a = [] if made.scale_a is None else made.scale_a[i].tolist()
            of_b = [] if made.scale_b is None else made.scale_b[i].tolist()
            c = int(made.c[i])
            self.rows.append((result(spec, a, b, c, of_a, of_b), c, a, b, of_a, of_b))

    def widths(self) -> list[int]:
        """The widths of the fields of a row, from the lowest."""
        s, n = self.spec, len(self.rows[0][4])
        made = [s.d_format.width, s.c_format.width, *[s.a_format.width, s.b_format.width] * self.k]
        return made + [0 if s.scale_format is None else s.scale_format.width] * (2 * n)

    def numerals(self) -> list[str]:
        """Each row as a list of numbers, the lowest first."""
        widths, made = self.widths(), []
        for d, c, a, b, of_a, of_b in self.rows:
            words = [d, c]
            for x, y in [*zip(a, b, strict=True), *zip(of_a, of_b, strict=True)]:
                words += [x, y]
            number = 0
            for word, width in zip(reversed(words), reversed(widths), strict=True):
                number = number << width | word
            chunks = []
            while number:
                chunks.append(str(number % (1 << _CHUNK)))
                number >>= _CHUNK
            made.append(f"[{'; '.join(chunks)}]")
        return made


def result(
    s: UnitSpec, a: list[int], b: list[int], c: int, of_a: Sequence[int] = (), of_b: Sequence[int] = ()
) -> int:
    """The oracle's result, of one call of a unit or of calls in a chain."""
    if s.tree is not None or s.emulation is not None:
        return unit_dot(s, a, b, c, of_a, of_b)
    # A call has no more products than it is given, whatever a block could take.
    design = replace(s.design, products=min(s.k, s.design.products))
    return dot(
        design, s.a_format, s.b_format, s.c_format, s.d_format, a, b, c, scale_format=s.scale_format,
        scale_block=s.scale_block, scale_a=of_a, scale_b=of_b,
    )  # fmt: skip


def zeros_and_c(spec: UnitSpec, k: int, n: int, seed: int) -> Batch:
    """Products that are zeros of one sign or of both, and a c that is zero, subnormal, or any corner."""
    rng = np.random.default_rng([seed, 43])
    minus = np.where(rng.random((n, k)) < rng.choice([0.0, 0.5, 1.0, 1.0], (n, 1)), spec.a_format.sign_bit, 0)
    corners = edge_encodings(spec.c_format)
    corners += [spec.c_format.sign_bit] * len(corners)
    a = minus.astype(np.uint64)
    return with_scales(spec, Batch(a, np.zeros_like(a), rng.choice(np.array(corners, np.uint64), n)))


def vectors(spec: UnitSpec, n: int, seed: int) -> list[Vectors]:
    """About n dot products: seeded families, corners, boundary inputs; a fifth of two calls in a chain."""
    k = spec.k
    part = n // 10
    rng = np.random.default_rng([seed, 42])
    pool = pool_of(spec, k, 4 * n, seed)
    chosen = rng.choice(len(pool.c), min(4 * part, len(pool.c)), replace=False)
    parts = [
        batch(spec, k, n - 9 * part, seed),
        rows_of(pool, chosen),
        zeros_and_c(spec, k, max(2, part), seed),
    ]
    if spec.scale_format is None:
        few = max(1, part // 2)
        parts += [family(spec, k, few, seed) for family in (below_normal, alone, vanishing, rests, ties)]
    made = [Vectors(spec, k, together(*parts))]
    if spec.tree is None and spec.emulation is None and spec.operands.c == spec.operands.d:
        made.append(Vectors(spec, 2 * k, batch(spec, 2 * k, 2 * part, seed + 1)))
    return made


def differences(folder: Path, cases: Sequence[tuple[UnitSpec, Sequence[Vectors]]], name: str) -> list[int]:
    """For each design how many of some unit's vectors the specification gives another result, by `coqc`."""
    lines, asked = [_HEAD + _CHECKS], []
    for i, (spec, parts) in enumerate(cases):
        lines.append(f"Definition d{i} : words -> Z := {coq_function(spec)}.")
        for j, part in enumerate(parts):
            rows = ";\n".join(part.numerals())
            lines.append(f"Definition rows{i}_{j} : list (list int) := [\n{rows}]%uint63.")
            widths = "; ".join(map(str, part.widths()))
            asked.append((i, f"length (wrong 0 d{i} {part.k} [{widths}] rows{i}_{j})"))
    lines.append(f"Eval vm_compute in [{'; '.join(text for _, text in asked)}].")
    (folder / f"{name}.v").write_text("\n".join(lines), encoding="utf-8")
    printed = coqc(folder, f"{name}.v").partition("= [")[2].partition("]")[0]
    counts = [int(x) for x in re.findall(r"\d+", printed)]
    assert len(counts) == len(asked), printed
    made = [0] * len(cases)
    for (i, _), count in zip(asked, counts, strict=True):
        made[i] += count
    return made
