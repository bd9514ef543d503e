"""The kinds of search results beside tables and columns, one module for each."""
