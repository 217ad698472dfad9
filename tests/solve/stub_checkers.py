"""Checkers that misbehave; the environment's STUB_CHECKER says how."""

from __future__ import annotations

import json
import os
import sys
import time


def main() -> None:
    request = json.load(sys.stdin)
    how = os.environ["STUB_CHECKER"]
    if how == "hangs":
        time.sleep(600)
    if how == "leaves":
        sys.exit(9)
    if how == "runs out of memory":
        hoard = [bytearray(1 << 62)]
        sys.exit(len(hoard))
    if how == "says too little":
        sys.stdout.write(json.dumps({"solver": request["solver"], "steps": 3}) + "\n")
    if how == "writes no packed proof":
        said = {"cnf_sha256": "0", "solver": "x", "checker": "x", "steps": 3, "seconds": 0.1}
        sys.stdout.write(json.dumps(said) + "\n")


if __name__ == "__main__":
    main()
