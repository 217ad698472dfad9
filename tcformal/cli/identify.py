"""`identify`: which design a device has, with nothing but its operand formats given."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

import click

from tcformal.checks import MOST_VECTORS, check_int
from tcformal.cli.group import NO_ANSWER, OK, OTHERWISE, json_option, main, results_option, verbose_option
from tcformal.devices.isolated import opened
from tcformal.devices.protocol import HandDevice, lines_of
from tcformal.devices.registry import KINDS
from tcformal.errors import DeviceError, InputError
from tcformal.files import write_whole
from tcformal.identification.asker import DEFAULT_K, Asker, asker_of
from tcformal.identification.identification import (
    IDENTIFICATION,
    Identification,
    IdentifyVerdict,
    to_record,
)
from tcformal.report.escape import print_json, say, warn
from tcformal.report.identified import growth_picture, identification_view
from tcformal.report.parts import Pulse, show
from tcformal.store.file import RecordFile
from tcformal.store.lines import folder_lock


@main.command(name="identify")
@click.option("--device", "device_name", required=True, help=f"One of {', '.join(KINDS)}.")
@click.option("--formats", help="The operand formats: A,B,C,D, such as fp16,fp16,fp32,fp32.")
@click.option("--k", "k", type=int, help=f"Products of a dot product; {DEFAULT_K} unless given.")
@click.option("--scale", help="The scales: FORMAT/BLOCK, such as ue8m0/32.")
@click.option("--unit", help="The instruction, of devices that have several; formats and K are its own.")
@click.option("--vectors", type=int, help="Random and directed inputs of the last comparison; 100000, or 0 "
              "for a device that is asked by hand.")  # fmt: skip
@click.option("--seconds", type=click.FloatRange(min=0), default=300.0, show_default=True,
              help="After so many seconds, or Ctrl-C, the best verdict so far is given.")  # fmt: skip
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path),
              help="File for a picture (SVG) of how many designs are left after each batch.")  # fmt: skip
@click.option("--next", "show_next", is_flag=True, help="Print the inputs that a hand:NAME is to be asked.")
@click.option("--answer", type=click.Path(dir_okay=False, path_type=Path),
              help="Answers of hand:NAME to these inputs, as a file of JSON lines.")  # fmt: skip
@results_option
@verbose_option
@json_option
def identify_(
    device_name: str, formats: str | None, k: int | None, scale: str | None, unit: str | None,
    vectors: int | None, seconds: float, plot: Path | None, show_next: bool, answer: Path | None, folder: str,
    as_json: bool,
) -> int:  # fmt: skip
    """Identify the design of a device, given its operand formats alone.

    Every answer is kept: a run that was ended goes on where it was.  Exit 0: one class of designs gives all
    answers; 1: it is outside the space, not deterministic, or faulty, or all its answers are equal; 3:
    several designs are left, the time ended before, or the device has to be asked more.
    """
    with opened(device_name) as device:
        by_hand = isinstance(device, HandDevice)
        if vectors is None:
            vectors = 0 if by_hand else 100_000
        check_int("--vectors", vectors, low=0, high=MOST_VECTORS)
        if not isinstance(device, HandDevice):
            if show_next or answer is not None:
                raise InputError(
                    f"expected --device hand:NAME with --next and --answer, but got {device_name}"
                )
        elif answer is not None:
            device.answer(answer)
        asker = asker_of(device, formats, k, scale, unit, Path(folder))
        try:
            found = _identified(asker, vectors, seconds)
        except DeviceError:
            if not isinstance(device, HandDevice) or device.waiting is None:
                raise
            return _waits(asker, device, show_next, as_json)
    if show_next:
        raise InputError(f"expected inputs to ask {device_name}, but there are none: {found.verdict.value}")
    return _keep_and_print(found, Path(folder), plot, as_json)


def _identified(asker: Asker, vectors: int, seconds: float) -> Identification:
    """The identification, with what is being done on standard error."""
    from tcformal.identification.identify import identified as run  # the help does not wait for it

    if sys.stderr.isatty():
        return run(asker, vectors=vectors, seconds=seconds, progress=partial(say, err=True))
    with Pulse("identifying") as pulse:
        return run(asker, vectors=vectors, seconds=seconds, progress=pulse)


def _waits(asker: Asker, device: HandDevice, show_next: bool, as_json: bool) -> int:
    """Print the inputs that the device is to be asked, or how many there are."""
    batch = device.waiting
    if batch is None:
        return NO_ANSWER
    made = lines_of(asker.spec, batch)
    if as_json:
        print_json({"verdict": IdentifyVerdict.REMAINING.value, "kept": asker.probes, "next": made})
    elif show_next:
        for line in made:
            say(json.dumps(line))
    else:
        say(
            f"{IdentifyVerdict.REMAINING.value}: {asker.probes} answers are kept, and {device.name} is to be "
            f"asked {len(batch.c)} inputs: --next prints them, --answer FILE takes the answers"
        )
    return NO_ANSWER


def _keep_and_print(found: Identification, folder: Path, plot: Path | None, as_json: bool) -> int:
    record = to_record(found)
    with folder_lock(folder):
        RecordFile(folder, IDENTIFICATION, warn).add(record)
    if plot is not None:
        write_whole(plot, growth_picture(found.space, found.growth).encode())
    if as_json:
        print_json(record)
    else:
        show(identification_view(found))
    if found.verdict is IdentifyVerdict.IDENTIFIED:
        return OK
    open_ = found.verdict in (IdentifyVerdict.REMAINING, IdentifyVerdict.UNFINISHED)
    return NO_ANSWER if open_ else OTHERWISE
