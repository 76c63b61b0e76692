"""The report: one HTML file that holds everything and needs nothing."""
