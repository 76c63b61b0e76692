"""Scoring rows with grown trees: by depth or density, with missing values, feature by feature."""
