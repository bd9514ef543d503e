"""Tables, what is in them, what becomes of them, and the lakes that they lie in."""
