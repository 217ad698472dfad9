"""What tests of compiled products share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tcformal.simulation import compiled, evaluation


@pytest.fixture(scope="module")
def own_kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Kernels of one file alone, for products of any size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(compiled, "_WORTH_COMPILING", 0)
        compiled.gemm.cache_clear()
        yield
        compiled.gemm.cache_clear()
        evaluation.promoted_gemm.cache_clear()
