"""Building blocks of displays: axes, colours, planes, layouts."""
