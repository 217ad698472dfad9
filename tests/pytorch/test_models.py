"""Real models on units: two arithmetics compared, layer by layer and token by token."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from tcformal import InputError

torch: Any = pytest.importorskip("torch", reason="expected PyTorch, the extra torch: `make test-torch`")

import tcformal.torch as on_unit  # noqa: E402
from pytorch.decoder import TEXT, Decoder, encoded, trained  # noqa: E402

AMPERE, HOPPER = "ampere/mma.m16n8k16.f32.f16.f16.f32", "hopper/wgmma.m64n8k16.f32.f16.f16"
FP8 = "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"


def test_two_arithmetics_of_a_small_decoder() -> None:
    torch.manual_seed(0)
    model = Decoder(32, 2, 1).half()
    ids = torch.tensor([encoded(TEXT[:20])])
    one, other = on_unit.arithmetic(AMPERE), on_unit.arithmetic(HOPPER)
    found = on_unit.compare(model, ids, one, other)
    names = [x.layer for x in found.layers]
    assert names == [f"blocks.0.{x}" for x in ("qkv", "out", "up", "down")] + ["blocks.0", "head"]
    first = found.layers[0]
    assert first.alone == first.differing  # nothing differs before the first product
    assert found.positions == 20
    assert 0 <= found.divergence < 1e-3
    coarse = on_unit.compare(model, ids, one, on_unit.arithmetic(f"{HOPPER}@fraction_bits=10"))
    assert coarse.divergence > 0
    assert all(x.differing > 0 and x.error > 0 for x in coarse.layers)
    again = on_unit.compare(model, ids, one, one)
    assert {(x.alone, x.differing, x.error) for x in again.layers} == {(0, 0, 0.0)}
    assert (again.divergence, again.agreement, again.first_token) == (0.0, 1.0, None)
    assert "no token differs" in str(again)


def test_converted_models_compute_as_in_the_context() -> None:
    torch.manual_seed(0)
    model = Decoder(32, 2, 1).half()
    ids = torch.tensor([encoded(TEXT[:20])])
    whole = on_unit.convert(model, HOPPER)
    part = on_unit.convert(model, HOPPER, modules=["blocks.*.up", "head"])
    with torch.no_grad():
        plain = model(ids)
        with on_unit.arithmetic(HOPPER):
            expected = model(ids)
        assert bool((whole(ids) == expected).all())
        assert bool((model(ids) == plain).all())
        assert part(ids).shape == plain.shape
    with pytest.raises(InputError, match=r"^expected modules named 'layers'"):
        on_unit.convert(model, HOPPER, modules="layers")
    with pytest.raises(InputError, match=r"^expected a torch.nn.Module"):
        on_unit.convert("model", HOPPER)


@pytest.mark.long
def test_a_trained_decoder_goes_on_as_its_text_in_every_arithmetic() -> None:
    model = trained(300).half()
    start = encoded(TEXT[:12])
    contexts = {
        "pytorch": None,
        "ampere": on_unit.arithmetic(AMPERE),
        "hopper": on_unit.arithmetic(HOPPER),
        "hopper split": on_unit.arithmetic(HOPPER, recipe="cublaslt-66@splits=2,grain=32"),
        "cdna3": on_unit.arithmetic("cdna3/v_mfma_f32_32x32x8_f16"),
        "fp8 flat": on_unit.arithmetic(FP8, recipe="cublaslt-66", operands="scaled"),
        "fp8 promoted": on_unit.arithmetic(FP8, recipe="cublaslt-66-promoted", operands="scaled"),
    }
    texts = {name: on_unit.greedy(model, start, 24, x) for name, x in contexts.items()}
    expected = encoded(TEXT[12:36])
    for name in ("pytorch", "ampere", "hopper", "hopper split", "cdna3"):
        assert texts[name] == expected, name
    ids = torch.tensor([encoded(TEXT[:32])])
    sixteen = on_unit.compare(model, ids, contexts["ampere"], contexts["hopper"])
    eight = on_unit.compare(model, ids, contexts["hopper"], contexts["fp8 flat"])
    assert 0 < sixteen.divergence < eight.divergence
    assert sixteen.layers[-1].error < eight.layers[-1].error


@pytest.mark.long
def test_a_published_model_of_twelve_layers() -> None:
    transformers = pytest.importorskip("transformers", reason="expected transformers: `make test-torch`")
    try:
        files = metadata.files("rxnmapper") or []
    except metadata.PackageNotFoundError:
        pytest.skip("expected rxnmapper, whose wheel has weights: `make test-torch`")
    weights = Path(str(next(x.locate() for x in files if x.name == "config.json"))).parent
    known = {name: i for i, name in enumerate((weights / "vocab.txt").read_text().split("\n"))}
    symbols = re.findall(r"\[[^]]*]|Br|Cl|>>|.", "CC(C)S.CN(C)C=O.Fc1cccnc1F>>CC(C)Sc1ncccc1F")
    ids = torch.tensor([[known[x] for x in ("[CLS]", *symbols, "[SEP]")]])
    one, other = on_unit.arithmetic(AMPERE), on_unit.arithmetic(HOPPER)
    for kind, operators in (("eager", {"addmm", "bmm"}), ("sdpa", {"addmm", "scaled_dot_product_attention"})):
        load = transformers.AlbertForMaskedLM.from_pretrained
        model = load(weights, attn_implementation=kind).half().eval()
        found = on_unit.compare(model, {"input_ids": ids}, one, other)
        assert len(found.layers) == 1 + 12 * 7 + 2
        assert found.first_token is None
        assert 0 < found.divergence < 1e-5
        assert found.layers[-1].differing > found.layers[0].differing
        assert operators <= {x.operator.removeprefix("aten::") for x in one.counts}
