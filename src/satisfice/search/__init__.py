"""The search itself: what was observed, what the model makes of it, the next question and the answer."""
