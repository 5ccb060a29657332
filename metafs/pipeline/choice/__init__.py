"""Choice of a pipeline: which selector, how many features, which learner.

candidates     what can be tried on a problem, and what each fit is expected to cost
evaluation     scores of candidates on the folds of a problem, each computed once
expectation    what past problems and the folds together say of each candidate
race           which candidates are evaluated on how many folds
answer         the smallest set that is as good as the best, and its nested score
skill          whether anything beats no skill
rows           which rows of a large table take part
portfolio      results on real tables, shipped for those who have no memory yet
"""
