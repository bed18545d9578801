# tutti_library(<module> [TORCH] [LIGHT] [FOLDERS] [LIBS <target>...])
#
# Turns src/<module>, folders in it included, into the library tutti::<module>. TORCH puts the module below the torch line: it
# sees libtorch and shares the precompiled torch headers. The modules that its row in docs/layers.md names become part of the
# interface (layers.cmake); LIBS come from outside and stay private, so that nothing above sees them. LIGHT: no loop over samples, tokens or tasks
# runs here, and -O1 compiles in three quarters of the time. FOLDERS: with TUTTI_UNITY the files of a folder are compiled together.
function(tutti_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH;LIGHT;FOLDERS" "" "LIBS")
  if(NOT DEFINED TUTTI_LAYER_${name})
    message(FATAL_ERROR "docs/layers.md has no row for the module '${name}'")
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_cuda\\.cpp$")  # they are libtutti-cuda.so's, see libtorch.cmake
  set(deps ${TUTTI_LAYER_${name}})
  list(TRANSFORM deps PREPEND tutti::)

  if(sources)
    add_library(tutti_${name} STATIC ${sources})
    target_compile_options(tutti_${name} PRIVATE ${TUTTI_WARNINGS})
    if(arg_LIGHT)
      target_compile_options(tutti_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    endif()
    if(arg_FOLDERS AND TUTTI_UNITY)
      tutti_unite_folders(tutti_${name} ${sources})
    endif()
    target_include_directories(tutti_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(tutti_${name} PUBLIC ${deps} PRIVATE ${arg_LIBS})
    if(arg_TORCH)
      tutti_uses_torch(tutti_${name} PUBLIC)
    else()
      tutti_reuses(tutti_${name} standard)
    endif()
    set(avx512 "-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mfma;-mprefer-vector-width=512")
    tutti_instruction_set(avx2 "-mavx2;-mfma" ${sources})
    tutti_instruction_set(avxvnni "-mavx2;-mfma;-mavxvnni" ${sources})
    tutti_instruction_set(avx512 "${avx512}" ${sources})
    tutti_instruction_set(vnni "${avx512};-mavx512vnni" ${sources})
    tutti_instruction_set(bf16 "${avx512};-mavx512bf16" ${sources})
    tutti_instruction_set(amx "${avx512};-mamx-tile;-mamx-int8;-mamx-bf16" ${sources})
  else()
    add_library(tutti_${name} INTERFACE)
    target_include_directories(tutti_${name} INTERFACE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(tutti_${name} INTERFACE ${deps} ${arg_LIBS})
  endif()
  add_library(tutti::${name} ALIAS tutti_${name})
endfunction()

# Files of one folder are compiled together, eight at a time: headers are parsed once for them, which is more than half of the time.
# So the names in a folder's anonymous namespaces are distinct. Files with options of their own stay alone.
function(tutti_unite_folders target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # g++ takes a source that another one includes for a header, whose anonymous namespaces it warns of.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  set(count 0)
  set(last "")
  foreach(source ${ARGN})
    cmake_path(GET source PARENT_PATH folder)
    if(NOT folder STREQUAL last)
      set(last "${folder}")
      set(count 0)
    endif()
    math(EXPR group "${count} / 8")
    math(EXPR count "${count} + 1")
    string(MAKE_C_IDENTIFIER "${folder}_${group}" group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()

# Files named *_<set>.cpp are compiled for that instruction set; whoever calls them asks the processor first. They include nothing
# of torch, whose precompiled headers are made for every processor. psabi warns of functions that take or return vectors; theirs are
# their own. The two "uninitialized" are mistakes of g++ 12 about its own headers (GCC bug 105593).
function(tutti_instruction_set set options)
  set(sources ${ARGN})
  list(FILTER sources INCLUDE REGEX "_${set}\\.cpp$")
  # A sanitizer's checks of what is on the stack keep every sum in memory, forty times slower; those of the heap stay.
  if(TUTTI_SANITIZE)
    list(APPEND options -O3 -fno-sanitize=undefined -fno-sanitize-address-use-after-scope --param=asan-stack=0)
  endif()
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "${options};-ffp-contract=fast;-Wno-psabi;-Wno-uninitialized;-Wno-maybe-uninitialized" SKIP_PRECOMPILE_HEADERS ON)
endfunction()
