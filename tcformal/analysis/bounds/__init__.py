"""Sharp error constants of units: proved bounds, and inputs that attain them."""
