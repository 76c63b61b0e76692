"""What each choice in OneClassRF is worth: tables, figures and ABLATIONS.md from records alone."""
