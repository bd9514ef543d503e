"""What all Parquet files of a version really hold."""
