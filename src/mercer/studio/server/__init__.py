"""Who is let in, and how requests reach threads that can be told to stop."""
