"""The robust optimum: exact for small alphabets, bands and a shared uniform for large ones (theory 1.7-1.9)."""
