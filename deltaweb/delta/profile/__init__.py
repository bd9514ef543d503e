"""The profile of a column: counts, histogram and frequent values at one version.

`in_process` computes it exactly for columns that fit in memory.
`deltaweb.spark.statistics` estimates it for larger ones.
"""
