"""The long conformance sweep: integers, lanes and oracle on every distinct design, resumable."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tcformal.analysis.sweeps.records import Judged, append, records, swept
from tcformal.backends.concrete import WORTH_COMPILING, Concrete
from tcformal.callbacks import Advance, Warn, ignore, ignore_count
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.oracle.exact import unit_dot
from tcformal.programs.chain import circuit, definition
from tcformal.simulation.compiled import dot_products
from tcformal.simulation.operands.batch import witness_at
from tcformal.simulation.operands.command import explain_command, in_hex
from tcformal.simulation.operands.random import batch
from tcformal.version import VERSION

#: Vectors judged in one piece of work.
CHUNK = 2500


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRecord:
    """What one design did on its vectors; one line of the results file."""

    unit: str
    #: How many catalogued names share this design and these formats.
    names: int
    #: SHA-256 of the definition: a changed definition is swept again.
    definition: str
    vectors: int
    seed: int
    #: Vectors on which lanes differ from integers, and from the Fraction oracle.
    integer_mismatches: int
    oracle_mismatches: int
    #: The first vectors that differ, ready for `tcformal explain`.
    examples: tuple[str, ...]
    #: SHA-256 of all results in order, so that a run can be compared with another.
    results: str
    version: str = VERSION


def judge(name: str, seed: int, n: int) -> Judged:
    """One piece of work: (integer mismatches, oracle mismatches, examples, results) on n vectors."""
    spec = catalogue()[name]
    graph, root = circuit(spec, spec.k)
    # Few rows are not worth the compilation, and many are from the first on.
    exact = Concrete(graph, [root], singly=n if n <= WORTH_COMPILING else 0)
    x = batch(spec, spec.k, n, seed)
    lanes = dot_products(spec, spec.k).on_lanes(x.named(), n)
    integers = oracle = 0
    examples: list[str] = []
    for row in range(n):
        found = int(lanes[row])
        w = witness_at(x, row)
        by_integers = exact(w.inputs())[0]
        by_oracle = unit_dot(spec, w.a, w.b, w.c, w.scale_a, w.scale_b)
        integers += by_integers != found
        oracle += by_oracle != found
        if (by_integers != found or by_oracle != found) and len(examples) < 3:
            command = explain_command([name], w, in_hex(spec))
            examples.append(f"{command}  # {found:#x} {by_integers:#x} {by_oracle:#x}")
    return integers, oracle, examples, lanes.astype(np.uint64).tobytes()


def done_already(path: Path, vectors: int, warn: Warn = ignore) -> dict[str, SweepRecord]:
    """The records of a results file that still hold: enough vectors of today's definition."""
    held = {record.unit: record for record in records(path, SweepRecord, warn)}
    return {
        name: r
        for name, r in held.items()
        if r.vectors >= vectors and name in catalogue() and r.definition == definition(catalogue()[name])
    }


def sweep(
    path: Path,
    vectors: int,
    seed: int,
    pool: Executor,
    *,
    only: Callable[[str], bool] = lambda _: True,
    advance: Advance = ignore_count,
) -> Iterator[SweepRecord]:
    """Sweep every distinct design that the file does not hold yet, appending each when it is done.

    A run that is killed loses the design it was at, nothing else.  `advance` takes the pieces of work
    done and in all.
    """
    held = done_already(path, vectors)
    wanted = {name: names for name, names in distinct_designs().items() if only(name)}
    open_ = {name: names for name, names in wanted.items() if name not in held}
    pieces = -(-vectors // CHUNK)

    def submit(name: str, i: int) -> Future[Judged]:
        return pool.submit(judge, name, seed + i, min(CHUNK, vectors - i * CHUNK))

    for name, (integers, oracle), examples, results in swept(open_, pieces, submit, advance):
        record = SweepRecord(
            unit=name, names=len(open_[name]), definition=definition(catalogue()[name]), vectors=vectors,
            seed=seed, integer_mismatches=integers, oracle_mismatches=oracle, examples=examples,
            results=results,
        )  # fmt: skip
        append(path, record)
        yield record
