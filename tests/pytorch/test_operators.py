"""Which operators of PyTorch sum products."""

from __future__ import annotations

from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="expected PyTorch, the extra torch: `make test-torch`")

from tcformal.torch.context import sums_products  # noqa: E402

SUMMING = (
    "mm", "addmm_", "_addmm_activation", "convolution", "conv2d", "linear", "lstm", "_grouped_mm", "bilinear",
    "_native_multi_head_attention", "_transformer_encoder_layer_fwd", "_cdist_forward", "linalg_solve_ex",
    "_weight_int8pack_mm", "mkldnn_rnn_layer", "_flash_attention_forward", "linalg_vecdot", "cholesky",
)  # fmt: skip
OTHERS = (
    "add", "sum", "softmax", "gelu", "lgamma", "layer_norm", "embedding", "mul", "upsample_bilinear2d",
    "cummax", "view", "t", "linspace", "relu", "linalg_vector_norm", "resolve_conj", "adaptive_avg_pool2d",
)  # fmt: skip


class _Named:
    """An operator of which only the name is asked."""

    def __init__(self, name: str) -> None:
        self._schema = type("Schema", (), {"name": name})


@pytest.mark.parametrize("name", SUMMING)
def test_operators_that_sum_products_are_known_by_their_names(name: str) -> None:
    assert sums_products(_Named(f"aten::{name}"))


@pytest.mark.parametrize("name", OTHERS)
def test_other_operators_are_let_through(name: str) -> None:
    assert not sums_products(_Named(f"aten::{name}"))


def test_operators_of_other_namespaces_are_taken_to_sum() -> None:
    assert sums_products(_Named("flash_attn::forward"))


def test_every_operator_whose_products_pytorch_counts_is_known() -> None:
    from torch.utils.flop_counter import flop_registry

    counted = [x for x in flop_registry if hasattr(x, "overloads")]
    assert len(counted) > 15
    for packet in counted:
        for overload in packet.overloads():
            assert sums_products(getattr(packet, overload)), packet
