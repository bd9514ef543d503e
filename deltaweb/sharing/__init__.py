"""What people and programs ask of a table, as values of `deltaweb.delta`.

predicates      the SQL text of a condition
sql_literals    its literals, brought to the exact types of columns
"""
