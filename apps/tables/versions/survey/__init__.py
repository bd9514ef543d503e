"""The survey of a version's Parquet files, added up from their footers."""
