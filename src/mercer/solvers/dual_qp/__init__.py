"""The box-constrained dual of a kernel machine; `solve` is the entry point."""
