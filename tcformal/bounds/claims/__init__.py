"""Constants from claims of the proof kernel, for designs of which no theorem of the theory is written."""
