"""Writing the log: transactions, checkpoints, and log clean-up."""
