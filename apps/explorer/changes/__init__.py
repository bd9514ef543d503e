"""The page that lists the row changes of a range of versions."""
