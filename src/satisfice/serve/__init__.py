"""A local web server on a storage: a live page for every study, and a JSON protocol for other programs."""
