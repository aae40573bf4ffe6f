#pragma once

/// The quadratic program of qp.hpp with one or two variables between bounds, solved exactly by looking at every face of
/// the box (DiffPills Algorithms 4 and 5).
///
/// Departures: any bounds, not 0 and 1; the answer is the face whose multiplier has the right sign, not the cheapest of
/// nine points (two costs that agree to rounding may be far apart in x); a singular Q (parallel segments) is told by a
/// relative test, and answered with the middle of the minimisers.

#include "tangere/solvers/qp/qp.hpp"

namespace tangere {

/// Solves a program of one or two variables whose rows are bounds: each row of G has one entry that is not zero, each
/// variable is bounded on both sides. Throws InputError if it is not of this form. `gradient_noise` is the rounding
/// error in Q x + q, below which a multiplier counts as zero (at least 1e-13 of its terms is assumed). Status:
/// always solved. Finite for every finite program.
void solve_active_set_2d(const QpProblem& problem, QpSolution& solution, double gradient_noise = 0.0);

}  // namespace tangere
