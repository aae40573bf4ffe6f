#include "experiments/experiment.hpp"
