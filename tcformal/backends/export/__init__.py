"""Export of designs to text formats: one interpretation of the DAG for each."""
