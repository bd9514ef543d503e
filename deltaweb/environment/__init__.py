"""The environment of a process: variables, folders, logs, production mode."""
