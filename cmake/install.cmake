# `cmake --install`: the library with its public headers, the program, a CMake package and a .pc file.
include(CMakePackageConfigHelpers)

install(TARGETS fwsr EXPORT fwsr-targets FILE_SET HEADERS FILE_SET version
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

# A static library leaves its own libraries to who links it, with or without `pkg-config --static`. OpenBLAS is named
# here and not required: with --static its .pc file asks for what only a static OpenBLAS needs, gfortran's library.
set(FWSR_PC_REQUIRES "")
set(FWSR_PC_LIBS "")
if(NOT BUILD_SHARED_LIBS)
  set(FWSR_PC_REQUIRES "zlib fmt")
  if(deflate_FOUND)
    string(APPEND FWSR_PC_REQUIRES " libdeflate")
  endif()
  list(TRANSFORM OpenMP_CXX_LIB_NAMES PREPEND -l OUTPUT_VARIABLE openmp_libraries)
  string(JOIN " " FWSR_PC_LIBS ${openblas_LDFLAGS} ${openmp_libraries})
  if(FWSR_WITH_CUDA)
    string(APPEND FWSR_PC_LIBS " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt -lpthread")
  endif()
endif()
# From where the file lies, so that `cmake --install --prefix` may put it anywhere.
file(RELATIVE_PATH FWSR_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" FWSR_PC_PREFIX "${FWSR_PC_PREFIX}")
configure_file(cmake/fwsr.pc.in fwsr.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/fwsr.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES data/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME DATA.md)
