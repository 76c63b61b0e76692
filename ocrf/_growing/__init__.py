"""Growing trees: what they draw, how nodes are searched and split."""
