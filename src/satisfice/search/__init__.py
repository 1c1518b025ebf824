"""The search: observations, what the model makes of them, the next point and the answer."""
