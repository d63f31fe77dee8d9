"""From a file to a model and a report on it: the steps that the command and the Studio share."""
