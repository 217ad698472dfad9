"""External devices that answer in JSON lines: programs, and answer files."""
