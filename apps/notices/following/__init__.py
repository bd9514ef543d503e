"""Following: what people and webhooks are told of."""
