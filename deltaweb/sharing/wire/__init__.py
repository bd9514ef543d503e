"""The lines of answers that are streams of JSON objects, one a line."""
