"""Questions about units: equality, properties, errors; one engine answers them with one type of verdict."""
