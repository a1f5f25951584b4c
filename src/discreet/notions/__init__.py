"""Privacy notions: each is a cone of permitted rows, and an exact level."""
