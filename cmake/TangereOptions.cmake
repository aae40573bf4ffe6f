# How every target of this project is compiled. The interface target `tangere_options` is private to the build: nothing
# of it reaches those who use the installed package.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(TANGERE_CCACHE ccache)
mark_as_advanced(TANGERE_CCACHE)
if(TANGERE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${TANGERE_CCACHE}")
endif()

if(NOT CMAKE_RUNTIME_OUTPUT_DIRECTORY)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
endif()

add_library(tangere_options INTERFACE)

# warnings: the same set for both compilers, plus what only one of them knows
target_compile_options(
  tangere_options
  INTERFACE
    -Wall
    -Wextra
    -Wpedantic
    -Wshadow
    -Wfloat-conversion
    -Wdouble-promotion
    -Wold-style-cast
    -Wcast-qual
    -Wcast-align
    -Wformat=2
    -Wimplicit-fallthrough
    -Wnon-virtual-dtor
    -Woverloaded-virtual
    -Wextra-semi
    -Wundef
    -Wunused
    $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond>
    $<$<CXX_COMPILER_ID:GNU>:-Wlogical-op>
    # passing 32- and 64-byte vectors between our own functions is fine: all of them see the same flags
    $<$<CXX_COMPILER_ID:GNU>:-Wno-psabi>
    # false alarms of g++ 12, inside the AVX-512 intrinsics wherever Eigen vectorises and in std::string; clang and the sanitizers watch these
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
    $<$<CXX_COMPILER_ID:Clang>:-Wcomma>
    $<$<CXX_COMPILER_ID:Clang>:-Wrange-loop-analysis>)
# nothing here reads errno or floating-point traps; this lets roots and selections be single instructions (NaN and infinity keep their meaning)
target_compile_options(tangere_options INTERFACE -fno-math-errno -fno-trapping-math)
# g++ may use memory before it collects garbage: a tenth less time for a file full of Eigen
target_compile_options(
  tangere_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-expand=300>
                            $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1000000>)
if(TANGERE_WERROR)
  target_compile_options(tangere_options INTERFACE -Werror)
endif()

if(TANGERE_NATIVE)
  target_compile_options(tangere_options INTERFACE -march=native)
endif()

if(TANGERE_SANITIZE)
  target_compile_options(
    tangere_options
    INTERFACE -fsanitize=${TANGERE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
              # what the address sanitizer sees anyway, at a third of the build's time
              -fno-sanitize=null,object-size)
  target_link_options(tangere_options INTERFACE -fsanitize=${TANGERE_SANITIZE})
  # fences are nothing the thread sanitizer knows; what they guard in Boost.Asio has mutexes as well
  if(TANGERE_SANITIZE MATCHES "thread")
    target_compile_definitions(tangere_options INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
endif()

if(TANGERE_CHECK_MEMORY)
  target_compile_definitions(tangere_options INTERFACE EIGEN_INITIALIZE_MATRICES_BY_NAN EIGEN_RUNTIME_NO_MALLOC)
endif()

target_compile_definitions(
  tangere_options INTERFACE $<$<OR:$<BOOL:${TANGERE_ASSERTS}>,$<CONFIG:Debug,RelWithDebInfo>>:TANGERE_ENABLE_ASSERTS>)

# tangere_precompile(target header...) or (target REUSE_FROM other): its sources find these headers read already. Only
# other people's headers, and only in `dev`: that ours include what they need is seen by every other preset.
function(tangere_precompile target)
  if(NOT TANGERE_PRECOMPILE)
    return()
  endif()
  if("${ARGV1}" STREQUAL "REUSE_FROM")
    target_precompile_headers(${target} ${ARGN})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
  if(TANGERE_CCACHE)
    # ccache looks into precompiled headers only when told so
    set_target_properties(
      ${target} PROPERTIES CXX_COMPILER_LAUNCHER
                           "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${TANGERE_CCACHE}")
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  endif()
endfunction()
