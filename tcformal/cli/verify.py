"""`results verify`: audit of kept answers and claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tcformal.cli.group import NO_ANSWER, OK, OTHERWISE, json_option, results_option
from tcformal.cli.results import results, watched
from tcformal.report.escape import print_json, say, warn
from tcformal.report.results import SHOWN
from tcformal.report.text import SCREEN
from tcformal.store.audit.audit import AuditFinding, AuditStatus, audit, select
from tcformal.store.store import Entry, Store

if TYPE_CHECKING:
    from tcformal.identify.record.verified import IdentificationFinding
    from tcformal.store.audit.claim_audit import ClaimFinding

_WORD = {
    AuditStatus.HOLDS: "holds",
    AuditStatus.FAILED: "FAILED",
    AuditStatus.UNCHECKED: "unchecked",
    AuditStatus.OPEN: "open",
}


@results.command()
@click.argument("starts", nargs=-1, metavar="[ID]...")
@click.option("--claims", "with_claims", is_flag=True, help="Prove the kept claims again too; takes minutes.")
@click.option("--independent", is_flag=True,
              help="Decide every question again by separate gates and Debian's berkeley-abc.")  # fmt: skip
@click.option(
    "--all", "every", is_flag=True, help="A line for each record that holds, however many there are."
)
@click.option("--trim", is_flag=True, help="Keep proofs of earlier versions again, trimmed and in one file.")
@results_option
@json_option
def verify(
    starts: tuple[str, ...], with_claims: bool, independent: bool, every: bool, trim: bool, folder: str,
    as_json: bool,
) -> int:  # fmt: skip
    """Check kept records: schema, question, witnesses by replay, certificates step by step.

    Of identifications of devices, every answer is replayed on the designs that it fits or refutes.

    With --claims, each kept claim is proved again on its kept lemmas, whose certificates are checked
    against statements made anew; ID is then a text in the names of claims and units, such as error-bound.

    With --independent, no certificate is checked: each question, and with --claims each lemma, is built anew
    without simplification, made into gates by a second definition of the operators, and decided by
    berkeley-abc, which must find inputs where the record has a witness, and none elsewhere.

    With --trim, what earlier versions kept as a file for each proof is kept again as `results prune` then
    leaves it: only the steps that a refutation needs, in one file.

    Exit code 1 if any record fails, 0 if all that can be checked hold, 3 if none could be checked.
    """
    if independent and trim:
        raise click.UsageError("expected --independent, which reads no proof, or --trim, but got both")
    store = Store(Path(folder), warn)
    entries = [] if starts and with_claims else select(store.records(), starts)
    check = _independent() if independent else partial(audit, store, trim=trim)
    findings = [check(entry) for entry in watched(entries, "checking answers")]
    broken = [] if starts else store.broken()
    devices = [] if starts or independent or with_claims else _identifications(store)
    claims: list[ClaimFinding] = []
    if with_claims:
        # Imported here: the list does not wait for the proofs.
        from tcformal.store.audit.claim_audit import audit_claim, claims_with
        from tcformal.store.audit.independent import AbcBook, audit_claim_independently

        broken += [] if starts else store.claims.broken()
        prove = (
            partial(audit_claim_independently, AbcBook(store))
            if independent
            else partial(audit_claim, store, trim=trim)
        )
        chosen = claims_with(store.claims.all(), starts)
        claims = [prove(r) for r in watched(chosen, "proving claims again")]
    statuses = [f.status for f in findings] + [c.status for c in claims] + [d.status for d in devices]
    counts = {s: statuses.count(s) for s in AuditStatus}
    counts[AuditStatus.FAILED] += len(broken)
    if as_json:
        print_json(_data(findings, claims, devices, broken, counts))
    else:
        _print(findings, claims, devices, broken, counts, every)
    if counts[AuditStatus.FAILED]:
        return OTHERWISE
    return OK if counts[AuditStatus.HOLDS] else NO_ANSWER


def _identifications(store: Store) -> list[IdentificationFinding]:
    """The checks of the identifications in the folder, if it has any."""
    from tcformal.identify.record.identification import IDENTIFICATION  # most folders have none
    from tcformal.identify.record.verified import verify_identifications

    return verify_identifications(store, warn) if [*store.folder.glob(IDENTIFICATION.file + "*")] else []


def _independent() -> Callable[[Entry], AuditFinding]:
    """The audit by other gates and another prover; NoAnswerError where that one is not installed."""
    from tcformal.independent.abc import check_installed  # like the audit, only where it is asked for
    from tcformal.store.audit.independent import audit_independently

    check_installed()
    return audit_independently


def _data(
    findings: Sequence[AuditFinding],
    claims: Sequence[ClaimFinding],
    devices: Sequence[IdentificationFinding],
    broken: Sequence[str],
    counts: dict[AuditStatus, int],
) -> dict[str, Any]:
    """All findings as plain data."""
    return {
        "records": [
            {"id": f.entry.id, "standing": f.status.name.lower(), "reason": f.reason} for f in findings
        ],
        "claims": [
            {
                "claim": f.claim, "unit": f.unit, "verdict": f.verdict,
                "standing": f.status.name.lower(), "reason": f.reason,
            }
            for f in claims
        ],
        "identifications": [
            {
                "device": f.device, "verdict": f.verdict, "standing": f.status.name.lower(),
                "reason": f.reason,
            }
            for f in devices
        ],
        "broken": list(broken),
        **{s.name.lower(): n for s, n in counts.items()},
    }  # fmt: skip


def _print(
    findings: Sequence[AuditFinding],
    claims: Sequence[ClaimFinding],
    devices: Sequence[IdentificationFinding],
    broken: Sequence[str],
    counts: dict[AuditStatus, int],
    every: bool,
) -> None:
    """Print a line for each record that does not hold, a screenful of those that do, then the counts."""
    lines: list[tuple[AuditStatus, str]] = []
    for f in findings:
        verdict = "" if f.status is AuditStatus.FAILED else f"{f.entry.record['verdict']}, "
        lines.append((f.status, f"{f.entry.id[:SHOWN]} {_WORD[f.status]}: {verdict}{f.reason}"))
    for c in claims:
        lines.append((c.status, f"{c.claim} of {c.unit} {_WORD[c.status]}: {c.verdict}, {c.reason}"))
    for d in devices:
        lines.append((d.status, f"{d.device} {_WORD[d.status]}: {d.verdict}, {d.reason}"))
    for sentence in broken:
        lines.append((AuditStatus.FAILED, f"{'':{SHOWN}} {_WORD[AuditStatus.FAILED]}: {sentence}"))
    holding = 0
    for status, line in lines:
        holding += status is AuditStatus.HOLDS
        if every or status is not AuditStatus.HOLDS or holding <= SCREEN:
            say(line)
    if not every and holding > SCREEN:
        say(f"… {holding - SCREEN} more hold: --all lists them")
    say(
        f"{counts[AuditStatus.HOLDS]} records hold, {counts[AuditStatus.FAILED]} failed, "
        f"{counts[AuditStatus.UNCHECKED]} not re-checkable, {counts[AuditStatus.OPEN]} without an answer"
    )
