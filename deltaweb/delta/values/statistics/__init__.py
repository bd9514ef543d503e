"""Per-file statistics: JSON text and checkpoint structs as typed columns."""
