"""The folder of an index: columnar files, checksums and a manifest."""
