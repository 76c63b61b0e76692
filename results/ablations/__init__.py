"""The effect of each choice in OneClassRF: tables, figures and ABLATIONS.md from records alone."""
