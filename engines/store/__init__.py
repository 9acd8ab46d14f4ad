"""The model store: which models exist, where they come from, where they lie."""
