"""A checking process that takes its requests and never answers."""

import sys
import time

sys.stdout.write('{"ready": true}\n')
sys.stdout.flush()
time.sleep(600)
