"""HTTP resources."""
