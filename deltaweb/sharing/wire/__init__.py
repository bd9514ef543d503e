"""The lines of streamed answers, one JSON object for each line."""
