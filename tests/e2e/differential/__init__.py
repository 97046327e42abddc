"""A plain, slow implementation of `kindred dedup`, and its comparison with the program; see README.md."""
