"""The registry of export formats."""

from __future__ import annotations

from collections.abc import Callable

from tcformal.backends.export.aiger import to_aiger
from tcformal.backends.export.btor2 import to_btor2
from tcformal.backends.export.c import to_c
from tcformal.backends.export.dag import to_json_design
from tcformal.backends.export.design import ExportedDesign
from tcformal.backends.export.smtlib import to_smtlib_design
from tcformal.backends.export.verilog import to_verilog
from tcformal.checks import check_choice

#: What writes each format: text, or bytes where the format is binary.
FORMATS: dict[str, Callable[[ExportedDesign], str | bytes]] = {
    "smtlib": to_smtlib_design,
    "btor2": to_btor2,
    "aiger": to_aiger,
    "verilog": to_verilog,
    "c": to_c,
    "json": to_json_design,
}


def written(design: ExportedDesign, to: str) -> bytes:
    """A design in one export format; UnknownNameError for an unknown one."""
    text = FORMATS[check_choice("format", to, FORMATS)](design)
    return text.encode() if isinstance(text, str) else text
