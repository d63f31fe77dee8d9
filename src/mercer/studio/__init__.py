"""The local web app: see a machine learn, in a page served on loopback."""
