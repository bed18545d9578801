# Options every target gets. Warnings are errors in our own sources; see tutti_library.cmake.
find_program(CCACHE ccache)
if(CCACHE)
  # The sloppiness lets ccache serve sources that use a precompiled header; its content is still part of the hash.
  set(ccache_command ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache_command})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${ccache_command})
endif()

# -Wno-restrict: g++ 12 reports string concatenation falsely (GCC bug 105651).
set(TUTTI_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Werror -Wno-restrict)

if(TUTTI_SANITIZE)
  add_compile_options(-fsanitize=${TUTTI_SANITIZE} -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${TUTTI_SANITIZE})
endif()
