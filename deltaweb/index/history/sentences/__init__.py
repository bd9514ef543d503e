"""What each commit did, in words, from what its metrics and parameters say."""
