"""Kept identifications of products checked: the checksum, and what follows from their own counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tcformal.cli import main
from tcformal.errors import TcformalError
from tcformal.identification.kept_products import check_product, verify_products
from tcformal.identification.whole_product import identify_product
from tcformal.store.audit.audit import AuditStatus
from tcformal.store.schema import sealed


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    """A product that adds one term after the other."""

    def product(a: Any, b: Any) -> Any:
        d = np.zeros((a.shape[0], b.shape[1]), np.float32)
        for k in range(a.shape[1]):
            d = (d.astype(np.float64) + a[:, k : k + 1].astype(np.float64) * b[k]).astype(np.float32)
        return d

    found = identify_product(product, "fp32,fp32,fp32", (3, 4, 5))
    return {"library": "mine", **found.record()}


def write(folder: Path, record: dict[str, Any]) -> None:
    path = folder / "products" / "cpu" / "mine.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record) + "\n")


@pytest.mark.slow
def test_a_record_is_consistent_and_never_said_to_hold(tmp_path: Path, record: dict[str, Any]) -> None:
    for one in (record, sealed(record)):
        write(tmp_path, one)
        (found,) = verify_products(tmp_path)
        assert (found.status, found.count) == (AuditStatus.UNCHECKED, 1)
        assert ("without a checksum" in found.reason) == (one is record)
    result = CliRunner().invoke(main, ["results", "verify", "--results", str(tmp_path)])
    assert result.exit_code == 3
    assert "unchecked: 1 products: consistent, but the results of the library are not kept" in result.output


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "found": lambda r: r.update(found=not r["found"]),
    "another order": lambda r: r["orders"].append(["k from 4 to 0", 1]),
    "no order": lambda r: r.update(orders=[]),
    "elements": lambda r: r["regions"][0].update(elements=1),
    "units": lambda r: r["regions"][0].update(units=["hopper/mma.m16n8k8.f32.tf32.tf32.f32"]),
    "a unit that is refuted": lambda r: r["regions"][0]["refuted"].append([r["regions"][0]["units"][0], 1]),
    "a share of nothing": lambda r: r["regions"][0]["refuted"].append(["x", 0]),
    "differing": lambda r: r.update(differing=1),
    "nothing compared": lambda r: r.update(checked=0),
    "half of a product": lambda r: r.update(checked=r["checked"] + 1),
    "no regions": lambda r: r.update(regions=[]),
    "a format": lambda r: r.update(formats=["fp7"]),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_a_false_record_fails(tmp_path: Path, record: dict[str, Any], what: str) -> None:
    altered = json.loads(json.dumps(record))
    CHANGES[what](altered)
    write(tmp_path, sealed(altered))
    (found,) = verify_products(tmp_path)
    assert found.status is AuditStatus.FAILED, what
    with pytest.raises(TcformalError):
        check_product(altered)


def test_an_altered_record_fails(tmp_path: Path, record: dict[str, Any]) -> None:
    altered = {**sealed(record), "library": "another"}
    write(tmp_path, altered)
    assert "nobody altered" in verify_products(tmp_path)[0].reason
    assert CliRunner().invoke(main, ["results", "verify", "--results", str(tmp_path)]).exit_code == 1
