"""Why nothing is cheaper: relaxation, cuts, branching, bounds."""
