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
# few and short retries: who has no way out should hear of it at once
execute_process(
  COMMAND "${NPM}" ci --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=2 --fetch-retry-mintimeout=500
          --fetch-retry-maxtimeout=2000 --fetch-timeout=60000
  WORKING_DIRECTORY "${FOLDER}"
  RESULT_VARIABLE failure
  ERROR_VARIABLE complaint)
if(failure)
  if(complaint MATCHES "CERT|certificate")
    set(reason "npm does not trust the certificate it meets, as behind a proxy that has its own. Tell it the proxy's:\n"
               "  export NODE_EXTRA_CA_CERTS=/path/to/the/proxy/certificate.crt\n")
  elseif(complaint MATCHES "ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ECONNRESET|network")
    set(reason "npm does not reach its registry. Behind a proxy, tell it which one:\n" "  npm config set https-proxy <address>\n")
  else()
    set(reason "npm failed; its own words are above.\n")
  endif()
  string(CONCAT reason ${reason})
  message("${complaint}")
  message(FATAL_ERROR "The viewer's packages cannot be installed: ${reason}Everything but the viewer works without it:\n"
                      "  make demo VIEWER=OFF      (or: cmake --preset <preset> -D TANGERE_BUILD_VIEWER=OFF)\n")
endif()
file(WRITE "${stamp}" "${wanted}")
