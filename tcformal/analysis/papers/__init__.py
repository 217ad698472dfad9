"""Query files: questions of the papers, answered and compared with expectations."""
