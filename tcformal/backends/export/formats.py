"""The export formats by name, and the one in JSON; the others, imported when used, are a module each."""

from __future__ import annotations

import json
from collections.abc import Callable

from tcformal.backends.export.aiger import to_aiger
from tcformal.backends.export.btor2 import to_btor2
from tcformal.backends.export.c import to_c
from tcformal.backends.export.exportable import RESULT, ExportedDesign
from tcformal.backends.export.smtlib import to_smtlib_design
from tcformal.backends.export.verilog import to_verilog
from tcformal.checks import check_choice
from tcformal.ir.walk import to_json


def to_json_design(design: ExportedDesign) -> str:
    """The DAG as `ir.walk.to_json` serialises it, with d and every stage as roots, and metadata.

    `tcformal.ir.walk.from_json` reads it back.
    """
    stages = {label: stage for row in design.stages().values() for label, stage in row}
    dag = json.loads(
        to_json(design.graph, {RESULT: design.root, **{label: s.node for label, s in stages.items()}})
    )
    data = {
        "name": design.name,
        "header": list(design.header),
        "operands": [
            {"name": p.name, "elements": list(p.inputs), "width": p.width, "format": p.encoding}
            for p in design.ports
        ],
        "result": {"name": RESULT, "width": design.root.width, "format": design.encoding},
        "stages": {
            label: {"signed": s.signed, "offset": s.offset, "scale": s.scale} for label, s in stages.items()
        },
        "roots": dag["roots"],
    }
    # One node a line: operator, operands' numbers, parameters.
    nodes = ",\n".join("  " + json.dumps(row) for row in dag["nodes"])
    return json.dumps(data, indent=1, ensure_ascii=False)[:-2] + f',\n "nodes": [\n{nodes}\n ]\n}}\n'


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
