"""The footer of a Parquet file as one JSON document, or as tables for a page."""
