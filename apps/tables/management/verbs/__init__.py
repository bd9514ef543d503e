"""The subcommands of `deltaweb table`, grouped by subject."""
