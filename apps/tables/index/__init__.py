"""The indexes of tables: folders, the jobs that build them, rows in the database."""
