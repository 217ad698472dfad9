"""Files on disk: whole lines, names that people give, folders that nobody else writes."""
