"""A checking process that takes its requests and never answers, or gives each the answer CHECKER_SAYS."""

import os
import sys
import time

sys.stdout.write('{"ready": true}\n')
sys.stdout.flush()
if "CHECKER_SAYS" not in os.environ:
    time.sleep(600)
for _ in sys.stdin:
    sys.stdout.write(os.environ["CHECKER_SAYS"] + "\n")
    sys.stdout.flush()
