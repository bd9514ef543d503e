"""SQL that Spark would refuse, too: what is wrong with it, and what may be meant."""
