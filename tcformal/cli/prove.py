"""`prove`: equality of two units, or a claim about one unit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import click
from rich.text import Text

from tcformal.cli.group import NO_ANSWER, OK, OTHERWISE, Answer, as_in, main, write_output
from tcformal.cli.solver_options import SolverOptions, two_units
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, RecordError
from tcformal.query.claims.answered import answered
from tcformal.query.claims.claim_verdict import ClaimVerdict
from tcformal.query.question import Kind
from tcformal.report.claim_view import claim_view, claims_table
from tcformal.report.escape import say, warn
from tcformal.report.parts import telling
from tcformal.report.text import SHOWN, console
from tcformal.shown import JsonObject
from tcformal.store.claim_records import CLAIM, claim_id, keep_claim
from tcformal.store.file import RecordFile
from tcformal.theory.checked import commands
from tcformal.theory.theorems import STATEMENTS, claims_named

#: Names of Coq's modules, which files are.
_MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_']*")


@main.command()
@two_units
@click.option("--claim", metavar="CLAIM", help="Prove a claim about one UNIT, or about every unit "
              f"that it applies to: {', '.join(STATEMENTS)}, all.")  # fmt: skip
@click.option("--filter", "only", metavar="TEXT", help="With --claim: the units with TEXT in a name.")
@click.option("--coq", metavar="FILE", help="With --claim of one UNIT: write the theorem's instance, "
              "and say which command checks it with the shipped sources in Coq.")  # fmt: skip
def prove(
    first: str | None, second: str | None, assume: Sequence[str], how: SolverOptions, with_explanation: bool,
    claim: str | None, only: str | None, coq: str | None,
) -> Answer:  # fmt: skip
    """Prove two units equal on all inputs, or a claim about one unit (exit 0 if they are, or it holds)."""
    if coq is not None and (claim in (None, "all") or first is None):
        raise click.UsageError("expected --coq with one unit and one claim")
    if claim is None:
        if only is not None:
            raise click.UsageError("expected --filter with --claim only")
        if first is None or second is None:
            raise click.UsageError(f"expected two units or --claim, but got {first or 'neither'}{as_in()}")
        from tcformal.cli.two import ask_two  # a claim's theorem does not wait for it

        return ask_two(first, second, assume, how, Kind.EQUIVALENT, with_explanation)
    if second is not None:
        raise click.UsageError("expected at most one unit with --claim, but got two")
    if with_explanation:
        raise click.UsageError("expected no --explain with --claim")
    if assume and (first is None or claim == "all"):
        raise click.UsageError("expected --assume with one unit and one claim")
    if first is not None and only is not None:
        raise click.UsageError("expected a unit or --filter, but got both")
    return _prove_claims(first, claim, only or "", how, assume, coq)


def _prove_claims(
    first: str | None, claim: str, only: str, how: SolverOptions, assume: Sequence[str], coq: str | None
) -> Answer:
    """Prove the claims; `assume` is about one unit."""
    claims = claims_named(claim)
    units = [resolve(first)] if first is not None else _units(claims, only)
    if assume:
        claims = _assuming(units[0], claims, assume)
    if not units:
        raise InputError(f"expected a unit that {claim} fits, but none has {only!r} in its name")

    claims_file = RecordFile(Path(how.folder), CLAIM, warn)
    refused: dict[tuple[str, str], str] = {}
    unkept: list[RecordError] = []
    verdicts: dict[str, list[ClaimVerdict]] = {}
    with telling("claims") as tell:

        def ask(spec: UnitSpec, name: str) -> ClaimVerdict:
            v = answered(spec, name, replace(how, progress=lambda text: tell(f"claims {name}: {text}")))
            try:
                keep_claim(claims_file, v)
            except RecordError as error:
                unkept.append(error)
            return v

        for i, (spec, name) in enumerate(product(units, claims)):
            tell(done=i, total=len(units) * len(claims))
            row = verdicts.setdefault(spec.name, [])
            try:
                row.append(ask(spec, name))
            except InputError as error:
                if first is not None and len(claims) == 1:
                    raise
                refused[spec.name, name] = str(error)
    served = sum(bool(v.served) for row in verdicts.values() for v in row)
    if served:
        say(f"kept in {how.opened().path}: {served} of the answers; --fresh asks again", err=True)
    for sentence in dict.fromkeys(map(str, unkept)):
        warn(f"an answer is not kept: {sentence}")
    written = {} if coq is None else write_instance(verdicts[units[0].name][0], coq)
    return _answer(verdicts, refused, one=first is not None, written=written)


def _units(claims: Sequence[str], only: str) -> list[UnitSpec]:
    from tcformal.query.claims.register import units_of  # reads the whole catalogue

    return list(units_of(claims, only))


def _assuming(spec: UnitSpec, claims: Sequence[str], assume: Sequence[str]) -> tuple[str, ...]:
    from tcformal.query.assume import from_texts  # assumptions are about circuits
    from tcformal.query.claims.register import under

    what = from_texts(spec.operands.c, assume)
    return tuple(under(name, what) for name in claims)


def write_instance(v: ClaimVerdict, file: str) -> dict[str, str]:
    """Write the theorem's instance; InputError where no theorem answered, and for no name of a module."""
    if Path(file).suffix != ".v" or not _MODULE.fullmatch(Path(file).stem):
        raise InputError(f"expected a file of Coq whose name is a module's, such as Claim.v, but got {file}")
    if v.theorem is None:
        raise InputError(f"expected a claim that a theorem answers for --coq, but {v.kind.name}: {v.reason}")
    write_output(file, v.theorem.coq.encode())
    return {"file": file, "command": commands(file)}


def say_written(written: Mapping[str, str]) -> None:
    """Say where an instance was written, if it was, and what checks it."""
    if written:
        say(f"written: {written['file']}; check it with\n{written['command']}")


def _answer(
    verdicts: Mapping[str, Sequence[ClaimVerdict]], refused: Mapping[tuple[str, str], str], *, one: bool,
    written: Mapping[str, str],
) -> Answer:  # fmt: skip
    """One claim as an object or a view, several as a list or a table."""
    found = [v for row in verdicts.values() for v in row]

    def data() -> JsonObject:
        coq = {"coq": dict(written)} if written else {}
        plain = [{"id": _id(v)} | v.to_json() | coq for v in found]
        not_asked = [{"unit": u, "claim": c, "reason": why} for (u, c), why in refused.items()]
        return plain[0] if one and len(plain) == 1 else {"claims": plain, "refused": not_asked}

    def text() -> None:
        out = console()
        for v in found if one else ():
            out.print(claim_view(v))
            out.print(Text(f"id: {_id(v)[:SHOWN]}; tcformal results show, proof", style="dim"))
            out.print()
        say_written(written)
        if not one or len(found) > 1:
            out.print(claims_table(verdicts, refused))

    return Answer(data, text, exit_code(found))


def _id(v: ClaimVerdict) -> str:
    return claim_id(v.claim, v.unit.name)


def exit_code(found: Sequence[ClaimVerdict]) -> int:
    """NO_ANSWER where a claim is open or was not checked, else OTHERWISE where one is refuted, else OK."""
    kinds = {v.kind for v in found}
    if not found or kinds - {Kind.HOLDS, Kind.VIOLATED} or not all(v.checked for v in found):
        return NO_ANSWER
    return OTHERWISE if Kind.VIOLATED in kinds else OK
