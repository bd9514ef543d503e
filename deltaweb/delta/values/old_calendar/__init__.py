"""The dates and times that Spark wrote in the Julian calendar."""
