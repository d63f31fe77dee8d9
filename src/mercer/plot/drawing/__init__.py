"""What displays are drawn with: axes, colours, planes, layouts."""
