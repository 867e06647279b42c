"""How good is it: metrics, collections, the published protocols."""
