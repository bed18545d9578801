# Headers that nearly every file includes, parsed once: here those of modules above the torch line, in tests/CMakeLists.txt those
# of their tests, in libtorch.cmake torch's. Sources include what they use all the same, and clang-tidy compiles them without.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cpp CONTENT "")
add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fpch-preprocess>)  # ccache asks for it

# tutti_precompiled(<name> [OPTIONS <flag>...] HEADERS <header>...): the library tutti_<name>_pch, for targets to reuse from.
function(tutti_precompiled name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OPTIONS;HEADERS")
  add_library(tutti_${name}_pch STATIC ${PROJECT_BINARY_DIR}/precompiled.cpp)
  target_compile_options(tutti_${name}_pch PRIVATE ${arg_OPTIONS})
  target_precompile_headers(tutti_${name}_pch PRIVATE ${arg_HEADERS})
endfunction()

# tutti_reuses(<target> <name>). GCC takes a precompiled header only with the flags it was made with, and CMake compiles
# programs as -fPIE. In one it forgets what is a system's header: the false reports that -Wno-restrict is for
# (compiler.cmake) come under two more names.
function(tutti_reuses target name)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-fPIC;-Wno-stringop-overflow;-Wno-array-bounds>")
  target_precompile_headers(${target} REUSE_FROM tutti_${name}_pch)
endfunction()

set(standard_headers <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <filesystem> <functional> <map> <memory>
  <optional> <span> <string> <string_view> <tl/expected.hpp> <utility> <vector>)
tutti_precompiled(standard HEADERS ${standard_headers})
