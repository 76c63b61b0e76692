"""Sources of tables, one module each."""
