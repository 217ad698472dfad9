"""Views and pictures of errors."""
