"""The data pipeline on PySpark; only worker processes import this package.

Read in this order:

    java      which Java runtime Spark gets
    session   one SparkSession a process, built when it is first needed
    pipeline  one Spark job over many tables, a table a task

The work inside a task is the in-process engine's (`deltaweb.index.build`).
"""
