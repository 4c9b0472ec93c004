"""The paper's experiments and those beyond it, one file of studies/ each; see scripts/reproduce."""
