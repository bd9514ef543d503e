"""The changes of the tables of a share, and the rules of single recipients."""
