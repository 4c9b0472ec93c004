"""scikit-learn's own checks, over every estimator and the settings that change what it takes."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import fwsr

ESTIMATORS = [
    *(cls(2) for cls in fwsr.ESTIMATORS),
    fwsr.FWSR(2, kernel="precomputed"),
    fwsr.KMedoids(2, metric="precomputed"),
    fwsr.FWSR(1, per_class=True),
    fwsr.KCenter("proportional:4"),
]


def expected_failures(estimator):
    if not estimator.__sklearn_tags__().input_tags.pairwise:
        if type(estimator) is fwsr.Exchange:  # of sparse points it takes another kernel
            return {"check_sample_weight_equivalence_on_dense_data":
                    "the width of the kernel comes from all points, whatever they weigh, and with "
                    "weights exemplars do not move to the middle"}
        drawn = "other numbers are drawn where points are repeated"
        whys = {fwsr.KFWSR: "the width of the kernel comes from all points, whatever they weigh",
                fwsr.OMP: "a point of weight 0 may be chosen, and there it is not among the points",
                fwsr.KMeansExemplars: drawn,
                fwsr.Coreset: drawn}
        same = whys.get(type(estimator))
        if same is None:
            return {}
        return {"check_sample_weight_equivalence_on_dense_data": same,
                "check_sample_weight_equivalence_on_sparse_data": same}
    kernels = {
        "check_estimators_dtypes": "it cuts a kernel off to whole numbers, which leaves none: its "
                                   "smallest eigenvalue is far below zero",
    }
    return {
        **(kernels if isinstance(estimator, fwsr.FWSR) else {}),
        "check_estimators_nan_inf": "the matrix with NaN that it gives is not square, and is "
                                    "refused for that",
        "check_positive_only_tag_during_fit": "it takes a number from all entries, which leaves no "
                                              "kernel and no dissimilarities",
    }


# Runs of few points are short of exemplars now and then, and say so.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)
