"""For which sizes of a batch a module's results of one sample change."""

from __future__ import annotations

from typing import Any

import pytest

from tcformal import InputError, model_invariance

torch: Any = pytest.importorskip("torch", reason="expected PyTorch, the extra torch: `make test-torch`")

from pytorch.decoder import TEXT, Decoder, encoded  # noqa: E402


class Chain(torch.nn.Module):
    """A sum of products one after the other, from the end for some sizes of a batch."""

    def __init__(self, turned: tuple[int, ...]) -> None:
        super().__init__()
        self.weight, self.turned = torch.nn.Parameter(torch.randn(24, 5)), turned

    def forward(self, x: Any) -> Any:
        d = torch.zeros(len(x), 5)
        ks = range(24)
        for k in reversed(ks) if len(x) in self.turned else ks:
            d = d + x[:, k : k + 1] * self.weight[k]
        return d


class Mean(torch.nn.Module):
    """The mean of a batch."""

    def forward(self, x: Any) -> Any:
        return x.mean(0, keepdim=True)


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


def test_a_module_with_one_order_is_batch_invariant() -> None:
    found = model_invariance(Chain(()), torch.randn(1, 24), range(1, 7))
    assert found.invariant
    assert str(found).startswith("BATCH INVARIANT: for M = 1..6 a row")


def test_the_layer_whose_order_changes_is_named() -> None:
    model = torch.nn.Sequential(Chain(()), torch.nn.Tanh(), torch.nn.Linear(5, 24), Chain((3, 4)))
    found = model_invariance(model, torch.randn(1, 24), range(1, 7))
    assert not found.invariant
    assert {3, 5} <= {*found.model.changes}
    wrong = {x.what: x.changes for x in found.layers if not x.invariant}
    assert wrong["3"] == (3, 5)
    assert not {"0", "1"} & {*wrong}
    assert str(found).startswith("NOT BATCH INVARIANT: the order of a row's sum changes at M = ")


def test_a_linear_layer_is_told_as_it_is() -> None:
    """A size has all rows in the first order if and only if they have the results of one row."""
    layer, x = torch.nn.Linear(96, 40), torch.randn(1, 96)
    found = model_invariance(layer, x, range(1, 20))
    with torch.no_grad():
        alone = layer(x)
        for m in range(1, 20):
            same = [bool((row == alone[0]).all()) for row in layer(x.repeat(m, 1))]
            assert found.model.orders[0].rows.get(m, ()) == tuple(i for i, y in enumerate(same) if y)
    if not found.invariant:
        assert all(y.summed for y in found.layers[0].orders[:2])


def test_a_decoder_is_asked_layer_by_layer() -> None:
    model = Decoder(32, 2, 1)
    found = model_invariance(model, torch.tensor([encoded(TEXT[:20])]), range(1, 5))
    assert found.model.checked == 20 * len(set(TEXT)) * (1 + 2 + 3 + 4)
    assert {"tokens", "blocks.0.qkv", "head"} <= {x.what.partition(",")[0] for x in found.layers}
    assert "places" not in {x.what for x in found.layers}  # which never sees the batch


def test_dropout_is_not_deterministic() -> None:
    found = model_invariance(torch.nn.Dropout(), torch.ones(1, 64), range(1, 4))
    assert found.model.varying == (1, 2, 3)


def test_what_is_no_module_of_a_batch_is_refused() -> None:
    with pytest.raises(InputError, match=r"^expected a torch.nn.Module, but got str"):
        model_invariance("model", torch.ones(1, 4))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^expected inputs of one sample, \[1, …\], but got \[2, 4\]"):
        model_invariance(torch.nn.Linear(4, 4), torch.ones(2, 4))
    with pytest.raises(InputError, match=r"^expected results whose first axis grows with the batch"):
        model_invariance(Mean(), torch.ones(1, 4), range(1, 3))
    with pytest.raises(InputError, match=r"^expected ascending numbers of rows"):
        model_invariance(torch.nn.Linear(4, 4), torch.ones(1, 4), [2, 1])
