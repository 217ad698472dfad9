"""Identification of every distinct design of the catalogue, of twelve boxes, and of published parameters.

    python -m benchmarks.identify                    everything that benchmarks/identify.jsonl does not have
    python -m benchmarks.identify --time 3600        what begins within an hour
    python -m benchmarks.identify --bound 90         no device for longer: its row says so
    python -m benchmarks.identify --only NAME        one device again

writes benchmarks/identify.md.  The device is a function that computes what the model computes; no unit is
named, only formats and K.
"""

from __future__ import annotations

import json
import signal
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from tcformal.callbacks import processor_seconds
from tcformal.design.catalog import distinct_designs
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.devices.device import CallableDevice, Function
from tcformal.files import write_whole
from tcformal.identification.asker import Asker
from tcformal.identification.certify import Sameness
from tcformal.identification.identification import Identification, IdentifyVerdict, Settled
from tcformal.identification.identify import identified
from tcformal.simulation.matrix_unit import Unit, replay
from tcformal.simulation.operands.batch import Batch, Raw
from tcformal.version import processor

PAGE = Path(__file__).resolve().parent / "identify.md"
ROWS = PAGE.with_suffix(".jsonl")
#: Inputs of each validation.
VECTORS = 20_000
#: Seconds of a device that is not bounded, and the part of them for proofs.
_ALL, _PROOFS = 360.0, 5 / 6
#: What was set: inputs before validation, their median, batches, seconds to the class (median).
MOST, MEDIAN, BATCHES, SECONDS = 300, 200, 12, 60

HOPPER = "hopper/mma.m16n8k16.f32.f16.f16.f32"
HALVES = "tree@steps=p(q(0..7)+q(8..15)+c),q.fraction_bits=24,q.conversion=RZ-FP32,p.fraction_bits=exact"
BLOCKS = "tree@steps=(1+3+5+7+9+11+13+15+(0+2+4+6+8+10+12+14+c)),fraction_bits=24,conversion=RZ-FP32"
#: Boxes whose device is a model: what is inside, in words and by name.
MODELS: Mapping[str, str] = {
    "27 fraction bits, RNE": "tfdpa@products=4,fraction_bits=27,conversion=RNE-FP32,zero_exponent=none",
    "22 fraction bits, products in fp32 RNE, then c": (
        "tree@steps=p(q(0..7)+c),q.fraction_bits=22,q.conversion=RNE-FP32,p.fraction_bits=exact,"
        "p.conversion=RNE-FP32"
    ),
    "two fused halves of 24 fraction bits": f"{HALVES},p.conversion=RNE-FP32",
    "pairwise tree, RNE": "tree@steps=(((0+1)+(2+3))+((4+5)+(6+7))+c),conversion=RNE-FP32",
    "FMA chain, k descending": "tree@steps=(0+(1+(2+(3+c)))),conversion=RNE-FP32",
    "fused sum that wraps at 3 carry bits": "tfdpa@products=8,fraction_bits=24,carry_bits=3",
    "even, then odd blocks of 8": BLOCKS,
    "12 fused products": "tfdpa@products=12,fraction_bits=24,zero_exponent=none",
    "tdpbf16ps with its NaN rule": "x86/tdpbf16ps",
    "permuted layout": HOPPER,
}
#: Models as their papers have them, where these are no design of the catalogue: source and name.  What a
#: paper does not speak of is as the name has it: zero terms have no exponent, sums no bound.
PUBLISHED: Mapping[str, str] = {
    "VALPEY §4.4, Volta: 5 terms, 3 carry bits": "valpey@terms=5,carry_bits=3,align_bits=0",
    "VALPEY §4.4, Turing: one bit more": "valpey@terms=5,carry_bits=3,align_bits=1",
    "VALPEY §4.4, Ampere: 9 terms, 4 carry bits": "valpey@terms=9,carry_bits=4,align_bits=1",
    "FTTN, V100: 4 products, no extra bit": "tfdpa@products=4,fraction_bits=23,zero_exponent=none",
    "FTTN, A100: 8 products, an extra bit": "tfdpa@products=8,fraction_bits=24,zero_exponent=none",
    "FTTN, H100: 16 products, two extra bits": "tfdpa@products=16,fraction_bits=25,zero_exponent=none",
    "HAWKEYE's simulator, Hopper: a sum of 32 bits": f"{HOPPER}@carry_bits=5",
    "HAWKEYE's simulator, Hopper fp8": "hopper/wgmma.m64n8k32.f32.e4m3.e4m3@zero_exponent=-139",
    "MARY, products and sums rounded to fp32": "muladd@k=4",
    "MARY, products and sums rounded to fp16": "muladd@k=4,c_format=fp16,d_format=fp16",
}
STOCHASTIC, FAULTY = "stochastic rounding, 25 fraction bits", "wrong once in 10^4"
BOXES = (*MODELS, STOCHASTIC, FAULTY)


@dataclass(frozen=True, slots=True)
class Box:
    """A device, and the model of which it is made."""

    unit: UnitSpec
    asked: Function
    #: Verdicts that are right.
    wanted: tuple[IdentifyVerdict, ...] = (IdentifyVerdict.IDENTIFIED,)


def box(name: str) -> Box:
    """The device of one of the boxes, or of a unit."""
    if name == STOCHASTIC:
        return Box(resolve(HOPPER), _stochastic(2), (IdentifyVerdict.NON_DETERMINISTIC,))
    unit = resolve({**MODELS, **PUBLISHED}.get(name, HOPPER if name == FAULTY else name))
    model = Unit(unit)

    def plain(a: Raw, b: Raw, c: Raw, *scales: Raw) -> Raw:
        return model.dot_bits(a, b, c, *scales)

    if name == FAULTY:
        rng = np.random.default_rng(2)

        def faulty(a: Raw, b: Raw, c: Raw) -> Raw:
            d = plain(a, b, c)
            return np.where(rng.random(len(c)) < 1e-4, d ^ d.dtype.type(1 << 20), d)

        return Box(unit, faulty, (IdentifyVerdict.FAULTY,))
    if name == "permuted layout":
        order = np.random.default_rng(3).permutation(unit.k)
        return Box(unit, lambda a, b, c: plain(a, b[:, order], c))
    return Box(unit, plain)


def _stochastic(bits: int) -> Function:
    """Sums in doubles, cut to fp32 after so many random bits below the last place are added."""
    rng = np.random.default_rng(1)

    def device(a: Raw, b: Raw, c: Raw) -> Raw:
        with np.errstate(all="ignore"):
            x, y = (w.astype(np.uint16).view(np.float16).astype(np.float64) for w in (a, b))
            total = (x * y).sum(axis=1) + c.astype(np.uint32).view(np.float32)
            _, exponent = np.frexp(total)
            step = np.ldexp(1.0, exponent - 24 - bits)
            kept = np.trunc(np.abs(total) / step) + rng.integers(0, 1 << bits, len(c))
            made = np.copysign(np.floor(kept / (1 << bits)) * step * (1 << bits), total)
            words: Raw = made.astype(np.float32).view(np.uint32)
            return words

    return device


class _TooLongError(Exception):
    """An identification took more seconds of the processor than it may."""


@contextmanager
def _bounded(seconds: float | None) -> Iterator[None]:
    """Raises _TooLongError in what takes more seconds of the processor, solvers that ended included."""
    if seconds is None:
        yield
        return
    end = processor_seconds() + seconds

    def look(*_: object) -> None:
        if processor_seconds() > end:
            raise _TooLongError

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 1, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def measured(name: str, progress: Callable[[str], None], bound: float | None = None) -> dict[str, Any]:
    """One identification: its verdict, whether the class is the device's own, inputs, batches, seconds.

    Over `bound` seconds it is stopped: the class is the one that was being certified, if one was.
    """
    made = box(name)
    unit = made.unit
    device = CallableDevice(made.asked, "box")
    asker = Asker(device, unit.operands, unit.k, unit.scale_format, unit.scale_block)
    start = processor_seconds()
    marks: dict[str, float] = {}
    last = [""]

    def said(text: str) -> None:
        marks.setdefault(text.partition(" ")[0], processor_seconds() - start)
        if text.startswith("certifying "):
            last[0] = text.removeprefix("certifying ")
        progress(text)

    try:
        with _bounded(bound):
            found = identified(asker, vectors=VECTORS, seconds=_PROOFS * (bound or _ALL), progress=said)
    except Exception as error:  # noqa: BLE001  (the row says which, and the others follow)
        stopped = isinstance(error, _TooLongError)
        whole = processor_seconds() - start
        return {
            "device": name, "formats": str(unit.operands), "k": unit.k,
            "verdict": "STOPPED" if stopped else "FAILED", "right": False, "undecided": 0,
            "reason": f"stopped after {bound:g} seconds of the processor" if stopped else repr(error),
            "class": last[0], "in_class": bool(last[0]) and _gives(last[0], unit, asker.history[0]),
            "probes": asker.probes, "batches": asker.batches, "survivors": 0, "space": 0,
            "seconds": round(marks.get("certifying", whole), 1), "seconds_in_all": round(whole, 1),
        }  # fmt: skip
    whole = processor_seconds() - start
    left = [f"{x.axis}: {x.value}" for x in found.axes if x.settled is Settled.UNDECIDED]
    return {
        "device": name, "formats": str(unit.operands), "k": unit.k, "verdict": found.verdict.name,
        "right": found.verdict in made.wanted and _has(found, unit), "reason": found.reason,
        "undecided": len(left), "open": left,
        "class": found.classes[0][0] if found.classes else "", "in_class": _has(found, unit),
        "probes": found.probes, "batches": found.batches, "survivors": found.survivors, "space": found.space,
        "seconds": round(marks.get("certifying", whole), 1), "seconds_in_all": round(whole, 1),
    }  # fmt: skip


def _has(found: Identification, unit: UnitSpec) -> bool:
    """Whether the design of the class is the device's: proved to be, or no input tells them apart."""
    if found.verdict is IdentifyVerdict.NON_DETERMINISTIC:
        return True
    if not found.classes:
        return False
    return _gives(found.classes[0][0], unit, found.history[0])


def _gives(name: str, unit: UnitSpec, batch: Batch) -> bool:
    """Whether a design gives what a unit gives: on the inputs of a batch, and on a pool or by proof."""
    one = resolve(name)
    if (replay(one, batch) != replay(unit, batch)).any():
        return False
    same = Sameness(one, unit.k).quickly(unit)
    return same.witness is None


def page(rows: Sequence[Mapping[str, Any]]) -> str:
    """The table and what it sums up to."""
    groups = [
        ("designs", [row for row in rows if row["device"] not in (*BOXES, *PUBLISHED)]),
        ("boxes", [row for row in rows if row["device"] in BOXES]),
        ("published models", [row for row in rows if row["device"] in PUBLISHED]),
    ]
    units, boxes, models = (len(found) for _, found in groups)
    every = len(distinct_designs())
    lines = [
        "# Identification from formats alone", "",
        f"{units} of {every} distinct designs of the catalogue, {boxes} of {len(BOXES)} boxes, and {models} "
        f"of {len(PUBLISHED)} published models; {processor()}.  The device is a function; no unit is named.",
        f"Inputs are those before the validation by {VECTORS:,} others; seconds are of the processor, "
        "solvers included: to the class, and with all proofs.",
        f"Set: at most {MOST} inputs (median {MEDIAN}), {BATCHES} batches, {SECONDS} s to the class "
        "(median).",
        "A class is right where the device's own design gives what the class gives: proved, or on all of "
        "some 50,000 inputs.  STOPPED: more seconds than `--bound` allows, here most often of proofs.", "",
        *(line for what, found in groups for line in _summed(found, what)), "",
        "| device | K | verdict | right class | undecided | inputs | batches | s to class | s in all |",
        "|---|---:|---|---|---:|---:|---:|---:|---:|",
    ]  # fmt: skip
    place = {name: i for i, names in enumerate((BOXES, PUBLISHED)) for name in names}
    for row in sorted(rows, key=lambda row: (place.get(row["device"], len(place)), row["device"])):
        lines.append(
            f"| {row['device']} | {row['k']} | {row['verdict']} | {'yes' if row['in_class'] else 'no'} | "
            f"{row['undecided']} | {row['probes']} | {row['batches']} | {row['seconds']} | "
            f"{row['seconds_in_all']} |"
        )
    return "\n".join(lines) + "\n"


def _summed(rows: Sequence[Mapping[str, Any]], what: str) -> list[str]:
    """What some rows sum up to."""
    if not rows:
        return []
    of = {name: [row[name] for row in rows] for name in ("probes", "batches", "seconds", "seconds_in_all")}
    identified = sum(row["right"] for row in rows)
    return [
        f"* {len(rows)} {what}: {sum(row['in_class'] for row in rows)} right classes, {identified} with the "
        f"verdict that belongs to them; inputs: median {statistics.median(of['probes']):.0f}, most "
        f"{max(of['probes'])}; batches: median {statistics.median(of['batches']):.0f}, most "
        f"{max(of['batches'])}; seconds to the class: median {statistics.median(of['seconds']):.1f}, most "
        f"{max(of['seconds']):.1f}; in all: median {statistics.median(of['seconds_in_all']):.1f}, most "
        f"{max(of['seconds_in_all']):.1f}."
    ]


def every_kind_first() -> list[str]:
    """The distinct designs: one of each kind of arithmetic, the one of least K, then others."""
    of_kind: Counter[object] = Counter()
    placed = []
    for unit in sorted(map(resolve, distinct_designs()), key=lambda unit: (unit.k, unit.name)):
        d = unit.design
        kind = (
            d.summation, d.c_position, d.fraction_bits is None, d.group, unit.emulation is None,
            unit.scale_format is None, unit.d_format, unit.a_format.width,
        )  # fmt: skip
        placed.append((of_kind[kind], unit.k, unit.name))
        of_kind[kind] += 1
    return [name for *_, name in sorted(placed)]


def kept() -> dict[str, dict[str, Any]]:
    """The rows measured so far, by device."""
    lines = ROWS.read_text().splitlines() if ROWS.exists() else []
    return {row["device"]: row for row in map(json.loads, lines)}


@click.command()
@click.option("--only", multiple=True, help="A box or a unit, measured again; may be repeated.")
@click.option("--time", "seconds", type=float, help="Seconds after which nothing more begins.")
@click.option("--bound", type=float, help="Seconds of the processor after which a device is left.")
def main(only: Sequence[str], seconds: float | None, bound: float | None) -> None:
    """Identify devices, and write the page."""
    start, rows = time.monotonic(), kept()
    for name in only or [name for name in (*BOXES, *PUBLISHED, *every_kind_first()) if name not in rows]:
        if seconds is not None and time.monotonic() - start > seconds:
            break
        row = measured(name, lambda _: None, bound)
        rows = {**kept(), name: row}  # another run may have written meanwhile
        click.echo(json.dumps(row))
        write_whole(ROWS, "".join(json.dumps(row) + "\n" for row in rows.values()).encode())
        PAGE.write_text(page(list(rows.values())))
    PAGE.write_text(page(list(rows.values())))  # which may be older than its rows


if __name__ == "__main__":
    main()
