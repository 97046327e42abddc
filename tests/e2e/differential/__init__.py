"""A plain, slow form of `kindred dedup`, and what holds the program against it. README.md says how."""
