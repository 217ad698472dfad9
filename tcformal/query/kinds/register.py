"""The registry of question kinds; each is imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tcformal.errors import RecordError
from tcformal.query.question import Q, QuestionKind

#: Where the kind of each class of questions is, by the class's name.
_OF = {
    "EqualityQuestion": ("tcformal.query.kinds.equality", "EQUALITY"),
    "PropertyQuestion": ("tcformal.query.kinds.property.kind", "PROPERTY"),
    "ErrorComparison": ("tcformal.query.kinds.comparison.kind", "PROGRAM"),
    "ProgramsQuestion": ("tcformal.query.kinds.comparison.programs", "PROGRAMS"),
    "RtlQuestion": ("tcformal.query.rtl.check", "RTL"),
}


def kind_of(question: Q) -> QuestionKind[Q]:
    """The kind of a question."""
    return _kind(type(question).__name__)


def kind_named(name: str) -> QuestionKind[Any]:
    """The kind with this name in records; RecordError for an unknown name."""
    for question in _OF:
        kind = _kind(question)
        if kind.name == name and question != "RtlQuestion":  # whose answers are not kept
            return kind
    raise RecordError(f"expected a known kind of question, but got {name!r}")


def _kind(question: str) -> QuestionKind[Any]:
    module, name = _OF[question]
    kind: QuestionKind[Any] = getattr(import_module(module), name)
    return kind
