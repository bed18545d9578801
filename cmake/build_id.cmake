# The build id: version, commit and a hash of all sources, so that `tutti` refuses an engine of another build. Included from
# CMakeLists.txt it makes the library tutti::build_id; run as a script at every build it rewrites the generated file only when
# the id changed, so nothing is compiled again for nothing. Only the executables link it: modules take the id as an argument.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(build_id_source ${PROJECT_BINARY_DIR}/generated/build_id.cpp)
  add_custom_target(tutti_build_id_source BYPRODUCTS ${build_id_source}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${build_id_source} -DVERSION=${PROJECT_VERSION}
            -P ${PROJECT_SOURCE_DIR}/cmake/build_id.cmake)
  add_library(tutti_build_id STATIC ${build_id_source})
  add_dependencies(tutti_build_id tutti_build_id_source)
  target_include_directories(tutti_build_id PUBLIC ${PROJECT_SOURCE_DIR}/src)
  add_library(tutti::build_id ALIAS tutti_build_id)
  return()
endif()

cmake_policy(SET CMP0009 NEW)
file(GLOB_RECURSE sources RELATIVE ${SOURCE} ${SOURCE}/src/* ${SOURCE}/apps/* ${SOURCE}/cmake/* ${SOURCE}/CMakeLists.txt)
list(SORT sources)
set(hashes "")
foreach(name IN LISTS sources)
  file(SHA256 ${SOURCE}/${name} hash)
  string(APPEND hashes "${name} ${hash}\n")
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING ${hash} 0 12 hash)
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=9 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE no_git)
set(id "${VERSION}")
if(no_git EQUAL 0)
  string(APPEND id " ${commit}")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[#include "base/build_id.h"

namespace tutti {

std::string_view build_id() { return "@id@ sources @hash@"; }

}  // namespace tutti
]] @ONLY)
