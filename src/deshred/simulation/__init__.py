"""Everything with known truth: drawn pages, the shredder, laid-out sheets, piles."""
