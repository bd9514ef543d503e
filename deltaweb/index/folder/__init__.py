"""The folder of an index: columnar files, their checksums, what it says of itself."""
