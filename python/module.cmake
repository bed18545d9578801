# Included from the tree's CMakeLists.txt where TUTTI_PYTHON names a Python with nanobind: the extension module, and what the wheel
# has of the build. A program in the wheel finds libtorch in the package torch beside it.
set(Python_EXECUTABLE ${TUTTI_PYTHON})
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${TUTTI_PYTHON} -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED PATHS ${nanobind_ROOT} NO_DEFAULT_PATH)

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/bindings/*.cpp)
nanobind_add_module(tutti_python NB_STATIC NB_SUPPRESS_WARNINGS ${sources})
set_target_properties(tutti_python PROPERTIES OUTPUT_NAME _tutti LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python)
target_compile_options(tutti_python PRIVATE ${TUTTI_WARNINGS})
target_link_libraries(tutti_python PRIVATE tutti::public tutti::build_id)
# What the libraries export stays inside: another package may have a libstdc++ template or a tutti of its own.
target_link_options(tutti_python PRIVATE -Wl,--exclude-libs,ALL)

install(TARGETS tutti_python LIBRARY DESTINATION tutti COMPONENT wheel EXCLUDE_FROM_ALL)
install(TARGETS tutti RUNTIME DESTINATION tutti/bin COMPONENT wheel EXCLUDE_FROM_ALL)
if(TARGET tutti-engine)
  install(TARGETS tutti-engine RUNTIME DESTINATION tutti/bin COMPONENT wheel EXCLUDE_FROM_ALL)
endif()
if(TARGET tutti-cuda)
  install(TARGETS tutti-cuda LIBRARY DESTINATION tutti/bin COMPONENT wheel EXCLUDE_FROM_ALL)
endif()
