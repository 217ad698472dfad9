"""Run the command line as `python -m tcformal`."""

from tcformal.cli import main

if __name__ == "__main__":  # worker processes that are spawned import this module under another name
    main()
