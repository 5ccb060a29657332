"""The thresholds of the checks, each with its reason.

They are set for silence on ordinary tables: on those that scikit-learn brings and on public ones of
up to 10,000 columns.
"""

LEAST_ROWS = 20
"""Fewer rows show nothing: 10 different ages are no identifier."""

ALL_DIFFERENT = 0.95
"""Share of different texts of an identifier: a few rows may be repeated by mistake."""
MOST_GAPS = 1.1
"""Range of the whole numbers of an identifier, over their count: a few rows may be missing."""
ID_ROWS = 100
"""Rows by which columns that repeat a value are ruled out; those of 100,000 columns take 0.1 s."""

LEAST_WORDS, LEAST_LENGTH = 5, 25
"""Mean words and characters of free text: names of people, streets or products are shorter."""
FREE_SHARE = 0.5
"""Share of different texts of free text: the answers of a questionnaire are few: categories."""

LIKE_A_DATE = 0.9
"""Share of texts that look like dates or amounts: the rest are slips of the pen."""
LEAST_TEXTS = 3
"""Different texts that are needed to tell: two versions "1.2.20" and "2.2.20" are categories."""
MOST_TEXTS = 1000
"""Different texts that are looked at."""

LEAST_ROWS_OF_LEAK = 50
"""Of fewer rows, 40 say, a good column may be right on all by luck."""
LEAK = 0.99
"""Share of the target's entropy (or variance) that one column explains out of sample."""
NEXT_BEST = 0.9
"""All other columns together explain less: an easy problem can do without its best column."""
LEAK_ROWS = 2000
"""Rows of a large table that the check for leaks looks at."""
SCREEN_ROWS = 300
"""Rows by which most columns are ruled out as leaks; those of 20,000 columns take 0.5 s."""
MOST_CHANGES = 0.05
"""Share of rows, sorted by a column, after which the class may change if the column is a leak."""

CLASSES_PER_ROW = 0.5
"""Classes over rows of a target that rather names rows: two rows a class are too few for folds."""
