"""What the experiments gave: records, metrics, tables, figures, comparison with the paper."""
