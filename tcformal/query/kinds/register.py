"""Every kind of question by its name in records and query files."""

from __future__ import annotations

from typing import Any

from tcformal.query.kinds.equality import EQUALITY
from tcformal.query.kinds.program import PROGRAM
from tcformal.query.kinds.unit_property import PROPERTY
from tcformal.query.question import QuestionKind

KINDS: dict[str, QuestionKind[Any]] = {kind.name: kind for kind in (EQUALITY, PROPERTY, PROGRAM)}
