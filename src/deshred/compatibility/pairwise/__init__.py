"""The paper's network, which judges one join at a time."""
