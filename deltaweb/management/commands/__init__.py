"""The commands that start a server, its workers and its database."""
