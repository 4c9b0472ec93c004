"""The commands whose answers are recorded, by name. Their data is made by points.py; "digits" is built in. Picks must not
depend on rounding: `net_test.py --shake` finds those that do."""

# Run with --json, --quiet and --assignment: every number of the answer. By fwsr where no method is named.
SELECT = {
    # The covariance form.
    "covariance": "plain.npy -k 8 --codes codes.npy",
    "covariance, alpha 0": "plain.npy -k 8 --alpha 0 --codes codes.npy",
    "covariance, alpha 1": "plain.npy -k 8 --alpha 1",
    "covariance, alpha 50": "plain.npy -k 6 --alpha 50 --codes codes.npy",
    "covariance, beta": "plain.npy -k 8 --beta 3.5 --codes codes.npy",
    "covariance, eta": "plain.npy -k 8 --eta 0.7 --codes codes.npy",
    "covariance, eta relative": "plain.npy -k 8 --eta-relative 0.5 --alpha 2",
    "covariance, centred by feature": "plain.npy -k 8 --center feature --codes codes.npy",
    "covariance, not centred": "plain.npy -k 8 --center none",
    "covariance, standard": "plain.npy -k 8 --scale standard --codes codes.npy",
    "covariance, unit": "plain.npy -k 8 --scale unit --center feature",
    "covariance, unit, by point": "plain.npy -k 8 --scale unit --center point --eta-relative 0.3",
    "covariance, standard, by feature": "plain.npy -k 8 --scale standard --center feature --eta 0.2",
    "covariance, several blocks": "long.npy -k 9 --center none --codes codes.npy",
    "covariance, float32": "single.npy -k 10 --codes codes.npy",
    "covariance, float32, precise": "single.npy -k 10 --precise",
    "covariance, float32, eta": "single.npy -k 10 --eta-relative 0.4 --center feature",
    "covariance, float32, standard": "single.npy -k 10 --scale standard --alpha 5",
    "covariance, float32 far from 0": "offset.npy -k 6 --center feature --codes codes.npy",
    "covariance, float32 far from 0, not centred": "offset.npy -k 6 --center none",
    "covariance, float32 below 1e-4": "offset.npy -k 9 --center point --alpha 0",
    "covariance, digits": "digits -k 15 --codes codes.npy",
    "covariance, digits, precise": "digits -k 15 --precise --eta-relative 0.2",
    "covariance, digits, alpha 0": "digits -k 20 --alpha 0",
    "covariance, columns first": "fortran.npy -k 4",
    "covariance, whole numbers": "whole.npy -k 4 --center feature",
    "covariance, images": "images.idx -k 6 --eta-relative 1",
    "covariance, images, packed": "images.idx.gz -k 6 --scale standard",
    "covariance, sparse with few features": "narrow.svm -k 6 --center none",
    "covariance, sparse with few features, centred": "narrow.svm -k 6 --center feature --eta 0.5 --codes codes.npy",
    "cosine": "plain.npy -k 8 --kernel cosine --codes codes.npy",
    "cosine, centred": "single.npy -k 8 --kernel cosine --center feature",
    # Points near a line: the scores are computed anew, and in double where they were float32.
    "covariance, near a line": "flat.npy -k 4 --max-iterations 60 --codes codes.npy",
    "covariance, near a line, alpha 0": "flat.npy -k 4 --max-iterations 60 --alpha 0 --center feature",
    "covariance, near a line, float32": "flatsingle.npy -k 4 --max-iterations 60 --codes codes.npy",
    "held linear, near a line": "flatwide.npy -k 4 --max-iterations 60 --codes codes.npy",
    "held polynomial, near a line, float32":
        "flatsingle.npy -k 4 --kernel polynomial --degree 1 --coef0 0 --max-iterations 60 --alpha 0",
    "held rbf, near a point, float32": "flatsingle.npy -k 4 --kernel rbf --gamma 1e-5 --max-iterations 300 --alpha 0",
    # The representer form: kernels held, in tiles, as products, given.
    "held rbf": "plain.npy -k 8 --kernel rbf --codes codes.npy",
    "held rbf, gamma, alpha 0": "plain.npy -k 8 --kernel rbf --gamma 0.01 --alpha 0",
    "held rbf, eta": "plain.npy -k 8 --kernel rbf --eta-relative 0.4 --alpha 3 --codes codes.npy",
    "held rbf, standard": "plain.npy -k 8 --kernel rbf --scale standard --center feature",
    "held rbf, float32": "single.npy -k 9 --kernel rbf --codes codes.npy",
    "held rbf, float32, precise": "single.npy -k 9 --kernel rbf --precise",
    "held rbf, digits": "digits -k 8 --kernel rbf",
    "held rbf, sparse": "words.npz -k 6 --kernel rbf --codes codes.npy",
    "held rbf, float32 far from 0": "offset.npy -k 5 --kernel rbf",
    "held polynomial": "plain.npy -k 8 --kernel polynomial --codes codes.npy",
    "held polynomial, degree 2": "single.npy -k 8 --kernel polynomial --degree 2 --coef0 0.5 --gamma 0.1",
    "held laplacian": "plain.npy -k 8 --kernel laplacian --codes codes.npy",
    "held laplacian, float32, unit": "single.npy -k 8 --kernel laplacian --scale unit",
    "tiles, rbf": "long.npy -k 5 --kernel rbf --memory 6M --threads 1",
    "tiles, rbf, float32, eta": "digits -k 4 --kernel rbf --memory 5M --threads 1 --eta-relative 0.3",
    "tiles, laplacian": "long.npy -k 4 --kernel laplacian --memory 6M --threads 1",
    "given": "gram.npy -k 6 --kernel precomputed --codes codes.npy",
    "given, eta": "gram.npy -k 6 --kernel precomputed --eta 0.3 --alpha 5",
    "given, float32": "gramsingle.npy -k 6 --kernel precomputed --codes codes.npy",
    "held linear, more features than points": "wide.npy -k 8 --codes codes.npy",
    "held linear, more features than points, eta": "wide.npy -k 8 --eta-relative 0.5 --center none --scale unit",
    "held linear, more features than points, float32": "widesingle.npy -k 8 --codes codes.npy",
    "products, sparse": "words.npz -k 8 --codes codes.npy",
    "products, sparse, centred by feature": "words.npz -k 8 --center feature --scale standard",
    "products, sparse, not centred, unit, eta": "words.svm -k 8 --center none --scale unit --eta 0.3",
    "products, sparse, cosine": "words.svm -k 8 --kernel cosine",
    # A factor in place of the kernel.
    "factor, rbf": "plain.npy -k 8 --kernel rbf --rank 60 --codes codes.npy",
    "factor, rbf, float32": "single.npy -k 8 --kernel rbf --rank 70 --codes codes.npy",
    "factor, rbf, several leaves": "long.npy -k 6 --kernel rbf --rank 200 --codes codes.npy",
    "factor, rbf, several leaves, float32": "digits -k 6 --kernel rbf --rank 150",
    "factor, rbf, float32, precise, eta": "single.npy -k 8 --kernel rbf --rank 70 --precise --eta-relative 0.3",
    "factor, polynomial": "plain.npy -k 8 --kernel polynomial --degree 2 --rank 90",
    "factor, laplacian": "plain.npy -k 6 --kernel laplacian --rank 120 --alpha 4",
    "factor, sparse": "words.npz -k 6 --kernel rbf --rank 100",
    "factor, too small": "long.npy -k 9 --kernel rbf --rank 12",
    "factor, greedy-cssp, ridge, float32": "single.npy -k 8 --kernel rbf --rank 70 --method greedy-cssp:mu=0.1",
    "factor, greedy-cssp": "plain.npy -k 8 --kernel laplacian --rank 120 --method greedy-cssp",
    "factor, omp, ridge, sparse": "words.npz -k 6 --kernel rbf --rank 100 --method omp:mu=0.01",
    # Exchange behind the choice.
    "exchange, covariance": "plain.npy -k 8 --refine exchange --codes codes.npy",
    "exchange, covariance, float32, eta": "single.npy -k 10 --refine exchange --eta-relative 0.4 --ridge 0.5",
    "exchange, held rbf": "plain.npy -k 8 --kernel rbf --refine exchange --codes codes.npy",
    "exchange, tiles": "long.npy -k 4 --kernel rbf --memory 6M --threads 1 --refine exchange --refine-rounds 2",
    "exchange, given": "gram.npy -k 6 --kernel precomputed --refine exchange",
    "exchange, products, sparse": "words.npz -k 8 --refine exchange",
    "exchange, factor": "plain.npy -k 8 --kernel rbf --rank 60 --refine exchange --codes codes.npy",
    "middle, covariance": "plain.npy -k 8 --refine middle --codes codes.npy",
    "middle, covariance, float32, eta": "single.npy -k 10 --refine middle --eta-relative 0.4 --ridge 0.5",
    "middle, held rbf": "plain.npy -k 8 --kernel rbf --refine middle --codes codes.npy",
    "middle, tiles": "long.npy -k 4 --kernel rbf --memory 6M --threads 1 --refine middle --refine-rounds 2",
    "middle, laplacian": "plain.npy -k 8 --kernel laplacian --refine middle",
    "middle, given": "gram.npy -k 6 --kernel precomputed --refine middle",
    "middle, products, sparse": "words.npz -k 8 --refine middle",
    "middle, factor": "plain.npy -k 8 --kernel rbf --rank 60 --refine middle --codes codes.npy",
    "middle, behind random": "plain.npy -k 8 --method random --seed 3 --refine middle",
    "exchange, behind random": "plain.npy -k 8 --method random --seed 3 --refine exchange",
    "exchange, behind kmedoids": "long.npy -k 6 --method kmedoids --seed 1 --refine exchange --refine-rounds 1",
    "exchange, behind greedy-cssp": "plain.npy -k 8 --method greedy-cssp:mu=0.1 --refine exchange",
    "exchange, behind greedy-cssp, factor":
        "plain.npy -k 8 --kernel rbf --rank 60 --method greedy-cssp:mu=0.1 --refine exchange",
    # The gradient form: other norms, codes >= 0.
    "gradient, q 1": "few.npy -k 4 --q 1 --codes codes.npy",
    "gradient, q inf": "plain.npy -k 6 --q inf --codes codes.npy",
    "gradient, nonneg": "plain.npy -k 6 --nonneg --codes codes.npy",
    "gradient, nonneg, q 1, eta": "plain.npy -k 5 --nonneg --q 1 --eta-relative 1 --center none",
    "gradient, q inf, rbf": "plain.npy -k 6 --q inf --kernel rbf --alpha 5",
    "gradient, q inf, nonneg, given": "gram.npy -k 5 --q inf --nonneg --kernel precomputed",
    "gradient, q 1, float32": "single.npy -k 6 --q 1 --codes codes.npy",
    "gradient, nonneg, sparse": "words.npz -k 5 --nonneg",
    # When to stop, and how good it is.
    "stop when converged": "plain.npy -k 12 --alpha 200 --when-converged stop --delta 1e-3 --codes codes.npy",
    "stop when converged, rbf": "plain.npy -k 40 --kernel rbf --alpha 100 --when-converged stop --delta 0.01",
    "stop when converged, delta absolute": "few.npy -k 12 --alpha 30 --when-converged stop --delta-absolute 5",
    "grow": "plain.npy -k 10 --alpha 200 --delta 0.05 --codes codes.npy",
    "grow, rbf": "blobs.npy -k 10 --kernel rbf --alpha 60 --delta 0.05",
    "grow, full steps": "plain.npy -k 3 --alpha 5000 --codes codes.npy",
    "grow, full steps, rbf": "blobs.npy -k 3 --alpha 1000 --kernel rbf --delta 0.02",
    "grow, q 1": "plain.npy -k 5 --alpha 200 --q 1 --delta 0.05",
    "iteration limit": "plain.npy -k 10 --max-iterations 6 --codes codes.npy",
    "all that is there": "few.npy -k 20 --center none",
    "fill": "plain.npy -k 12 --alpha 200 --when-converged stop --delta 1e-3 --fill --codes codes.npy",
    "fill, rbf": "plain.npy -k 8 --kernel rbf --alpha 300 --when-converged stop --delta 0.01 --fill",
    "boolean objective": "plain.npy -k 6 --lambda 0.3 --rho 0.1",
    "boolean objective, rbf": "plain.npy -k 6 --kernel rbf --lambda 0.02 --rho 0.1",
    "no certificate": "plain.npy -k 6 --certificate none --codes codes.npy",
    "no certificate, rbf": "plain.npy -k 6 --kernel rbf --certificate none",
    # Class by class, tables, files that do not fit.
    "classes": "blobs.npy --labels blobs.txt --per-class -k 3 --codes codes.npy",
    "classes, rbf": "blobs.npy --labels blobs.txt --per-class -k 3 --kernel rbf",
    "classes, proportional": "table.csv --label-column kind --id-column name --per-class -k proportional:9",
    "classes, by name": "table.csv --label-column kind --exclude-columns name --per-class -k x=2,z=4 --alpha 2",
    "classes, more than there are": "table.csv --label-column kind --exclude-columns name --per-class -k x=2,z=40"
                                    " --codes codes.npy",
    "classes, kmedoids": "blobs.npy --labels blobs.txt --per-class -k 2 --method kmedoids",
    "classes, digits": "digits --per-class -k 2 --eta-relative 0.3",
    "table": "table.csv --label-column kind --id-column name --columns a,c-d -k 3 --kernel rbf",
    "streamed": "large.npy -k 3 --memory 23M --threads 1",
    "streamed, eta, centred": "large.npy -k 2 --memory 23M --threads 1 --eta-relative 0.5 --center feature --alpha 5",
    "streamed, classes": "large.npy --labels large.txt --per-class -k 1 --memory 28M --threads 1 --center none",
    "streamed, rrqr": "large.npy -k 2 --memory 23M --threads 1 --method rrqr",
    "streamed, greedy-cssp, ridge": "large.npy -k 2 --memory 23M --threads 1 --method greedy-cssp:mu=0.1",
    "streamed, random": "large.npy -k 3 --memory 23M --threads 1 --method random --certificate none",
}

# What people get who name no method.
DEFAULT = {
    "default": "plain.npy -k 8 --codes codes.npy",
    "default, float32": "single.npy -k 9",
    "default, width": "plain.npy -k 8 --gamma 0.02 --ridge 0.3",
    "default, laplacian": "plain.npy -k 6 --kernel laplacian",
    "default, given": "gram.npy -k 6 --kernel precomputed",
    "default, sparse": "words.npz -k 8 --codes codes.npy",
    "default, sparse, rbf": "words.npz -k 6 --kernel rbf",
    "default, many points": "large.npy -k 5 --threads 1",
    "default, rank": "plain.npy -k 6 --rank 60",
    "default, classes": "blobs.npy --labels blobs.txt --per-class -k 3",
    "default, table": "table.csv --label-column kind --id-column name -k 3",
}

# Every method of `fwsr methods`, with settings that take other ways.
METHODS = {
    "few.npy -k 4": """kdpp ipm two-stage smrs kernel-smrs ds3 dsmrs kmedoids:init=build kmeans
        strong-rrqr herding leverage:sampling=random smrs:affine=no ds3:p=2:metric=squared
        coreset fw-coreset ssc ssc-omp ksvd:sparsity=2""",
    "plain.npy -k 6": """k-fwsr random rrqr strong-rrqr:f=1.2 omp omp:normalize=yes leverage greedy-cssp kmedoids
        kmedoids:algorithm=alternating kmedoids:metric=manhattan:init=kmeans++ kmedoids-batch:batch=60 facility
        herding:rule=greedy k-center k-center:first=random omp:mu=0.1 greedy-cssp:mu=0.01
        omp:normalize=yes:mu=0.1 coreset:clusters=4 coreset:variant=lightweight fw-coreset:problem=ball
        ssc:alpha=5 ssc:alpha=5:affine=yes ssc-omp:sparsity=3 ksvd:sparsity=3""",
    "blobs.npy -k 6": "ssc:clusters=3 ssc-omp:clusters=3",
    "plain.npy -k 5 --kernel rbf": """rrqr omp leverage greedy-cssp kmedoids facility k-center strong-rrqr two-stage
        kmedoids:init=lab omp:mu=0.01 greedy-cssp:mu=0.1 coreset:variant=lightweight fw-coreset:problem=ball""",
    "few.npy -k 4 --kernel rbf": "ds3 dsmrs",
    "wide.npy -k 5": """rrqr strong-rrqr omp leverage two-stage greedy-cssp greedy-cssp:mu=0.1 ipm smrs smrs:affine=no
        kmeans kmedoids dsmrs facility:hold=20 kmedoids:metric=cosine""",
    "words.npz -k 5": """leverage rrqr omp greedy-cssp greedy-cssp:mu=0.1 kmedoids kmeans facility k-center coreset
        fw-coreset ssc-omp ksvd""",
    "single.npy -k 6": "rrqr greedy-cssp ipm kmeans:restarts=3 kmedoids leverage facility",
    "far.npy -k 4": "kmedoids:metric=precomputed facility:metric=precomputed k-center:metric=precomputed",
}

# Run with --json and --quiet.
OTHERS = {
    "sweep": "sweep plain.npy -k 5 --alphas auto,0,10 --etas 0,0.5",
    "sweep, relative, float32": "sweep single.npy -k 5 --alphas auto,5 --etas-relative 0,0.4 --center none",
    "sweep in batches": "sweep long.npy -k 3 --alphas auto,0,5 --etas 0,1 --memory 500K --threads 1",
    "sweep one by one": "sweep long.npy -k 3 --alphas auto,5 --etas 0,1 --memory 300K --threads 1",
    "sweep, rbf": "sweep plain.npy -k 5 --alphas auto,3 --etas 0,0.2 --kernel rbf",
    "sweep, factor": "sweep plain.npy -k 5 --alphas auto,3 --etas 0,0.2 --kernel rbf --rank 50",
    "sweep, q inf": "sweep few.npy -k 4 --alphas auto,2 --q inf --center none",
    "sweep, sparse": "sweep words.npz -k 5 --alphas auto,3 --etas 0,0.3",
    "sweep, sparse with few features": "sweep narrow.svm -k 4 --alphas auto,3 --etas 0,0.4",
    "sweep, classes": "sweep blobs.npy --labels blobs.txt --per-class -k 2 --alphas auto,3",
    "compare": "compare blobs.npy --labels blobs.txt -k 5 --repeats 3",
    "compare, kernel, scaled": "compare plain.npy -k 4 --methods fwsr:alpha=5,k-fwsr,rrqr,kmedoids:restarts=2,herding"
                               " --repeats 2 --kernel laplacian --scale standard --lambda 0.2 --rho 0.1",
    "compare, sparse": "compare words.npz -k 4 --methods fwsr,k-fwsr,kmeans,random --repeats 2",
    "compare, given": "compare gram.npy --kernel precomputed -k 4 --methods fwsr,kmedoids,rrqr --repeats 2",
    "compare, classes": "compare blobs.npy --labels blobs.txt --per-class -k 2 --methods fwsr,kmedoids --repeats 2",
    "inspect": "inspect blobs.npy --labels blobs.txt -k 5",
    "inspect, table": "inspect table.csv --label-column kind --id-column name",
    "inspect, sparse": "inspect words.svm",
    "inspect, given": "inspect gramsingle.npy",
    "plan": "select plain.npy --method fwsr -k 5 --dry-run",
    "plan, classes": "select blobs.npy --method fwsr --labels blobs.txt --per-class -k 3 --dry-run",
    "plan, sweep": "sweep plain.npy -k 5 --alphas auto,1,2 --etas 0,1 --dry-run",
}

# Run as they stand: what a person sees on standard output and standard error, and the files written.
TEXTS = {
    "text, select": "select blobs.npy --labels blobs.txt -k 4 --assignment assigned.csv",
    "text, select, classes": "select table.csv --method fwsr --label-column kind --id-column name --per-class -k 2"
                             " -o picks.csv",
    "text, select, fill": "select few.npy --method fwsr -k 8 --alpha 40 --when-converged stop --delta 0.02 --fill"
                          " --quiet",
    "text, select, sparse": "select words.npz -k 4",
    "text, select, standard input": "select - -k 3 --kernel rbf < numbers.csv",
    "text, select, method": "select few.npy -k 3 --method kmedoids:metric=manhattan",
    "text, sweep": "sweep few.npy -k 3 --alphas auto,2 --etas 0,0.3",
    "text, sweep, file": "sweep few.npy -k 3 --alphas auto,2 -o settings.csv --quiet",
    "text, compare, file": "compare few.npy -k 3 --methods fwsr,rrqr,random --repeats 2 -o methods.csv --quiet",
    "text, inspect": "inspect table.csv --label-column kind --id-column name -k 4",
    "text, plan": "select plain.npy -k 5 --dry-run",
    "text, plan, many points": "select large.npy -k 100 --threads 1 --dry-run",
    "text, plan, classes": "select blobs.npy --method fwsr --labels blobs.txt --per-class -k 3 --dry-run",
    "text, plan, factor": "select long.npy --method fwsr -k 5 --kernel rbf --rank 64 --dry-run",
    "text, plan, given": "select gram.npy --method fwsr -k 5 --kernel precomputed --dry-run",
    "text, plan, gradient": "select plain.npy --method fwsr -k 5 --q 1 --dry-run",
    "text, plan, kmedoids": "select plain.npy -k 5 --method kmedoids --dry-run",
    "text, plan, precise": "select single.npy --method fwsr -k 5 --precise --codes codes.npy --dry-run",
    "text, plan, rbf": "select single.npy --method fwsr -k 5 --kernel rbf --eta 1 --dry-run",
    "text, plan, sparse": "select words.npz --method fwsr -k 5 --dry-run",
    "text, plan, streamed": "select large.npy --method fwsr -k 5 --memory 23M --threads 1 --dry-run",
    "text, plan, sweep": "sweep plain.npy -k 5 --alphas auto,1,2 --etas 0,1 --dry-run",
    "text, plan, tiles": "select long.npy --method fwsr -k 5 --kernel rbf --memory 6M --threads 1 --dry-run",
    "text, plan, wide": "select wide.npy --method fwsr -k 5 --dry-run",
    "text, generate": "generate blobs -o made.csv --labels made.txt --points 12 --dimensions 3 --clusters 2 --seed 4",
    "text, generate convex": "generate convex -o made.npy --points 20 --dimensions 5 --exemplars 4 --noise 0.1",
    "text, not of the default": "select few.npy -k 3 --alpha 5",
    "text, no such method": "select few.npy -k 3 --method kmedian",
    "text, more than there are points": "select few.npy --method fwsr -k 100 --kernel rbf --gamma 0.001 --quiet",
    "text, does not fit": "select long.npy --method fwsr -k 5 --kernel rbf --q 1 --memory 2M --threads 1",
}


def all_cases():
    """Name, command line, and whether it speaks JSON."""
    everything = "--assignment assigned.npy --json --quiet"
    for name, rest in SELECT.items():
        method = "" if "--method" in rest else " --method fwsr"
        yield name, f"select {rest}{method} {everything}", True
    for name, rest in DEFAULT.items():
        yield name, f"select {rest} {everything}", True
    for start, methods in METHODS.items():
        for method in methods.split():
            yield f"method {method}, {start}", f"select {start} --method {method} --seed 3 --json --quiet", True
    for name, rest in OTHERS.items():
        quiet = " --quiet" if not rest.startswith("inspect") else ""
        yield name, f"{rest} --json{quiet}", True
    for name, rest in TEXTS.items():
        yield name, rest, False
