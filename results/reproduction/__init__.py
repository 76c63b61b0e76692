"""Our values beside those that others printed, and the document that explains the differences."""
