# Writes HEADER with the commit of the clone at SOURCE_DIR, if it is not what it says already.

set(commit "unknown")
if(EXISTS "${SOURCE_DIR}/.git")
  execute_process(
    COMMAND git -C "${SOURCE_DIR}" describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE found
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
    RESULT_VARIABLE failure)
  if(failure EQUAL 0)
    set(commit "${found}")
  endif()
endif()
set(text "#pragma once\n\n#define TANGERE_CLI_COMMIT \"${commit}\"\n")
set(old "")
if(EXISTS "${HEADER}")
  file(READ "${HEADER}" old)
endif()
if(NOT old STREQUAL text)
  file(WRITE "${HEADER}" "${text}")
endif()
