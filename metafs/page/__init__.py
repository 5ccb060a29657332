"""What all pages are drawn from: markup, style, and text that is safe to show."""
