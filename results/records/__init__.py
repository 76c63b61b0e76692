"""Records: one file per experiment, how they are kept, found, selected and packed."""
