"""The schema of Parquet files as Delta, Spark and Arrow write it."""
