"""Import of tiles recorded elsewhere into a file of results.

An archive holds whole tiles in raw encodings: A [tiles, m, K], B [tiles, n, K], C and D [tiles, m, n].
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from tcformal.design.unit import UnitSpec, base_name
from tcformal.devices.device import slug
from tcformal.devices.log.archive import read_arrays
from tcformal.devices.log.blocks import block_items, suite_line, tile_data
from tcformal.devices.log.written import end_line, head_line
from tcformal.devices.sealed import CAMPAIGN
from tcformal.errors import InputError, RecordError
from tcformal.simulation.operands.batch import batch_of
from tcformal.simulation.operands.random import Raw
from tcformal.simulation.replay import replay
from tcformal.store import lines
from tcformal.store.schema import now, sealed


def keep_tiles(archive: Path, spec: UnitSpec, device: str, folder: Path) -> tuple[Path, int, int]:
    """Write an archive's tiles as a device's results; the file, and counts of dot products and mismatches.

    Errors: InputError for units with scales; RecordError for other arrays, for encodings that do not fit,
    and where results of that device and unit exist.
    """
    if spec.scale_format is not None:
        raise InputError(f"expected a unit without scales for recorded tiles, but got {spec.name}")
    a, b, c, d = _arrays(archive, spec)
    parts = [slug(part) for part in spec.name.split("/")]
    path = folder / "hardware" / slug(device) / "/".join(parts[:-1]) / f"{parts[-1]}.jsonl"
    if path.exists():
        raise RecordError(f"expected no results at {path} yet, but there are some")
    source = hashlib.sha256(archive.read_bytes()).hexdigest()
    instruction = base_name(spec).rpartition("/")[2]
    who = {"device": device, "instruction": instruction, "archive": archive.name, "sha256": source}
    lines.append(path, sealed(head_line(spec, a.shape[2], CAMPAIGN, device=who, date=now())))
    made, wrong = [], 0
    for i in range(len(a)):
        block = tile_data(spec, f"{archive.stem}/{i}", a[i], b[i], c[i])
        items = block_items(spec, block, f"tile {i} of {archive}")
        model = replay(spec, batch_of([item.witness for item in items]))
        line = suite_line(spec, str(block["digest"]), d[i].reshape(-1), model)
        made += [block, line]
        wrong += int(line["mismatches"])
    lines.append_all(path, map(sealed, [*made, end_line(d.size, wrong)]))
    return path, d.size, wrong


def _arrays(archive: Path, spec: UnitSpec) -> list[Raw]:
    """The arrays A, B, C and D of an archive, as raw encodings of the unit's formats."""
    o = spec.operands
    formats = dict(zip("ABCD", (o.a, o.b, o.c, o.d), strict=True))
    arrays = read_arrays(archive, {name: fmt.storage_bits for name, fmt in formats.items()})
    a, b, c, d = arrays
    whole = all(x.ndim == 3 for x in arrays) and a.shape[::2] == b.shape[::2] and c.shape == d.shape
    if not whole or c.shape != (len(a), a.shape[1], b.shape[1]) or not c.size or a.shape[2] % spec.k:
        raise RecordError(
            f"expected A [tiles, m, K], B [tiles, n, K], C and D [tiles, m, n] with K a multiple of {spec.k} "
            f"in {archive}, but got {', '.join(str(list(x.shape)) for x in arrays)}"
        )
    for (name, fmt), x in zip(formats.items(), arrays, strict=True):
        if int(x.max()) >> fmt.width:
            raise RecordError(f"expected encodings of {fmt.name} in {name} of {archive}, but some are wider")
    return [x.astype(np.uint64) for x in arrays]
