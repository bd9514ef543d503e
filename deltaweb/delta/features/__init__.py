"""What a protocol asks of readers and writers, and what deltaweb answers."""
