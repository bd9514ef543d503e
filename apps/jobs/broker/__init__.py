"""The messages that wake workers, and a message broker made of a folder of files."""
