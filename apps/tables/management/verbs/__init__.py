"""The subcommands of `deltaweb table`: a file a verb."""
