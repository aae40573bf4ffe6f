# Script of the packaging test: install, configure, build, run; any step that fails ends it.

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}")

run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --config "${CONFIG}" --prefix "${WORK_DIR}/prefix")

# the installed command finds the installed page and scenes
if(VIEWER)
  run("${WORK_DIR}/prefix/bin/tangere" view "${WORK_DIR}/prefix/share/tangere/scenes/arm.urdf" --html "${WORK_DIR}/arm.html")
  file(SIZE "${WORK_DIR}/prefix/share/tangere/viewer.html" page_size)
  if(page_size GREATER 900000)
    message(FATAL_ERROR "the page has ${page_size} bytes, more than 900 kB")
  endif()
endif()

# the program of the README is compiled as it stands there
file(READ "${OUTSIDE_DIR}/../../../README.md" readme)
string(FIND "${readme}" "```cpp\n" start)
string(SUBSTRING "${readme}" ${start} -1 readme)
string(SUBSTRING "${readme}" 7 -1 readme)
string(FIND "${readme}" "```" end)
if(start EQUAL -1 OR end EQUAL -1)
  message(FATAL_ERROR "README.md has no program in C++")
endif()
string(SUBSTRING "${readme}" 0 ${end} readme)
file(WRITE "${WORK_DIR}/readme.cpp" "${readme}")

# the outside project sees the prefix only, without this project's flags (a sanitizer's runtime must be shared, though)
set(flags "")
if(SANITIZE)
  set(flags "-fsanitize=${SANITIZE}")
endif()
# optimised and not: inlining decides whose copy of a template the linker keeps
foreach(build_type Release Debug)
  set(build "${WORK_DIR}/${build_type}")
  run("${CMAKE_COMMAND}"
      -S "${OUTSIDE_DIR}"
      -B "${build}"
      -G "${GENERATOR}"
      -D CMAKE_CXX_COMPILER=${CXX_COMPILER}
      -D CMAKE_CXX_FLAGS=${flags}
      -D CMAKE_BUILD_TYPE=${build_type}
      -D CMAKE_PREFIX_PATH=${WORK_DIR}/prefix
      -D EXPECTED_VERSION=${VERSION}
      -D README_PROGRAM=${WORK_DIR}/readme.cpp)
  run("${CMAKE_COMMAND}" --build "${build}")
  run("${build}/outside")
  run("${build}/programs" "${WORK_DIR}/prefix/share/tangere/scenes")
  # its scene is named from the root of the repository, which the installed data folder looks like
  execute_process(COMMAND "${build}/readme" WORKING_DIRECTORY "${WORK_DIR}/prefix/share/tangere" OUTPUT_VARIABLE said
                          COMMAND_ERROR_IS_FATAL ANY)
  message(STATUS "the program of the README says:\n${said}")
  if(NOT said MATCHES "exact\n")
    message(FATAL_ERROR "the Jacobian of the README's program is not exact")
  endif()
endforeach()
