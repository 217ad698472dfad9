"""Unpacking, rounding and packing against Flocq, whose definitions are proved to be IEEE 754's.

The DAGs of `unpack` and of `convert` with `pack` are printed as functions of Coq and compared, on every input
of a small format, with `binary_float_of_bits` and `binary_normalize`, by `vm_compute`.  That shows that these
DAGs are Flocq's functions for these formats and widths; of wider ones it shows nothing, and the printing of
operators as functions on Z is trusted.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from coq_dag import evaluated, function
from tcformal.design.rounding import Conversion
from tcformal.encodings.spec import Format, Specials
from tcformal.ir.build import Graph
from tcformal.semantics import round as rounding
from tcformal.semantics.number import Exponent
from tcformal.semantics.pack import pack
from tcformal.semantics.unpack import unpack

#: Exponent bits and fraction bits; Flocq needs a precision below the largest exponent.
FORMATS = [(3, 2), (4, 3)]
MODES = {"RNE": "NE", "RZ": "ZR", "RD": "DN", "RU": "UP", "RNA": "NA"}
#: Magnitudes of 7 bits, wider than both precisions and the three bits below; 16 exponents.
BITS, EXPONENTS = 7, 16


def format_of(exponent_bits: int, fraction_bits: int) -> Format:
    return Format(
        name=f"e{exponent_bits}m{fraction_bits}", exponent_bits=exponent_bits, fraction_bits=fraction_bits,
        bias=(1 << exponent_bits - 1) - 1, specials=Specials.IEEE,
    )  # fmt: skip


def lowest(fmt: Format) -> int:
    """The least exponent of the magnitudes' lowest bits: below half of the least subnormal."""
    return fmt.e_min - fmt.fraction_bits - 4


def flocq(fmt: Format) -> str:
    """The precision and the largest exponent as Flocq has them, with their conditions."""
    prec, emax = fmt.fraction_bits + 1, 1 << fmt.exponent_bits - 1
    return (
        f"Lemma positive : FLX.Prec_gt_0 {prec}. Proof. reflexivity. Qed.\n"
        f"Lemma below : BinarySingleNaN.Prec_lt_emax {prec} {emax}. Proof. reflexivity. Qed.\n"
        f"Definition right mode m e s := bits_of_binary_float {fmt.fraction_bits} {fmt.exponent_bits}\n"
        f"  (binary_normalize {prec} {emax} positive below mode m e s).\n"
    )


def differing(
    folder: Path, size: tuple[int, int], mode: str, overflow: str, than: str = ""
) -> list[tuple[int, ...]]:
    """The (sign, magnitude, code of the exponent) of all inputs on which the DAG and Flocq differ."""
    fmt = format_of(*size)
    g = Graph()
    sign, magnitude, code = g.input("s", 1), g.input("m", BITS), g.input("e", EXPONENTS.bit_length() - 1)
    low = lowest(fmt)
    lsb = Exponent(code, low, low + EXPONENTS - 1)
    made = rounding.convert(g, sign, magnitude, lsb, Conversion(mode, *size), overflow=overflow)
    word = pack(g, made.result, fmt, g.const((1 << fmt.width - 1) - 1, fmt.width))
    text = flocq(fmt) + function("dag", g, [sign, magnitude, code], {"word": word})
    text += (
        f"Definition of s m e := right BinarySingleNaN.mode_{MODES[than or mode]}\n"
        f"  (if s =? 0 then m else - m) (e + ({low})) (s =? 1).\n"
        "Definition wrong x := match x with (s, m, e) => negb (hd 0 (dag s m e) =? of s m e) end.\n"
        f"Definition all := list_prod (list_prod (upto 2) (upto {1 << BITS})) (upto {EXPONENTS}).\n"
        f"Definition place x := match x with (s, m, e) => (s * {1 << BITS} + m) * {EXPONENTS} + e end.\n"
        "Eval vm_compute in map place (filter wrong all).\n"
    )
    printed = evaluated(folder, text).partition("= [")[2].partition("]")[0]
    found = [int(x) for x in printed.split(";") if x.strip()]
    return [(x // EXPONENTS >> BITS, x // EXPONENTS & (1 << BITS) - 1, x % EXPONENTS) for x in found]


@pytest.mark.debian
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", FORMATS, ids=str)
def test_conversion_is_flocqs(size: tuple[int, int], mode: str, tmp_path: Path) -> None:
    """Subnormals, zeros of both signs, ties, and overflow as IEEE 754 has it."""
    assert differing(tmp_path, size, mode, "ieee") == []


@pytest.mark.debian
@pytest.mark.parametrize(("mode", "signs"), [("RZ", {0, 1}), ("RD", {0}), ("RU", {1}), ("RNE", set())])
def test_overflow_to_inf_is_the_only_difference(mode: str, signs: set[int], tmp_path: Path) -> None:
    """Where a unit's overflow gives Inf and IEEE 754's the largest finite number: exactly these inputs."""
    fmt = format_of(3, 2)
    low = lowest(fmt)
    expected = [
        (s, m, e)
        for s in (0, 1)
        for m in range(1 << BITS)
        for e in range(EXPONENTS)
        if s in signs and m * 2.0 ** (e + low) >= 2.0 ** (fmt.e_max + 1)
    ]
    assert differing(tmp_path, (3, 2), mode, "infinity") == expected


@pytest.mark.debian
def test_another_mode_rejects(tmp_path: Path) -> None:
    assert differing(tmp_path, (3, 2), "RNE", "ieee", than="RNA") != []


@pytest.mark.debian
def test_a_fault_in_rounding_rejects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sticky bit that misses the lowest dropped bit."""
    right = rounding.drop_low_bits

    def wrong(g: Graph, x: object, amount: int) -> object:
        kept, guard, _ = right(g, x, amount)  # type: ignore[arg-type]
        return kept, guard, g.any_bit(g.extract(x, amount - 2, 1))  # type: ignore[arg-type]

    monkeypatch.setattr(rounding, "drop_low_bits", wrong)
    assert differing(tmp_path, (3, 2), "RNE", "ieee") != []


UNPACKED = """
Lemma fraction : 0 < {f}. Proof. reflexivity. Qed.
Lemma exponent : 0 < {e}. Proof. reflexivity. Qed.
Lemma order : {f} + 1 < 2 ^ ({e} - 1). Proof. reflexivity. Qed.
Definition right x := match binary_float_of_bits {f} {e} fraction exponent order x with
  | B754_zero _ _ s => [0; 0; Z.b2z s; 1; 0]
  | B754_infinity _ _ s => [0; 1; Z.b2z s; 0; 0]
  | B754_nan _ _ s _ _ => [1; 0; Z.b2z s; 0; 0]
  | B754_finite _ _ s m e _ => [0; 0; Z.b2z s; 0; Zpos m * 2 ^ (e - {least})]
  end.
Definition ours x := match dag x with
  | [nan; inf; s; zero; m; e] =>
      if nan =? 1 then [1; 0; s; 0; 0] else if inf =? 1 then [0; 1; s; 0; 0]
      else [0; 0; s; zero; m * 2 ^ (e + {low} - {f} - {least})]
  | _ => []
  end.
Definition wrong x := negb (if list_eq_dec Z.eq_dec (ours x) (right x) then true else false).
Eval vm_compute in filter wrong (upto {words}).
"""


@pytest.mark.debian
@pytest.mark.parametrize("size", [*FORMATS, pytest.param((5, 10), marks=pytest.mark.long)], ids=str)
def test_unpacking_is_flocqs(size: tuple[int, int], tmp_path: Path) -> None:
    """All encodings, those of fp16 among them: class, sign, and significand times its weight."""
    fmt = format_of(*size)
    g = Graph()
    word = g.input("x", fmt.width)
    x = unpack(g, word, fmt)
    t = x.term
    roots = {
        "nan": x.nan,
        "inf": x.inf,
        "s": t.sign,
        "zero": t.zero,
        "m": t.significand,
        "e": t.exponent.bits,
    }
    text = function("dag", g, [word], roots) + UNPACKED.format(
        f=fmt.fraction_bits, e=fmt.exponent_bits, least=f"({fmt.e_min - fmt.fraction_bits})",
        low=f"({t.exponent.low})", words=1 << fmt.width,
    )  # fmt: skip
    assert "= [] " in evaluated(tmp_path, text)
