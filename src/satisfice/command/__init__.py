"""A user's program as an objective: it is run without a shell, and what it prints is read strictly."""
