"""`prove`: equality of two units, or a claim about one unit."""

from __future__ import annotations

from tcformal.cli.questions.claims import or_claims
from tcformal.cli.questions.command import question_command
from tcformal.query.question import Kind

question_command(
    "prove",
    Kind.EQUIVALENT,
    "Prove two units equal on all inputs, or a claim about one unit (exit 0 if they are, or it holds).",
    or_claims,
)
