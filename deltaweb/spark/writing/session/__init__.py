"""What the session of Spark evaluates, by its own settings.

Read in this order:

    settings       what of them changes the values of SQL
    checked_sql    SQL that Spark evaluates, once it is known to be one of the row
    stored_values  values in the types of a table's columns
    conditions     conditions on rows, and what a table gives them by SQL
"""
