#pragma once

/// The matrices of the public interface.
///
/// Declared unaligned: Eigen's alignment, and with it the way it allocates and frees, follows the compiler flags (SSE,
/// AVX, AVX-512), and a library built with native flags must stay binary compatible with a caller that is not. (A
/// `Vector3` or `Matrix3` is unaligned by its size.)

#include <Eigen/Core>

namespace tangere {

using Vector2 = Eigen::Matrix<double, 2, 1, Eigen::DontAlign>;
using Vector3 = Eigen::Vector3d;
using Vector4 = Eigen::Matrix<double, 4, 1, Eigen::DontAlign>;
using Vector6 = Eigen::Matrix<double, 6, 1, Eigen::DontAlign>;
using Vector12 = Eigen::Matrix<double, 12, 1, Eigen::DontAlign>;
using VectorX = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::DontAlign>;

using Matrix3 = Eigen::Matrix3d;
using Matrix4 = Eigen::Matrix<double, 4, 4, Eigen::DontAlign>;
using Matrix6 = Eigen::Matrix<double, 6, 6, Eigen::DontAlign>;
using Matrix3x12 = Eigen::Matrix<double, 3, 12, Eigen::RowMajor | Eigen::DontAlign>;
using Matrix4x12 = Eigen::Matrix<double, 4, 12, Eigen::RowMajor | Eigen::DontAlign>;
using MatrixX2 = Eigen::Matrix<double, Eigen::Dynamic, 2, Eigen::DontAlign>;
using MatrixX3 = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::DontAlign>;
using MatrixX4 = Eigen::Matrix<double, Eigen::Dynamic, 4, Eigen::DontAlign>;
using Matrix4X = Eigen::Matrix<double, 4, Eigen::Dynamic, Eigen::DontAlign>;
using MatrixX = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::DontAlign>;

}  // namespace tangere
