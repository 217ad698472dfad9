"""The registry of question kinds, by the name used in records and query files."""

from __future__ import annotations

from typing import Any

from tcformal.query.kinds.comparison.kind import PROGRAM
from tcformal.query.kinds.comparison.programs import PROGRAMS
from tcformal.query.kinds.comparison.question import ErrorComparison, ProgramsQuestion
from tcformal.query.kinds.equality import EQUALITY
from tcformal.query.kinds.property.kind import PROPERTY
from tcformal.query.kinds.property.question import PropertyQuestion
from tcformal.query.kinds.rtl import RTL, RtlQuestion
from tcformal.query.pair import EqualityQuestion
from tcformal.query.question import Q, Question, QuestionKind

KINDS: dict[str, QuestionKind[Any]] = {kind.name: kind for kind in (EQUALITY, PROPERTY, PROGRAM, PROGRAMS)}

#: The kind of each class of questions.
_OF: dict[type[Question], QuestionKind[Any]] = {
    EqualityQuestion: EQUALITY,
    PropertyQuestion: PROPERTY,
    ErrorComparison: PROGRAM,
    ProgramsQuestion: PROGRAMS,
    RtlQuestion: RTL,
}


def kind_of(question: Q) -> QuestionKind[Q]:
    """The kind of a question: how it is replayed, shrunk, written and read."""
    return _OF[type(question)]
