# Options every target gets. Warnings are errors in our own sources; see tutti_library.cmake.
find_program(CCACHE ccache)
if(CCACHE)
  # What ccache's manual asks for with precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
endif()

# -Wno-restrict: g++ 12 reports string concatenation falsely (GCC bug 105651).
set(TUTTI_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Werror -Wno-restrict)

if(TUTTI_SANITIZE)
  add_compile_options(-fsanitize=${TUTTI_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${TUTTI_SANITIZE})
  # With a sanitizer's checks in between g++ reports the standard library's own <regex> and <string>.
  list(APPEND TUTTI_WARNINGS -Wno-maybe-uninitialized -Wno-stringop-overread)
else()
  # Each function in a section of its own: a program leaves out those that it never calls. With TUTTI_UNITY it would
  # have a folder's files all, even if it needs one.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-ffunction-sections;-fdata-sections>")
  add_link_options(-Wl,--gc-sections)
endif()
