"""The types that a file of a model may hold besides those that skops trusts by itself.

A file names the types of what it holds, and loading builds objects of these types. None of them
runs code of the file's: they hold numbers, and functions that are named here do what they do. Types
of other packages have to be named by who loads the file.
"""

OURS = (
    "metafs.data.matrix.with_short_indices",
    "metafs.pipeline.fitting.probabilities.WithProbabilities",
    "metafs.stats.balanced.BalancedDecisions",
    "metafs.stats.linear.model.LinearModel",
    "metafs.stats.linear.preparation.Preparation",
    "metafs.stats.linear.strength.StrengthChoice",
    "metafs.stats.magnitude.divided",
    "metafs_learners.by_target.ByTarget",
    "metafs_learners.by_target.CostedByTarget",
    "metafs_learners.costs.boosting",
    "metafs_learners.costs.extra_trees",
    "metafs_learners.costs.kernel_svm",
    "metafs_learners.learners.dense",
    "metafs_learners.scaling.Standardise",
    "metafs_metafeatures.gp_prior.choice.Choice",
    "metafs_metafeatures.gp_prior.classifier.GPPriorClassifier",
    "metafs_moses.classifier.MosesClassifier",
    "metafs_moses.learnt.Learnt",
    "metafs_moses.literals.Literals",
    "metafs_moses.literals.Related",
    "metafs_remembered.learner.RememberedClassifier",
    "metafs_remembered.learner.RememberedLearner",
    "metafs_remembered.learner.RememberedRegressor",
    "metafs_remembered.voting.VotingLearner",
)

OTHERS = (
    "builtins.frozenset",
    "numpy.dtype",
    "sklearn._loss.loss.HalfTweedieLossIdentity",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
    "sklearn.gaussian_process.kernels.ConstantKernel",
    "sklearn.gaussian_process.kernels.Product",
    "sklearn.gaussian_process.kernels.RBF",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.tree._tree.Tree",
)
"""What classifiers and regressors of scikit-learn hold that skops does not trust by itself."""

TRUSTED = (*OURS, *OTHERS)
