"""The kinds of events, each in a module of its own."""
