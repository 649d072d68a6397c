"""opencode: reads its folders of files, its exports and its database."""
