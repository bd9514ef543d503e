"""The sentences that say what each commit did, from its metrics and parameters."""
