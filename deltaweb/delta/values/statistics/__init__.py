"""The statistics of files: JSON text and checkpoint structs as typed columns."""
