"""One Parquet file of a table: what its footer says, and its first rows."""
