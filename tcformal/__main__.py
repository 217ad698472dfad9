"""Run the command line as `python -m tcformal`."""

import os
import sys

# Python has put the working directory first, where anybody's `json.py` may lie.  What it has imported from
# there by now cannot be undone: the command `tcformal` and `python -P -m tcformal` never look there.
if not sys.flags.safe_path and sys.path[0] == os.getcwd() != os.path.dirname(os.path.dirname(__file__)):
    del sys.path[0]

from tcformal.cli import main

if __name__ == "__main__":  # worker processes that are spawned import this module under another name
    main()
