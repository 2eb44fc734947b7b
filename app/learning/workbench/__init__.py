"""The page on which a problem is solved: statement, editor, hints, editorial, solutions."""
