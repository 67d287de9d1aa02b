"""Features of texts and pictures: a row of numbers for each item."""
