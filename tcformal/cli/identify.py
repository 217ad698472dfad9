"""`identify`: which design a device has, with nothing but its operand formats given."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tcformal.checks import MOST_VECTORS, check_int
from tcformal.cli.group import (
    NO_ANSWER,
    OK,
    OTHERWISE,
    Answer,
    json_option,
    main,
    results_option,
    verbose_option,
)
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
from tcformal.report.escape import warn
from tcformal.report.identified import growth_picture, identification_view
from tcformal.report.parts import telling
from tcformal.store.file import RecordFile
from tcformal.store.lines import folder_lock


@main.command(name="identify")
@click.option("--device", "device_name", required=True, help=f"One of {', '.join(KINDS)}.")
@click.option("--formats", help="The operand formats: A,B,C,D, such as fp16,fp16,fp32,fp32.")
@click.option("--k", "k", type=int, help=f"Products of a dot product; {DEFAULT_K}, or the instruction's.")
@click.option("--scale", help="The scales: FORMAT/BLOCK, such as ue8m0/32.")
@click.option("--unit", help="The instruction, where several of the device have these formats and K.")
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
) -> Answer:  # fmt: skip
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
            return _waits(asker, device, show_next)
    if show_next:
        raise InputError(f"expected inputs to ask {device_name}, but there are none: {found.verdict.value}")
    return _kept(found, Path(folder), plot)


def _identified(asker: Asker, vectors: int, seconds: float) -> Identification:
    """The identification, with what is being done on standard error."""
    from tcformal.identification.identify import identified as run  # the help does not wait for it

    with telling("identifying") as tell:
        return run(asker, vectors=vectors, seconds=seconds, progress=tell)


def _waits(asker: Asker, device: HandDevice, show_next: bool) -> Answer:
    """The inputs that the device is to be asked, or how many there are."""
    assert device.waiting is not None
    word, made = IdentifyVerdict.REMAINING.value, lines_of(asker.spec, device.waiting)
    text = "\n".join(map(json.dumps, made)) if show_next else (
        f"{word}: {asker.probes} answers are kept, and {device.name} is to be asked {len(made)} inputs: "
        "--next prints them, --answer FILE takes the answers"
    )  # fmt: skip
    return Answer({"verdict": word, "kept": asker.probes, "next": made}, text, NO_ANSWER)


def _kept(found: Identification, folder: Path, plot: Path | None) -> Answer:
    """Keep an identification, and draw how it went."""
    record = to_record(found)
    with folder_lock(folder):
        RecordFile(folder, IDENTIFICATION, warn).add(record)
    if plot is not None:
        write_whole(plot, growth_picture(found.space, found.growth).encode())
    codes = {
        IdentifyVerdict.IDENTIFIED: OK, IdentifyVerdict.REMAINING: NO_ANSWER,
        IdentifyVerdict.UNFINISHED: NO_ANSWER,
    }  # fmt: skip
    return Answer(record, [*identification_view(found)], codes.get(found.verdict, OTHERWISE))
