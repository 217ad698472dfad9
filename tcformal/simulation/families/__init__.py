"""Many designs at once: DAGs whose inputs are parameters, too."""
