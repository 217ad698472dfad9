"""Verdicts to keep, made without solver processes: each is true, and holds whatever evidence it names."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from tcformal.backends.cnf import to_cnf
from tcformal.design.names import resolve
from tcformal.query.assume import from_texts
from tcformal.query.pair import EqualityQuestion, question, search
from tcformal.query.question import Kind
from tcformal.query.verdict import DECIDED, Verdict, reason_of
from tcformal.simulation.operands.witness import Witness
from tcformal.solve.certificate import Certificate, certify
from tcformal.solve.result import Limits, SolverAnswer, Status
from tcformal.solve.sat import TRIVIAL_PROOF, run_cadical
from tcformal.store.certificates import PROOF
from tcformal.store.schema import seal
from tcformal.store.store import Store
from tcformal.version import VERSION

FOUR, FOUR_25 = "tfdpa@products=4", "tfdpa@products=4,fraction_bits=25"
THREE_BITS, FOUR_BITS = "valpey@terms=2,carry_bits=3", "valpey@terms=2,carry_bits=4"
#: Few fraction bits: that these two agree has a proof that is checked in a tenth of a second.
COMPLEMENT = "valpey@terms=2,fraction_bits=5"
SIGNS = f"{COMPLEMENT},accumulation=sign_magnitude"
MXF4 = "blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"
LIMITS = Limits(time_s=60.0, memory_mb=8192, seed=0)


def ask(first: str, second: str, *assumed: str) -> EqualityQuestion:
    """The question of two units."""
    one, other = resolve(first), resolve(second)
    return question(one, other, from_texts(one.operands.c, assumed))


def verdict(q: EqualityQuestion, kind: Kind, reason: str, **more: Any) -> Verdict[EqualityQuestion]:
    """A verdict with the limits and the time that all verdicts here have."""
    made = Verdict(kind=kind, reason=reason, question=q, limits=LIMITS, seconds=1.25, version=VERSION, **more)
    return (
        replace(made, reason=reason_of(kind, q, made.answers, made.certificate)) if kind in DECIDED else made
    )


def said(solver: str, status: Status, **more: Any) -> SolverAnswer:
    """One solver's answer."""
    return SolverAnswer(solver=solver, version="1.0", status=status, seconds=0.1 + 0.2, **more)


def separated(reason: str = "cadical found inputs") -> Verdict[EqualityQuestion]:
    """2^14 - 2^-11: one fraction bit more keeps the last bit of c."""
    q = ask(FOUR, FOUR_25)
    found = Witness((0x7400, 0, 0, 0x3C00), (0x3C00, 0, 0, 0), 0xBA000000)
    shown = Witness((0x7400, 0, 0, 0), (0x3C00, 0, 0, 0), 0xBA000000)
    answers = (
        said("cadical", Status.SAT, model=found.inputs()),
        said("z3", Status.UNKNOWN, reason="stopped"),
    )
    return verdict(
        q,
        Kind.SEPARATED,
        reason,
        inputs=shown.inputs(),
        found_inputs=found.inputs(),
        replayed=q.replay(shown.inputs()),
        answers=answers,
    )


def scaled() -> Verdict[EqualityQuestion]:
    """Two units that take scales."""
    q = ask(MXF4, f"{MXF4}@fraction_bits=20", "finite", "scale_exponents=-4..4")
    found = search(q, 1)
    assert found is not None
    assert found.scale_a
    inputs, answers = found.inputs(), (said("vectors", Status.SAT, model=found.inputs()),)
    return verdict(
        q,
        Kind.SEPARATED,
        "",
        inputs=inputs,
        found_inputs=inputs,
        replayed=q.replay(found.inputs()),
        answers=answers,
    )


def same() -> Verdict[EqualityQuestion]:
    """Two names of one definition, confirmed by a second solver."""
    q = ask("ampere/mma.m16n8k8.f32.f16.f16.f32", "turing/mma.m16n8k8.f32.f16.f16.f32")
    answers = (said("bitwuzla", Status.UNSAT), said("cvc5", Status.UNSAT))
    return verdict(q, Kind.EQUIVALENT, "one definition", answers=answers, confirmed_by=("cvc5",))


def trivial() -> Verdict[EqualityQuestion]:
    """Two names of one definition, with a proof in which nothing is left to do."""
    q = same().question
    made = certify(to_cnf(q.graph, q.differ), TRIVIAL_PROOF, "cadical")
    answers = (said("cadical", Status.UNSAT),)
    return verdict(q, Kind.EQUIVALENT, "", answers=answers, certificate=made)


@cache
def proof(first: str, second: str, assumed: tuple[str, ...], vacuous: bool) -> Certificate:
    """The proof that no input separates two units, or that none obeys the assumptions."""
    q = ask(first, second, *assumed)
    root = q.assumed if vacuous else q.differ
    outcome = run_cadical(q.graph, root, LIMITS)
    assert outcome.status is Status.UNSAT
    return certify(to_cnf(q.graph, root), outcome.proof, "cadical")


def certified(first: str = SIGNS, second: str = COMPLEMENT) -> Verdict[EqualityQuestion]:
    """A sum in sign and magnitude and one in two's complement, with the proof."""
    q = ask(first, second, "c=0")
    made = proof(first, second, ("c=0",), False)
    answers = (said("cadical", Status.UNSAT),)
    allowed = dict.fromkeys(q.graph.inputs, 0)
    return verdict(q, Kind.EQUIVALENT, "proved", answers=answers, certificate=made, allowed=allowed)


def vacuous() -> Verdict[EqualityQuestion]:
    """A finite number that is NaN, with the proof."""
    assumed = ("finite", "c=nan")
    q = ask(FOUR, FOUR_25, *assumed)
    made = proof(FOUR, FOUR_25, assumed, True)
    answers = (said("cadical", Status.UNSAT),)
    return verdict(q, Kind.VACUOUS, "nothing is so", answers=answers, certificate=made)


def unsettled(kind: Kind = Kind.TIMEOUT) -> Verdict[EqualityQuestion]:
    """No answer."""
    answers = (said("z3", Status.TIMEOUT, reason="no answer in 60 s"),)
    return verdict(ask(FOUR, FOUR_25), kind, "no solver answered in time", answers=answers)


def rewrite(
    path: Path, change: Callable[[Any], None], *, sealed: bool = True, line: int = -1, kind: str = "answer"
) -> None:
    """Alter one line of a file of records; `sealed`: as a forger would who also renews its digest.

    A change that the schema refuses cannot be sealed.
    """
    lines = path.read_text().splitlines()
    record = json.loads(lines[line])
    change(record)
    lines[line] = json.dumps(seal(record, kind) if sealed else record)
    path.write_text("\n".join(lines) + "\n")


def unserved(found: Verdict[Any] | None) -> bool:
    """Whether a store says nothing of a question, or that what it keeps was not checked."""
    return found is None or (found.kind is Kind.UNKNOWN and not found.checked and found.certificate is None)


def proof_kept(folder: Path) -> bytes:
    """The only proof of a results folder."""
    (line,) = (folder / PROOF.file).read_text().splitlines()
    return base64.b85decode(json.loads(line)["proof"])


def keep_proof(folder: Path, content: bytes) -> dict[str, Any]:
    """Add anything at all to the proofs of a folder, every digest right: what a record says of it."""
    sha256 = hashlib.sha256(content).hexdigest()
    data = seal({"sha256": sha256, "proof": base64.b85encode(content).decode()}, PROOF.name)
    with (folder / PROOF.file).open("a") as stream:
        stream.write(json.dumps(data) + "\n")
    return {"file": PROOF.file, "sha256": sha256}


def reopened(store: Store) -> tuple[Store, list[str]]:
    """The same folder, as another process finds it."""
    told: list[str] = []
    return Store(store.folder, told.append), told
