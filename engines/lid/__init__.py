"""Language identification of short texts."""
