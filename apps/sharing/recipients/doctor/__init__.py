"""The connection doctor, which checks each step between a client and its rows."""
