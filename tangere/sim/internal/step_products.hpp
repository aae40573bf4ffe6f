#pragma once

/// Pieces of the products with a step's derivative, shared by those of the next state and of impulses (private to sim).
/// All are of steps by hard contact without impacts, linearised in m.derivatives.

#include "tangere/sim/impulse_derivatives.hpp"
#include "tangere/sim/internal/hard_memory.hpp"

namespace tangere {

/// InputError for wrong sizes.
void require_tangent(const World& world, const char* name, const StateTangent& tangent);
void require_control(const World& world, VectorArgument du);

/// From the gradient of the next state to those of v⁺ (m.grad_v), of the old position (m.grad_q) and of the way
/// (m.delta).
void reverse_integration(const World& world, const Tape& tape, const StateTangent& g, HardMemory& m);
/// Adds what does not go through v⁺, and goes from the gradient of τ (m.tau) to that of the control.
void finish_reverse(const World& world, HardMemory& m, StateTangent& g_state, VectorX& g_u);

/// The forward product; of impulses only with LcpDerivatives::RowUse::all.
void forward_rows(const World& world, const Tape& tape, const StateTangent& d, VectorArgument du, HardMemory& m,
                  StateTangent& d_next, VectorX* d_impulses = nullptr);

/// How the impulses of one part of a step move.
void part_impulses(const World& world, const Tape& part, HardMemory& m, ImpulseJacobians& out);

}  // namespace tangere
