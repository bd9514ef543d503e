"""What `deltaweb parquet` can be asked: a file a verb."""
