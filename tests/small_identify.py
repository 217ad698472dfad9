"""An identification among the catalogued designs alone, for tests of what asks, keeps and checks."""

from __future__ import annotations

from tcformal.callbacks import Progress, ignore
from tcformal.design.catalog import distinct_designs
from tcformal.design.names import resolve
from tcformal.identification.asker import Asker
from tcformal.identification.identification import Identification
from tcformal.identification.identify import Identifying


class ListedOnly(Identifying):
    """No trees of sums: their order is not asked for, and what is catalogued is tried at once."""

    def _ask_order(self) -> None:
        """Nothing is asked."""

    def _listed(self) -> None:
        """What is catalogued, without the neighbours, whose proofs take long."""
        self.listed = True
        self.search.listed([resolve(name) for name in distinct_designs(self._possible)])

    def _nearby(self, changes: int, limit: int | None = None) -> bool:
        """Nothing near is tried."""
        return bool(self.search.alive)

    def _beside(self) -> None:
        """No other parameters are tried."""


def identify(
    asker: Asker, *, vectors: int = 100_000, seconds: float = 300.0, progress: Progress = ignore
) -> Identification:
    """Identify a device among the catalogued designs of its formats.

    Errors: as `Asker.ask`.
    """
    return ListedOnly(asker, vectors, progress, seconds).whole()
