"""Tables: built once as a model, written as LaTeX, Markdown, CSV and to the terminal."""
