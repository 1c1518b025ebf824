"""satisfice: find a setting that is good enough in as few evaluations as possible, and know whether to trust it."""
