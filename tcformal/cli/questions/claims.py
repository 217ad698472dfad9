"""`prove --claim`: a claim about one unit, or about every unit that it applies to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import click
from rich.text import Text

from tcformal.cli.group import NO_ANSWER, OK, OTHERWISE
from tcformal.cli.questions.options import SolverOptions
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.proofs.claim import ClaimVerdict
from tcformal.proofs.claims.register import CLAIMS, claims_named, under, units_of
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.prove import kept_or_proved
from tcformal.query.assume import from_texts
from tcformal.query.question import Kind
from tcformal.report.escape import print_json, say
from tcformal.report.lemmas import claim_view, claims_table
from tcformal.report.results import SHOWN
from tcformal.report.text import console, counting, progress
from tcformal.store.claims import claim_id


def or_claims(command: Callable[..., int]) -> Callable[..., int]:
    """Extend a command on two units by --claim: a claim about one unit, or about every unit."""

    @wraps(command)
    def either(
        first: str | None,
        second: str | None,
        claim: str | None,
        only: str | None,
        how: SolverOptions,
        as_json: bool,
        **options: Any,
    ) -> int:
        if claim is not None:
            if second is not None:
                raise click.UsageError("expected at most one unit with --claim, but got two")
            if options["with_explanation"]:
                raise click.UsageError("expected no --explain with --claim")
            if options["assume"] and (first is None or claim == "all"):
                raise click.UsageError("expected --assume with one unit and one claim")
            if first is not None and only is not None:
                raise click.UsageError("expected a unit or --filter, but got both")
            return prove_claims(first, claim, only or "", how, as_json, options["assume"])
        if only is not None:
            raise click.UsageError("expected --filter with --claim only")
        if first is None or second is None:
            raise click.UsageError(f"expected two units or --claim, but got {first or 'neither'}")
        return command(first=first, second=second, how=how, as_json=as_json, **options)

    for option in (
        click.option("--filter", "only", metavar="TEXT", help="With --claim: the units with TEXT in a name."),
        click.option("--claim", metavar="CLAIM", help="Prove a claim about one UNIT, or about every unit "
                     f"that it applies to: {', '.join(CLAIMS)}, all."),
    ):  # fmt: skip
        either = option(either)
    return either


def prove_claims(
    first: str | None, claim: str, only: str, how: SolverOptions, as_json: bool, assume: Sequence[str] = ()
) -> int:
    """Prove the claims, print the verdicts, and return the exit code; `assume` is about one unit."""
    claims = claims_named(claim)
    store = how.store()
    book = LemmaBook(
        members=how.solvers, limits=how.limits, certify=how.certify, keeper=store.lemmas, fresh=how.fresh
    )
    units = [resolve(first)] if first is not None else list(units_of(claims, only))
    if assume:
        claims = tuple(under(name, from_texts(units[0].operands.c, assume)) for name in claims)
    if not units:
        raise InputError(f"expected a unit that {claim} fits, but none has {only!r} in its name")
    refused: dict[tuple[str, str], str] = {}
    verdicts: dict[str, list[ClaimVerdict]] = {}
    with progress(*counting("doing")) as bar:
        task = bar.add_task("claims", total=len(units) * len(claims), doing="")

        def ask(spec: UnitSpec, name: str) -> ClaimVerdict:
            return kept_or_proved(
                spec, name, store, book=book, limits=how.limits, solvers=how.solvers,
                fresh=how.fresh, progress=lambda text: bar.update(task, doing=f"{name}: {text}"),
            )  # fmt: skip

        for spec in units:
            row = verdicts.setdefault(spec.name, [])
            for name in claims:
                try:
                    row.append(ask(spec, name))
                except InputError as error:
                    if first is not None and len(claims) == 1:
                        raise
                    refused[spec.name, name] = str(error)
                bar.advance(task)
    served = sum(bool(v.served) for row in verdicts.values() for v in row)
    if served:
        say(f"kept in {store.claims.path}: {served} of the answers; --fresh asks again", err=True)
    _print(verdicts, refused, one=first is not None, as_json=as_json)
    return exit_code([v for row in verdicts.values() for v in row])


def _print(
    verdicts: Mapping[str, Sequence[ClaimVerdict]],
    refused: Mapping[tuple[str, str], str],
    *,
    one: bool,
    as_json: bool,
) -> None:
    """Print one claim as an object or a view, several as a list or a table."""
    found = [v for row in verdicts.values() for v in row]
    if as_json:
        plain = [{"id": claim_id(v.claim, v.unit.name)} | v.to_json() for v in found]
        not_asked = [{"unit": u, "claim": c, "reason": why} for (u, c), why in refused.items()]
        print_json(plain[0] if one and len(plain) == 1 else {"claims": plain, "refused": not_asked})
        return
    out = console()
    if one:
        for v in found:
            out.print(claim_view(v))
            name = claim_id(v.claim, v.unit.name)[:SHOWN]
            out.print(Text(f"id: {name}; tcformal results show, proof", style="dim"))
            out.print()
    if not one or len(found) > 1:
        out.print(claims_table(verdicts, refused))


def exit_code(found: Sequence[ClaimVerdict]) -> int:
    """NO_ANSWER where a claim is open or was not checked, else OTHERWISE where one is refuted, else OK."""
    kinds = {v.kind for v in found}
    if not found or kinds - {Kind.HOLDS, Kind.VIOLATED} or not all(v.checked for v in found):
        return NO_ANSWER
    return OTHERWISE if Kind.VIOLATED in kinds else OK
