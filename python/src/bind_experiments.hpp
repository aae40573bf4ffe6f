#pragma once

#include <nanobind/nanobind.h>

namespace tangere::python {

/// Single runs of the papers' experiments.
void bind_experiments(nanobind::module_& m);

}  // namespace tangere::python
