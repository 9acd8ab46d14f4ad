"""`sampan bench speech`: real speech into a running server, and what its readers waited for."""
