"""Claims about one unit, proved from lemmas in steps that are checked."""
