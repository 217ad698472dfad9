"""Kept identifications of whole products checked: their checksums, and what follows from their own counts.

The results of the library are not kept, so that the order and the units cannot be derived again: no record of
a product is said to hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcformal.devices.sealed import read_whole
from tcformal.encodings.catalog import format_named
from tcformal.errors import RecordError, TcformalError
from tcformal.files import ENDING, read_packed
from tcformal.store.audit.audit import AuditStatus
from tcformal.store.lines import parse_line, read
from tcformal.store.schema import SEAL, sealed

#: The folder of products in a results folder, and the kind of their records.
PRODUCTS, PRODUCT = "products", "product"


@dataclass(frozen=True, slots=True)
class ProductFinding:
    """The check of the records of one file: their number, and one sentence."""

    file: str
    count: int
    status: AuditStatus
    reason: str


def verify_products(folder: Path) -> list[ProductFinding]:
    """Check every record of an identified product below a results folder, file by file."""
    found = (folder / PRODUCTS).rglob("*.jsonl*")
    paths = sorted({path.with_name(path.name.removesuffix(ENDING)) for path in found})
    return [x for path in paths if (x := _file(path)).count]


def _file(path: Path) -> ProductFinding:
    """The check of the records of one file, packed ones first."""
    without = count = earlier = 0
    try:
        for number, record in _records(path):
            count += 1
            if "regions" not in record:
                earlier += 1
                continue
            without += SEAL not in record
            try:
                check_product(record)
            except RecordError as error:
                raise RecordError(f"record {number}: {error}") from error
    except TcformalError as error:
        return ProductFinding(str(path), max(count, 1), AuditStatus.FAILED, str(error))
    more = f", {without} of them without a checksum" if without else ""
    more += f", {earlier} of an earlier form, which was not looked at" if earlier else ""
    reason = f"{count} products{more}: consistent, but the results of the library are not kept"
    return ProductFinding(str(path), count, AuditStatus.UNCHECKED, reason)


def _records(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    packed = path.with_name(path.name + ENDING)
    content = read_packed(packed).splitlines(keepends=True) if packed.exists() else []
    lines = [parse_line(packed, number, text) for number, text in enumerate(content, 1)]
    for line in (*lines, *read(path)):
        if line.data is None:
            raise RecordError(line.problem)
        if line.data.get("kind") == PRODUCT and "orders" in line.data:
            yield line.number, line.data


def check_product(record: Mapping[str, Any]) -> None:
    """RecordError for a record that was altered, or whose statements do not follow from its counts."""
    if SEAL in record and sealed(record)[SEAL] != record[SEAL]:
        raise RecordError("expected a record of a product that nobody altered, but its checksum is another")
    with read_whole("the record of a product"):
        _check_counts(record)


def _check_counts(r: Mapping[str, Any]) -> None:
    for name in r["formats"]:
        format_named(name)
    elements, regions = r["m"] * r["n"], r["regions"]
    orders = dict(r["orders"])
    if any(times < 1 for times in orders.values()) or (not orders and not r["reason"]):
        raise RecordError(f"expected orders with how often each was seen, but got {r['orders']!s:.80}")
    if regions and sum(x["elements"] for x in regions) != elements:
        raise RecordError(f"expected regions of {elements} elements in all, but got others")
    for x in regions:
        units, refuted = set(x["units"]), {name for name, _ in x["refuted"]}
        shares = [share for _, share in x["refuted"]]
        if units & refuted or not all(0 < share <= 1 for share in shares):
            raise RecordError("expected each unit to give a region or to be refuted by a share of it")
        shown = ", ".join(x["units"]) or f"none of {len(refuted)} units"
        if not x["summed"].endswith(f"({shown})"):
            raise RecordError(f"expected a sum by {shown:.80}, but got {x['summed'][-80:]}")
    complete = len(orders) == 1 and bool(regions) and all(x["units"] for x in regions)
    if r["checked"] % elements or (r["checked"] > 0) != (complete and not r["reason"]):
        raise RecordError(
            f"expected whole products to be compared where all is known, but got {r['checked']}"
        )
    if not 0 <= r["differing"] <= elements:
        raise RecordError(f"expected at most {elements} elements that differ, but got {r['differing']}")
    found = complete and not r["reason"] and not r["differing"]
    if r["found"] != found:
        raise RecordError(f"expected found: {found}, which follows from the counts, but got {r['found']}")
