"""The SQL that Spark evaluates with the settings of its session."""
