"""The job kinds of tables: one file for each."""
