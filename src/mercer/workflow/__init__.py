"""From a file to a model and what is said of it: the steps that the command and the Studio share."""
