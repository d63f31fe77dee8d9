"""Models restricted to the span of some landmarks: how these are chosen, and what the restriction costs."""
