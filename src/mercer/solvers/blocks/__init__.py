"""Linear machines whose features come in blocks: from a file, from a kernel and landmarks, or from other machines."""
