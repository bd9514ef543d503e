"""Rows of a source are merged into a table: matched ones change, others come or go.

Read the modules in this order:

    clauses      what is done with which rows, as asked for and bound to the schemas
    pairs        which rows of the table and of the source match
    merge        the files that change, and the commit
    builder      the clauses as a caller says them
"""
