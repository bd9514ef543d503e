"""The rows of a Parquet file as JSON, read within limits and in a child process."""
