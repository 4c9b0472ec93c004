# `cmake --install`: the library with its public headers, the program, a CMake package and a .pc file.
include(CMakePackageConfigHelpers)

install(TARGETS fwsr EXPORT fwsr-targets FILE_SET HEADERS
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/fwsr)
install(EXPORT fwsr-targets NAMESPACE fwsr:: DESTINATION ${package_folder})
configure_package_config_file(cmake/fwsr-config.cmake.in fwsr-config.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(fwsr-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/fwsr-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/fwsr-config-version.cmake
        DESTINATION ${package_folder})

set(FWSR_PC_REQUIRES "openblas zlib fmt")
configure_file(cmake/fwsr.pc.in fwsr.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/fwsr.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES data/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME DATA.md)
