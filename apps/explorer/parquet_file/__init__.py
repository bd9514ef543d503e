"""The page of one Parquet file: its footer and its first rows."""
