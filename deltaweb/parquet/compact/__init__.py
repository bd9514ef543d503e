"""The reader of Thrift's compact protocol, with bounds on what it reads."""
