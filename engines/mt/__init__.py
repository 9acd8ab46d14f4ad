"""Machine translation engines and what they share."""
