"""Commands that ask questions about units: `separate`, `prove`, and the claims."""
