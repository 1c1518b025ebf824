"""Where a search may look: parameters, spaces that name them, boxes and finite sets, and their maps to the unit cube."""
