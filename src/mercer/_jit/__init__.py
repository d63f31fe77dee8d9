"""Compiled-code plumbing: where code is cached, how it is compiled, threads, fast exp."""
