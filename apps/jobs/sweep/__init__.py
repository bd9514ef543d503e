"""What finds jobs that nobody runs any more, and queues them again."""
