"""From SourceText to translated text in the languages that are read."""
