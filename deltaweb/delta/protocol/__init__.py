"""The actions, properties and schemas that a log holds, as frozen values."""
