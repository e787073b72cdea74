//! Whether a log of two threads has a feasible interleaving.
