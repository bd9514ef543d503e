"""URLs that anyone may read a file at for a while, signed for the store that has it."""
