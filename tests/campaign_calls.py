"""What tests have worker processes do instead of asking a pair, or before they ask it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tcformal.query.pairs import all_pairs
from tcformal.query.pairs.all_pairs import Answer, AskOptions
from tcformal.query.pairs.pairs import Pair

#: Names the folder in which `ask_marked` says who is at what.
MARKS = "TCFORMAL_TEST_MARKS"


def marked(folder: Path, pair: Pair) -> Path:
    """The file that tells who is at a pair."""
    return folder / f"{pair.first} {pair.second}".replace("/", "_")


def ask_marked(pair: Pair, options: AskOptions) -> Answer:
    """The answer to one pair; the process is written down first, and takes a moment to be killed in."""
    with marked(Path(os.environ[MARKS]), pair).open("a") as marks:
        marks.write(f"{os.getpid()}\n")
    time.sleep(1.0)
    return all_pairs.ask(pair, options)


def ask_in_vain(pair: Pair, options: AskOptions) -> Answer:
    """Fail, as a worker may that lacks something."""
    raise ModuleNotFoundError(f"no module for {pair.first}")
