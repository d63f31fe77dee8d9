"""What is worth saying about a fitted model, as one record, as text and as one HTML file."""
