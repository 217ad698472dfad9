"""What claims say, as formulas over encodings; nothing here imports the arithmetic that they are about."""
