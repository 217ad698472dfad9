"""The questions of the papers as files: read, asked, compared with what is expected."""
