"""`results verify`: audit of kept answers and claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tcformal.cli.group import NO_ANSWER, OK, OTHERWISE, json_option, results_option
from tcformal.cli.results import results, watched
from tcformal.query.verdict import kept_as
from tcformal.report.escape import print_json, say, warn
from tcformal.report.text import SCREEN, SHOWN
from tcformal.store.audit.audit import AuditFinding, AuditStatus, audit, select
from tcformal.store.store import Store

if TYPE_CHECKING:
    from tcformal.identification.kept_products import ProductFinding
    from tcformal.identification.verified import IdentificationFinding
    from tcformal.store.audit.claim_audit import ClaimFinding

_WORD = {
    AuditStatus.HOLDS: "holds",
    AuditStatus.FAILED: "FAILED",
    AuditStatus.UNCHECKED: "unchecked",
    AuditStatus.OPEN: "open",
}


@results.command()
@click.argument("starts", nargs=-1, metavar="[ID]...")
@click.option("--claims", "with_claims", is_flag=True, help="Answer the kept claims again too.")
@click.option(
    "--all", "every", is_flag=True, help="A line for each record that holds, however many there are."
)
@results_option
@json_option
def verify(starts: tuple[str, ...], with_claims: bool, every: bool, folder: str, as_json: bool) -> int:
    """Check kept records: schema, question, witnesses by replay, certificates step by step.

    Of identifications of devices, every answer is replayed on the designs that it fits or refutes, and
    verdict, other values and order are derived again; of identified products, what follows from the counts.

    With --claims, a kept claim is answered again, and its record has to say the same; ID is then a text in
    the names of claims and units, such as error-bound, or both, as in 'error-bound of UNIT'.

    Exit code 1 if any record fails, 0 if all that can be checked hold, 3 if none could be checked.
    """
    store, told = Store(Path(folder), warn), _Told(every=every, quiet=as_json)
    entries = [] if starts and with_claims else select(store.records(), starts)
    findings: list[AuditFinding] = []
    claims: list[ClaimFinding] = []
    for entry in watched(entries, "checking answers"):
        findings.append(audit(store, entry))
        told.answer(findings[-1])
    broken = [] if starts else store.broken()
    devices = [] if starts or with_claims else _identifications(store)
    products = [] if starts or with_claims else _products(store)
    for found in products:
        told.line(found.status, f"{found.file} {{}}: {found.reason}")
    for device in devices:
        told.line(device.status, f"{device.device} {{}}: {device.verdict}, {device.reason}")
    if with_claims:
        # Imported here: the check of answers does not wait for theorems.
        from tcformal.store.audit.claim_audit import audit_claim, claims_with

        broken += [] if starts else store.claims.broken()
        for record in watched(claims_with(store.claims.all(), starts), "answering claims again"):
            claims.append(audit_claim(store, record))
            told.claim(claims[-1])
    for sentence in broken:
        told.line(AuditStatus.FAILED, f"{'':{SHOWN}} {{}}: {sentence}")
    if as_json:
        print_json(_data(findings, claims, devices, products, broken, told.counts))
    else:
        told.end()
    if told.counts[AuditStatus.FAILED]:
        return OTHERWISE
    return OK if told.counts[AuditStatus.HOLDS] else NO_ANSWER


def _identifications(store: Store) -> list[IdentificationFinding]:
    """The checks of the identifications in the folder, if it has any."""
    from tcformal.identification.identification import IDENTIFICATION  # most folders have none
    from tcformal.identification.verified import verify_identifications

    return verify_identifications(store, warn) if [*store.folder.glob(IDENTIFICATION.file + "*")] else []


def _products(store: Store) -> list[ProductFinding]:
    """The checks of the identified products in the folder."""
    from tcformal.identification.kept_products import PRODUCTS, verify_products  # as above

    return verify_products(store.folder) if (store.folder / PRODUCTS).is_dir() else []


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

    def end(self) -> None:
        """The counts."""
        if not self._every and self.counts[AuditStatus.HOLDS] > SCREEN:
            say(f"… {self.counts[AuditStatus.HOLDS] - SCREEN} more hold: --all lists them")
        say(
            f"{self.counts[AuditStatus.HOLDS]} records hold, {self.counts[AuditStatus.FAILED]} failed, "
            f"{self.counts[AuditStatus.UNCHECKED]} not re-checkable, "
            f"{self.counts[AuditStatus.OPEN]} without an answer"
        )
