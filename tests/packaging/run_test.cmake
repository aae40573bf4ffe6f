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
      -D EXPECTED_VERSION=${VERSION})
  run("${CMAKE_COMMAND}" --build "${build}")
  run("${build}/outside")
endforeach()
