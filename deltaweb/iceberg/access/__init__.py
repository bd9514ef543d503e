"""The S3 keys, request signatures and object names that Iceberg clients use."""
