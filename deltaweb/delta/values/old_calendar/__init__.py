"""Days and times that Spark wrote in the old calendar, and the clocks of zones then."""
