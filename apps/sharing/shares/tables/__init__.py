"""The tables of a share: their terms, and the rules of single recipients."""
