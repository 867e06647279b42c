"""A finished case in, what people decided about it out: statements, questions, a board in the browser."""
