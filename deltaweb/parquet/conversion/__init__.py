"""The schema of a file, or of many, as other systems write it: Delta, Spark, Arrow."""
