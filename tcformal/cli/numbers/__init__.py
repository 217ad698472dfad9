"""Commands about errors: sharp constants, statistics, figures."""
