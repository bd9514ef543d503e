"""What pages and the protocol read."""
