"""Where a search may look: boxes, mixed boxes and finite sets of points, and their maps to and from the unit cube."""
