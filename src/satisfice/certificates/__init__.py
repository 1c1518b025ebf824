"""Whether a point can be trusted: e-processes, replicates of promising points, and the hope that a good point exists."""
