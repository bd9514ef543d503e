"""The Iceberg REST catalog of a share, and its files over the S3 protocol."""
