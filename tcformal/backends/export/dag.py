"""JSON export: a design's DAG with operands, formats and stage names."""

from __future__ import annotations

import json

from tcformal.backends.export.design import RESULT, ExportedDesign
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
