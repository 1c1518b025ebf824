"""The search behind the interfaces of other libraries; each module needs its library, and is imported by its full name."""
