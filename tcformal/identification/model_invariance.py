"""Batch invariance of models of PyTorch: for which sizes of a batch a sample's results change, and where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from tcformal.identification.batch_invariance import BatchInvariance, batch_invariance, rows_compared
from tcformal.identification.whole_product import as_words
from tcformal.shown import Shown

if TYPE_CHECKING:
    from tcformal.torch.batches import BatchedCall

#: Multiply–adds of the masks that say how a linear layer sums.
_ASKED = 1 << 32


@dataclass(frozen=True, slots=True, eq=False)
class ModelInvariance(Shown):
    """For which sizes of a batch a model's results of one sample change, and those of its layers alone.

    `layers`: every call of a module without children, with the inputs that it has for one sample; `M` counts
    the rows of a linear layer's product where masks were asked, samples otherwise.

    Examples:
        >>> layer = tcformal.batch_invariance(lambda a, b: a[:, :1] * b[:1], "fp32,fp32,fp32", (2, 1), (1, 2))
        >>> tcformal.ModelInvariance(layer, (layer,)).invariant
        True
    """

    model: BatchInvariance
    layers: tuple[BatchInvariance, ...]

    def _summary(self) -> str:
        return str(self).splitlines()[0]

    @property
    def invariant(self) -> bool:
        """Whether the model's results were the same with every size of the batch."""
        return self.model.invariant

    def __str__(self) -> str:
        found = [str(x) for x in self.layers if not x.invariant]
        first, *_ = str(self.model).splitlines()
        alike = f"{len(self.layers) - len(found)} of {len(self.layers)} layers alone are batch invariant"
        return "\n".join([first, alike, *found])


def model_invariance(
    model: Callable[..., object], sample: object, rows: Sequence[int] = range(1, 65)
) -> ModelInvariance:
    """Say for which sizes of a batch a PyTorch model's results of one sample change, and in which layers.

    Shapes: `sample`: a tensor [1, …], a tuple of arguments or a dictionary of named ones; `rows`: sizes of
    the batch, ascending, in which every sample is that one.
    Ranges and units: each module without children is asked alone, too, with the inputs that it has for one
    sample; of a linear layer masks show how the order of its sums changes.
    Zero, NaN, Inf: results are compared as encodings.
    Errors: InputError for what is no module, and for inputs or results whose first axis is not the batch.
    Source: the model's results on this processor.

    >>> layer = torch.nn.Linear(64, 8)  # doctest: +SKIP
    >>> tcformal.model_invariance(layer, torch.randn(1, 64)).model.changes  # doctest: +SKIP
    (2,)
    """
    from tcformal.torch.batches import batched_calls  # PyTorch is there already

    whole, *layers = batched_calls(model, sample)
    return ModelInvariance(_compared(whole, rows), tuple(_layer(x, rows) for x in layers))


def _compared(call: BatchedCall, rows: Sequence[int]) -> BatchInvariance:
    def asked(size: int, _: int) -> NDArray[Any]:
        return as_words(call.run(size))[:, None]

    return rows_compared(asked, 1, rows, call.name)


def _layer(call: BatchedCall, rows: Sequence[int]) -> BatchInvariance:
    """A layer alone; of a linear one that changes, its product, with the orders that masks show."""
    found, x = _compared(call, rows), call.linear
    if x is None or found.invariant or found.varying or rows[-1] * x.each * x.n * x.k * x.k > _ASKED:
        return found
    sums = batch_invariance(x.product, ",".join([x.format] * 3), (x.n, x.k), [m * x.each for m in rows])
    more = f", {x.each} rows for each sample" if x.each > 1 else ""
    return replace(sums, what=f"{found.what}, {sums.what}{more}")
