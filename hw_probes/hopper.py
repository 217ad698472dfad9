"""What a Hopper GPU has not been asked yet, in one call: `python -m hw_probes.hopper FOLDER [SECONDS]`.

A campaign of its instructions on integers and of its sparse ones, and beside it, where PyTorch is
installed: products of the first 1 to 64 rows, attention's two products, and stream-K's shares of cuBLASLt.
Everything ends within SECONDS (540); what was measured by then is in FOLDER, and the same call goes on with
the campaign.
Exit code: the largest of the parts'; 1 is a campaign with results that are not the model's.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from tcformal.design.names import resolve
from tcformal.devices.tiles import units_of

HERE = Path(__file__).resolve().parent
_SECONDS = 540
#: Seconds after which a campaign that was told to end has ended.
_MARGIN = 30
_PRODUCTS = ("batches", "attention", "streams")


def units() -> list[str]:
    """Hopper's instructions on integers, and its sparse ones."""
    specs = {name: resolve(name) for name in units_of("hopper")}
    return [name for name, spec in specs.items() if spec.sparse or spec.operands.a.integer]


def commands(folder: str, seconds: int, device: str = "cuda:0") -> dict[str, list[str]]:
    """The command of each part, by its name."""
    minutes = (seconds - _MARGIN) / 60
    campaign = ["-m", "tcformal", "probe", "campaign", "--device", device, "--minutes", f"{minutes:g}"]
    campaign += ["--results", folder, *(word for name in units() for word in ("--unit", name))]
    orders = [str(HERE / "gemm" / "orders.py"), folder, str(seconds - _MARGIN)]
    products = _PRODUCTS if find_spec("torch") else ()
    parts = {"campaign": campaign} | {part: [*orders, part] for part in products}
    return {part: [sys.executable, *words] for part, words in parts.items()}


def run(parts: Mapping[str, Sequence[str]], seconds: float) -> int:
    """Run all parts at once; the largest exit code, 3 for a part that did not end in time."""
    end = time.monotonic() + seconds
    started = {part: subprocess.Popen(words, cwd=HERE.parent) for part, words in parts.items()}
    codes = {}
    for part, process in started.items():
        try:
            codes[part] = abs(process.wait(max(0.0, end - time.monotonic())))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            codes[part] = 3
        sys.stdout.write(f"{part}: exit code {codes[part]}\n")
    return max(codes.values())


if __name__ == "__main__":
    limit = int(sys.argv[2]) if len(sys.argv) > 2 else _SECONDS
    sys.exit(run(commands(str(Path(sys.argv[1]).resolve()), limit), limit))
