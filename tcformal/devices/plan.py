"""A plan: the dot products to run on a device, in one file of JSON lines.

Directed dot products are written as hex words; random ones as generator, seed, count and the digest of
their operands, which detects a changed generator.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from tcformal.checks import MOST_AT_ONCE, MOST_VECTORS, check_int
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.devices.sealed import MOST_SEED, MOST_TERMS, MOST_WORDS, check_seal, whole
from tcformal.errors import InputError, RecordError, TcformalError
from tcformal.files import write_whole
from tcformal.simulation.operands.batch import FAMILIES, Batch, batch, inputs_digest
from tcformal.simulation.operands.witness import Witness, from_data, to_data
from tcformal.store import lines
from tcformal.store.schema import SEAL, sealed
from tcformal.version import VERSION

#: The generator of random dot products: `operands.random.batch`, all families in equal parts.
GENERATOR = "families/1"
#: Random dot products of one item: the most that an interrupted run loses.
CHUNK = 48_000
SCHEMA = "tcformal-plan/2"


@dataclass(frozen=True, slots=True)
class Directed:
    """A directed dot product: explicit operands, a name and a reason."""

    id: str
    #: What it separates, or its origin.
    why: str
    witness: Witness
    count: ClassVar[int] = 1

    def data(self, spec: UnitSpec) -> dict[str, object]:
        """The line of this item in a plan."""
        return {"kind": "directed", "id": self.id, "why": self.why, **to_data(spec, self.witness)}


@dataclass(frozen=True, slots=True)
class Random:
    """A random item: dot products given by generator, seed and count."""

    id: str
    seed: int
    count: int
    #: SHA-256 of the operands.
    inputs: str

    def data(self, spec: UnitSpec) -> dict[str, object]:
        """The line of this item in a plan."""
        del spec
        return {
            "kind": "random", "id": self.id, "generator": GENERATOR, "seed": self.seed,
            "count": self.count, "inputs": self.inputs,
        }  # fmt: skip

    def batch(self, spec: UnitSpec, k: int) -> Batch:
        """Generate the operands; InputError where their digest differs from the plan's."""
        check_int("dot products times terms", self.count * k, high=MOST_WORDS)
        operands = batch(spec, k, self.count, self.seed)
        digest = inputs_digest(operands)
        if digest != self.inputs:
            raise InputError(
                f"expected {GENERATOR} with seed {self.seed} to make operands of digest {self.inputs[:12]}…, "
                f"but this version makes {digest[:12]}…: make the plan anew"
            )
        return operands


PlanItem = Directed | Random


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan of dot products of `k` terms for a unit."""

    unit: UnitSpec
    k: int
    items: tuple[PlanItem, ...]

    @property
    def count(self) -> int:
        """The number of dot products."""
        return sum(item.count for item in self.items)

    def lines(self) -> list[dict[str, object]]:
        """The plan as plain data: a head with the digest of all items, then the items."""
        head = {
            "kind": "plan", "schema": SCHEMA, "unit": self.unit.instruction, "k": self.k,
            "formats": self.unit.operands.names(), "tcformal": VERSION, "digest": self.digest(),
        }  # fmt: skip
        return [sealed(head), *(item.data(self.unit) for item in self.items)]

    def digest(self) -> str:
        """SHA-256 of the unit, the length and the items."""
        items = (json.dumps(item.data(self.unit), sort_keys=True) for item in self.items)
        texts = [self.unit.instruction, str(self.k), *items]
        return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def make_plan(spec: UnitSpec, directed: Iterable[Directed], *, vectors: int, seed: int) -> Plan:
    """A plan of distinct directed dot products and `vectors` random ones.

    Errors: InputError for directed ones of different lengths, and for a plan without dot products.
    """
    check_int("random dot products", vectors, low=0, high=MOST_VECTORS)
    chosen: dict[Witness, Directed] = {}
    for item in directed:
        chosen.setdefault(item.witness, item)
    lengths = {len(w.a) for w in chosen} or {spec.k}
    if len(lengths) > 1:
        raise InputError(f"expected dot products of one length, but got lengths {sorted(lengths)}")
    k = lengths.pop()
    randoms: list[Random] = []
    for i, start in enumerate(range(0, vectors, CHUNK)):
        count = min(CHUNK, vectors - start)
        operands = batch(spec, k, count, seed + i)
        randoms.append(Random(f"random/{seed + i}", seed + i, count, inputs_digest(operands)))
    if not chosen and not randoms:
        raise InputError(f"expected dot products for {spec.instruction}, but the plan would hold none")
    return Plan(spec, k, (*numbered(chosen.values()), *randoms))


def numbered(items: Iterable[Directed]) -> list[Directed]:
    """Items with unique names: duplicates get a number."""
    seen: dict[str, int] = {}
    renamed = []
    for item in items:
        seen[item.id] = count = seen.get(item.id, 0) + 1
        renamed.append(item if count == 1 else Directed(f"{item.id}#{count}", item.why, item.witness))
    return renamed


def family_of(row: int, count: int) -> str:
    """The input family of one row of a random item; families are contiguous."""
    for i, family in enumerate(FAMILIES):
        row -= count // len(FAMILIES) + (i < count % len(FAMILIES))
        if row < 0:
            return family
    raise InputError(f"expected a row below {count}, but got {count + row}")


def write_plan(path: Path, plan: Plan) -> None:
    """Write a plan atomically."""
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in plan.lines())
    write_whole(path, text.encode())


def read_plan(path: Path) -> Plan:
    """Read a plan; RecordError for a damaged or altered file."""
    if not path.exists():
        raise RecordError(f"expected a plan at {path}, but there is none")
    data = []
    for line in lines.read(path):
        if line.data is None:
            raise RecordError(line.problem)
        data.append(line.data)
    if not data or data[0].get("schema") != SCHEMA:
        raise RecordError(f"expected a plan ({SCHEMA}) in {path}, but its first line is none")
    try:
        spec, k = resolve(str(data[0]["unit"])), whole(data[0], "k", str(path), low=1, high=MOST_TERMS)
        items = tuple(item_of(spec, d, f"{path}, item {d.get('id')}") for d in data[1:])
    except (KeyError, ValueError, TypeError) as error:
        raise RecordError(f"expected a whole plan in {path}, but got: {error!r:.200}") from None
    except RecordError:
        raise
    except TcformalError as error:
        raise RecordError(f"expected a plan of a known unit in {path}, but {error}") from None
    if any(isinstance(item, Directed) and len(item.witness.a) != k for item in items):
        raise RecordError(f"expected {k} products in every dot product of {path}, but some have others")
    if len({item.id for item in items}) != len(items):
        raise RecordError(f"expected a name of its own for every item of {path}, but some share one")
    check_seal(data[0], f"the head of the plan {path}")
    plan = Plan(spec, k, items)
    head, *rest = plan.lines()
    informs = {key: data[0].get(key) for key in ("tcformal", SEAL)}
    if data != [head | informs, *rest]:
        raise RecordError(f"expected the plan {path} as it was written, but it was altered: make it anew")
    return plan


def item_of(spec: UnitSpec, data: Mapping[str, object], where: str) -> PlanItem:
    """Parse one item from its line in a plan or in a file of results."""
    if data["kind"] == "directed":
        return Directed(str(data["id"]), str(data.get("why", "")), from_data(spec, data, where))
    if data["kind"] == "random" and data["generator"] == GENERATOR:
        seed = whole(data, "seed", where, high=MOST_SEED)
        count = whole(data, "count", where, low=1, high=MOST_AT_ONCE)
        return Random(str(data["id"]), seed, count, str(data["inputs"]))
    raise RecordError(f"expected a directed or random ({GENERATOR}) item in {where}, but got {data!r:.80}")
