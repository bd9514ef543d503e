"""The health of a table: what costs its readers something, and the remedy.

`examine` gives the facts of an index to each rule in `rules`; a rule that cannot know
returns nothing. No rule opens storage.
"""
