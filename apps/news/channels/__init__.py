"""How news reach other processes: a broker, a database, pipes of one machine."""
