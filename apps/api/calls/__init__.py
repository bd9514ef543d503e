"""What is done around every call: it is counted, done once, and answered."""
