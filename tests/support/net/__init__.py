"""Tables of every combination of features, changed, beside a model in plain Python.

model     the rows of a table, and what each change makes of them
shapes    types of the nested column and of the partition column, with values
tables    a table of a cell: its properties, its first rows
deeds     the changes, by each engine
checks    what a table has to show after a change
"""
