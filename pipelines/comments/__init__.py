"""The comment path: Comment in, SourceText out."""
