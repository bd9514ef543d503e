"""The commands `deltaweb table`, `deltaweb parquet` and `deltaweb storage`."""
