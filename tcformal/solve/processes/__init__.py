"""Processes: started, watched, ended."""
