"""A second way from a DAG to an answer: own reader, own gates, another prover; shares only the errors."""
