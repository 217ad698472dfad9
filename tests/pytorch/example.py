"""The same small decoder on the arithmetics of several GPUs: `PYTHONPATH=tests python -m pytorch.example`.

It is trained for a short while on one text, then asked to go on from the text's beginning.
"""

from __future__ import annotations

import click
import torch

import tcformal.torch as on_unit
from pytorch.decoder import TEXT, encoded, trained

HOPPER8 = "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"
CONTEXTS = {
    "ampere, fp16": on_unit.arithmetic("ampere/mma.m16n8k16.f32.f16.f16.f32"),
    "hopper, fp16": on_unit.arithmetic("hopper/wgmma.m64n8k16.f32.f16.f16"),
    "hopper, fp16, K in two": on_unit.arithmetic(
        "hopper/wgmma.m64n8k16.f32.f16.f16", recipe="cublaslt-66@splits=2,grain=32"
    ),
    "MI300X, fp16": on_unit.arithmetic("cdna3/v_mfma_f32_32x32x8_f16"),
    "hopper, fp8 flat": on_unit.arithmetic(HOPPER8, recipe="cublaslt-66", operands="scaled"),
    "hopper, fp8 promoted": on_unit.arithmetic(HOPPER8, recipe="cublaslt-66-promoted", operands="scaled"),
}


def main(steps: int = 60, count: int = 150) -> None:
    """Print, for each arithmetic, where its text and its logits leave those of the first one."""
    torch.set_num_threads(1)
    model = trained(steps).half()
    start, ids = encoded(TEXT[:24]), torch.tensor([encoded(TEXT[:32])])
    first = next(iter(CONTEXTS))
    expected = on_unit.greedy(model, start, count, CONTEXTS[first])
    click.echo(f"{'against ' + first:24}  first other token   KL divergence   top-1 agreement   head's error")
    for name, context in list(CONTEXTS.items())[1:]:
        made = on_unit.greedy(model, start, count, context)
        where = next(
            (str(i) for i, pair in enumerate(zip(expected, made, strict=True)) if len(set(pair)) > 1), "-"
        )
        found = on_unit.compare(model, ids, CONTEXTS[first], context)
        click.echo(
            f"{name:24}  {where:>17}   {found.divergence:13.2e}   {found.agreement:15.1%}   "
            f"{found.layers[-1].error:12.1e}"
        )


if __name__ == "__main__":
    main()
