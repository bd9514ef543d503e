"""The queries of the sharing server over the files of an index."""
