# A Debian package of what is installed: headers, library, command, docs, examples (`make deb`, or `cpack -G DEB` in a
# build folder). Programs find it by find_package(tangere).

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tangere)
set(CPACK_PACKAGE_VENDOR "Tangere")
set(CPACK_PACKAGE_CONTACT "The Tangere developers <tangere@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_NAME libtangere-dev)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# what the command needs is found by dpkg-shlibdeps; what programs that link the library need is this
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libeigen3-dev (>= 3.4), libqhull-dev, libtinyxml2-dev")
if(TANGERE_ASSIMP)
  string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", libassimp-dev, zlib1g-dev")
endif()
# not the Python package, which pip installs
set(CPACK_COMPONENTS_ALL Unspecified)
set(CPACK_DEB_COMPONENT_INSTALL OFF)
include(CPack)
