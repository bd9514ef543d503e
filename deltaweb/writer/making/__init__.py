"""How a table comes to be: of nothing, of rows, or of a folder of Parquet files."""
