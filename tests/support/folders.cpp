#include "tests/support/folders.hpp"

namespace tangere::test {

std::filesystem::path data_folder() { return TANGERE_TEST_DATA; }

std::filesystem::path scenes_folder() { return TANGERE_SCENES; }

}  // namespace tangere::test
