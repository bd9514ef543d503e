"""What people and programs ask of a table, as values of `deltaweb.delta`.

predicates      the SQL text of a condition
sql_literals    its literals, brought to the exact types of columns
sql_text        its text, parsed within bounds; sql_values: names and values in it
hints           the hints of a query, SQL and JSON, each understood or skipped alone
sql_hints       SQL hints as clients spell them (sql_casts, sql_quotes)
json_hints      JSON hints, a tree of operations
hint_literals   literals of hints beside a column, never stricter than any client
loose_conditions  conditions kept from both sides, so that NOT loses nothing
"""
