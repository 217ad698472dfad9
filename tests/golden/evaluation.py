"""One dot product of a unit by value, on lanes and on the oracle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tcformal.encodings.spec import Format
from tcformal.oracle.values import format_value, parse_value
from tcformal.simulation.matrix_unit import Unit, unit
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.replay import oracle_result

Texts = Sequence[str]


def _words(fmt: Format, texts: Texts, count: int = 0) -> tuple[int, ...]:
    return tuple(parse_value(fmt, x) for x in [*texts, *["0"] * (count - len(texts))])


def dot(
    u: Unit | str, a: Texts, b: Texts, c: str = "0", scales: tuple[Texts, Texts] | None = None
) -> str:  # fmt: skip
    """The result as people write it, after both gave it; operands that are not given are zero."""
    u = unit(u) if isinstance(u, str) else u
    w = Witness(_words(u.a_format, a, u.k), _words(u.b_format, b, u.k), parse_value(u.c_format, c))
    if scales is not None:
        assert u.scale_format is not None
        w = Witness(w.a, w.b, w.c, *(_words(u.scale_format, x) for x in scales))
    rows = [np.array([x], np.uint64) for x in (w.a, w.b)] + [np.array([w.c], np.uint64)]
    rows += [np.array([x], np.uint64) for x in (w.scale_a, w.scale_b) if scales is not None]
    (d,) = u.dot_bits(*rows).tolist()
    assert d == oracle_result(u.spec, w)
    return format_value(u.d_format, d)
