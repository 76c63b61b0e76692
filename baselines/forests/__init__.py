"""Two-class decision trees for the methods that set real points against generated ones."""
