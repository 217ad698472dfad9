"""A second definition of the operators: own reader of DAGs, own gates; shares only the errors."""
