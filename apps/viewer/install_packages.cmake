# `npm ci`, unless the packages of this lock file are there. No package runs a script of its own on the way.
#
#   cmake -D NPM=<npm> -D FOLDER=<apps/viewer> -P install_packages.cmake

file(LOCK "${FOLDER}/.install.lock" GUARD PROCESS TIMEOUT 600)
file(SHA256 "${FOLDER}/package-lock.json" wanted)
set(stamp "${FOLDER}/node_modules/.tangere-lock")
if(EXISTS "${stamp}")
  file(READ "${stamp}" present)
  if(present STREQUAL wanted)
    return()
  endif()
endif()
execute_process(
  COMMAND "${NPM}" ci --ignore-scripts --no-audit --no-fund --loglevel=error
  WORKING_DIRECTORY "${FOLDER}"
  RESULT_VARIABLE failure)
if(failure)
  message(FATAL_ERROR "npm could not install the viewer's packages (no network?). Without the viewer everything else still "
                      "builds: cmake --preset <preset> -D TANGERE_BUILD_VIEWER=OFF")
endif()
file(WRITE "${stamp}" "${wanted}")
