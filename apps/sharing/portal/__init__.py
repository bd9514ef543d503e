"""The page of a recipient: what is shared with it, read in the browser."""
