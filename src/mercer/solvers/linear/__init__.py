"""Linear machines by dual coordinate descent and Newton's method."""
