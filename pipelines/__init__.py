"""From AudioChunk and Comment to Cue: no network, no HTTP, no model code."""
