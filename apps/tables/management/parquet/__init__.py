"""The subcommands of `deltaweb parquet`: one file for each."""
