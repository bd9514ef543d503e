"""Tables that are not there yet, and rows that are: made, converted, imported."""
