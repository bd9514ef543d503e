"""Reading rows: which files and row groups may match, and what they hold."""
