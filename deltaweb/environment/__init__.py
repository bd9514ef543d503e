"""What a process takes from its environment: variables, folders, logs, production."""
