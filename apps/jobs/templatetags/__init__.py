"""The template tags of jobs."""
