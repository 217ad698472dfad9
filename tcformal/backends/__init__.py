"""What a DAG is turned into: integers, lanes, machine code, solver terms, clauses, files for other tools."""
