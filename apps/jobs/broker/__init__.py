"""Wake-ups of workers, and the broker that is a folder of files."""
