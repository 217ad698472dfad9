"""Back ends of the DAG: integers, lanes, machine code, solver terms, clauses, and export formats."""
