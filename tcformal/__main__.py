"""Run the command line as `python -m tcformal`."""

from tcformal.cli import main

main()
