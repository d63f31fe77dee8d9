"""Studio: the page on which support vector machines are drawn, watched and understood.

`server` lets the page in and nobody else, `session` and `worker` carry requests to threads that
can be told to stop, and each view of the page has its module under `views`. The page itself is in
`page/`: plain modules, no build step, nothing fetched from elsewhere. It draws; every number that
it shows was computed by the library.
"""
