"""What is asked: costs of joins, constraints, pages."""
