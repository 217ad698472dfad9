"""`results verify`: audit of kept answers and claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tcformal.checks import check_positive
from tcformal.cli.group import NO_ANSWER, OK, OTHERWISE, json_option, results_option
from tcformal.cli.results import results, watched
from tcformal.query.verdict import kept_as
from tcformal.report.escape import print_json, say, warn
from tcformal.report.results import SHOWN
from tcformal.report.text import SCREEN
from tcformal.store.audit.audit import AuditFinding, AuditStatus, audit, select
from tcformal.store.store import Entry, Store

if TYPE_CHECKING:
    from tcformal.identify.record.products import ProductFinding
    from tcformal.identify.record.verified import IdentificationFinding
    from tcformal.store.audit.claim_audit import ClaimFinding
    from tcformal.store.audit.log import AuditLog

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
@click.option(
    "--log", "log_file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="With --independent: a line for each record once it is checked; a later run goes on from there.",
)  # fmt: skip
@click.option(
    "--time-limit", "seconds", type=float, metavar="SECONDS",
    help="With --independent: how long berkeley-abc may take for each question; 120 unless given.",
)  # fmt: skip
@results_option
@json_option
def verify(
    starts: tuple[str, ...], with_claims: bool, independent: bool, every: bool, trim: bool,
    log_file: Path | None, seconds: float | None, folder: str, as_json: bool,
) -> int:  # fmt: skip
    """Check kept records: schema, question, witnesses by replay, certificates step by step.

    Of identifications of devices, every answer is replayed on the designs that it fits or refutes, and
    verdict, other values and order are derived again; of identified products, what follows from the counts.

    With --claims, a kept claim is answered again by a theorem where one is about the unit, and else proved
    again on its kept lemmas, whose certificates are checked against statements made anew; ID is
    then a text in the names of claims and units, such as error-bound, or both, as in 'error-bound of UNIT'.

    With --independent, no certificate is checked: each question, and with --claims each lemma, is built anew
    without simplification, made into gates by a second definition of the operators, and decided by
    berkeley-abc, which must find inputs where the record has a witness, and none elsewhere.  That takes long:
    with --log FILE, what a run has found, or not decided in its --time-limit, is not checked again by the
    next one of the same sources.

    With --trim, what earlier versions kept as a file for each proof is kept again as `results prune` then
    leaves it: only the steps that a refutation needs, in one file.

    Exit code 1 if any record fails, 0 if all that can be checked hold, 3 if none could be checked.
    """
    if independent and trim:
        raise click.UsageError("expected --independent, which reads no proof, or --trim, but got both")
    if log_file is not None and not independent:
        raise click.UsageError("expected --log with --independent only")
    if seconds is not None and not independent:
        raise click.UsageError("expected --time-limit with --independent only")
    if seconds is not None:
        check_positive("--time-limit", seconds)
    store, told = Store(Path(folder), warn), _Told(every=every, quiet=as_json)
    entries = [] if starts and with_claims else select(store.records(), starts)
    check = _independent(seconds) if independent else partial(audit, store, trim=trim)
    log = None if log_file is None else _log(log_file, seconds)
    findings: list[AuditFinding] = []
    claims: list[ClaimFinding] = []
    for entry in watched(entries, "checking answers"):
        findings.append((log.answers(check) if log else check)(entry))
        told.answer(findings[-1])
    broken = [] if starts else store.broken()
    devices = [] if starts or independent or with_claims else _identifications(store)
    products = [] if starts or independent or with_claims else _products(store)
    for found in products:
        told.line(found.status, f"{found.file} {{}}: {found.reason}")
    for device in devices:
        told.line(device.status, f"{device.device} {{}}: {device.verdict}, {device.reason}")
    if with_claims:
        # Imported here: the list does not wait for the proofs.
        from tcformal.store.audit.claim_audit import audit_claim, claims_with
        from tcformal.store.audit.independent import AbcBook, audit_claim_independently

        broken += [] if starts else store.claims.broken()
        prove = (
            partial(audit_claim_independently, AbcBook(store, *_given(seconds)))
            if independent
            else partial(audit_claim, store, trim=trim)
        )
        for record in watched(claims_with(store.claims.all(), starts), "proving claims again"):
            claims.append((log.claims(prove) if log else prove)(record))
            told.claim(claims[-1])
    for sentence in broken:
        told.line(AuditStatus.FAILED, f"{'':{SHOWN}} {{}}: {sentence}")
    if as_json:
        print_json(_data(findings, claims, devices, products, broken, told.counts))
    else:
        told.end(0 if log is None else log.taken)
    if told.counts[AuditStatus.FAILED]:
        return OTHERWISE
    return OK if told.counts[AuditStatus.HOLDS] else NO_ANSWER


def _identifications(store: Store) -> list[IdentificationFinding]:
    """The checks of the identifications in the folder, if it has any."""
    from tcformal.identify.record.identification import IDENTIFICATION  # most folders have none
    from tcformal.identify.record.verified import verify_identifications

    return verify_identifications(store, warn) if [*store.folder.glob(IDENTIFICATION.file + "*")] else []


def _products(store: Store) -> list[ProductFinding]:
    """The checks of the identified products in the folder."""
    from tcformal.identify.record.products import PRODUCTS, verify_products  # as above

    return verify_products(store.folder) if (store.folder / PRODUCTS).is_dir() else []


def _given(seconds: float | None) -> tuple[float, ...]:
    """The limit of one question as an argument, where one is given."""
    return () if seconds is None else (seconds,)


def _independent(seconds: float | None) -> Callable[[Entry], AuditFinding]:
    """The audit by other gates and another prover; NoAnswerError where that one is not installed."""
    from tcformal.independent.abc import check_installed  # like the audit, only where it is asked for
    from tcformal.store.audit.independent import audit_independently

    check_installed()
    return lambda entry: audit_independently(entry, *_given(seconds))


def _log(path: Path, seconds: float | None) -> AuditLog:
    from tcformal.independent.abc import PROGRAM  # as above
    from tcformal.store.audit.independent import ABC_S
    from tcformal.store.audit.log import AuditLog

    return AuditLog(path, f"{PROGRAM} in {ABC_S if seconds is None else seconds:g} s")


def _data(
    findings: Sequence[AuditFinding],
    claims: Sequence[ClaimFinding],
    devices: Sequence[IdentificationFinding],
    products: Sequence[ProductFinding],
    broken: Sequence[str],
    counts: Mapping[AuditStatus, int],
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
        "products": [
            {"file": f.file, "records": f.count, "standing": f.status.name.lower(), "reason": f.reason}
            for f in products
        ],
        "broken": list(broken),
        **{s.name.lower(): n for s, n in counts.items()},
    }  # fmt: skip


def _said(status: AuditStatus, record: Mapping[str, Any]) -> str:
    """What is said of a record's verdict before the reason of its status."""
    if status is AuditStatus.FAILED:
        return ""
    if status is AuditStatus.UNCHECKED:
        return f"{kept_as(record['verdict'], record['date'])}: "
    return f"{record['verdict']}, "


class _Told:
    """Prints each finding at once: all that do not hold, and a screenful of those that do; counts them."""

    def __init__(self, *, every: bool, quiet: bool) -> None:
        self.counts = dict.fromkeys(AuditStatus, 0)
        self._every, self._quiet = every, quiet

    def line(self, status: AuditStatus, text: str) -> None:
        """One finding; `{}` in the text stands for its status."""
        self.counts[status] += 1
        if not self._quiet and (
            self._every or status is not AuditStatus.HOLDS or self.counts[status] <= SCREEN
        ):
            say(text.replace("{}", _WORD[status], 1))

    def answer(self, f: AuditFinding) -> None:
        """One finding about an answer."""
        self.line(f.status, f"{f.entry.id[:SHOWN]} {{}}: {_said(f.status, f.entry.record)}{f.reason}")

    def claim(self, c: ClaimFinding) -> None:
        """One finding about a claim."""
        said = f"kept as {c.verdict}, not checked" if c.status is AuditStatus.UNCHECKED else c.verdict
        self.line(c.status, f"{c.claim} of {c.unit} {{}}: {said}, {c.reason}")

    def end(self, earlier: int) -> None:
        """The counts; `earlier` records were checked by earlier runs."""
        if not self._every and self.counts[AuditStatus.HOLDS] > SCREEN:
            say(f"… {self.counts[AuditStatus.HOLDS] - SCREEN} more hold: --all lists them")
        say(
            f"{self.counts[AuditStatus.HOLDS]} records hold, {self.counts[AuditStatus.FAILED]} failed, "
            f"{self.counts[AuditStatus.UNCHECKED]} not re-checkable, "
            f"{self.counts[AuditStatus.OPEN]} without an answer"
            + (f"; {earlier} of them were checked by earlier runs" if earlier else "")
        )
