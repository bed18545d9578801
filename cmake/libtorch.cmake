# libtorch from the cache that tools/fetch_libtorch.py fills. The imported targets are written here by hand: the wheel's own
# TorchConfig drags in CUDA, MKL and a hundred warnings, and all we need is two include folders and the shared libraries.
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/fetch_libtorch.py --print
  OUTPUT_VARIABLE TUTTI_LIBTORCH OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(NOT EXISTS ${TUTTI_LIBTORCH}/complete)
  message(FATAL_ERROR "libtorch is not in ${TUTTI_LIBTORCH}: run tools/setup.sh (make build does)")
endif()

set(TUTTI_CUDA_HOME $ENV{CUDA_HOME})
if(NOT TUTTI_CUDA_HOME)
  set(TUTTI_CUDA_HOME /usr/local/cuda)
endif()
find_program(TUTTI_NVCC nvcc HINTS ${TUTTI_CUDA_HOME}/bin)
# nvcc alone does not make a toolkit that libtorch_cuda can be linked with.
if(TUTTI_NVCC AND EXISTS ${TUTTI_CUDA_HOME}/lib64/libcublas.so.13)
  set(cuda_default ON)
else()
  set(cuda_default OFF)
endif()
option(TUTTI_CUDA "Build libtutti-cuda.so, which brings libtorch's CUDA half" ${cuda_default})

# Compute capabilities for the .cu files: this machine's card if it has one, Hopper otherwise (CI). The package preset names all.
if(EXISTS /dev/nvidiactl)
  set(architectures_default native)
else()
  set(architectures_default 90)
endif()
set(CMAKE_CUDA_ARCHITECTURES ${architectures_default} CACHE STRING "CUDA compute capabilities to build kernels for")
if(TUTTI_CUDA)
  set(CMAKE_CUDA_COMPILER ${TUTTI_NVCC} CACHE FILEPATH "")
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)  # the one that libtorch uses, or there would be two
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc has it
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  endif()
endif()

add_library(tutti_torch INTERFACE)
target_include_directories(tutti_torch SYSTEM INTERFACE
  ${TUTTI_LIBTORCH}/include ${TUTTI_LIBTORCH}/include/torch/csrc/api/include)
target_compile_definitions(tutti_torch INTERFACE _GLIBCXX_USE_CXX11_ABI=1)
# --disable-new-dtags: RPATH, unlike RUNPATH, also serves what libtorch itself loads (libcudart, libcupti, ...).
target_link_options(tutti_torch INTERFACE
  -Wl,--disable-new-dtags,-rpath,${TUTTI_CUDA_HOME}/lib64,-rpath-link,${TUTTI_LIBTORCH}/lib,-rpath-link,${TUTTI_CUDA_HOME}/lib64)
# Full paths, so that CMake itself keeps the RPATH: the cache in the build tree, lib/tutti once installed.
target_link_libraries(tutti_torch INTERFACE ${TUTTI_LIBTORCH}/lib/libtorch_cpu.so ${TUTTI_LIBTORCH}/lib/libc10.so)
# at::parallel_for is a template that silently runs on one thread in files compiled without OpenMP. The library is torch's own
# copy, so that there is one team of threads and not two.
target_compile_options(tutti_torch INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fopenmp>)
target_link_libraries(tutti_torch INTERFACE ${TUTTI_LIBTORCH}/lib/libgomp.so.1)

# One precompiled ATen for every module below the line: <ATen/ATen.h> costs 15 s a file without it.
tutti_precompiled(torch HEADERS <ATen/ATen.h> <c10/core/InferenceMode.h>)
target_link_libraries(tutti_torch_pch PUBLIC tutti_torch)

# tutti_uses_torch(<target> <scope>): libtorch, and the precompiled headers.
function(tutti_uses_torch target scope)
  target_link_libraries(${target} ${scope} tutti_torch)
  tutti_reuses(${target} torch)
endfunction()

# tutti_cuda_library(): libtutti-cuda.so from the *_cuda.cpp and *.cu of all modules. Programs load it when they want a GPU (src/model/gpu.cpp),
# because libtorch's CUDA half, which comes with it, costs a process 0.1 to 0.2 s and 355 MB even where there is no GPU.
function(tutti_cuda_library)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*_cuda.cpp)
  # Kernels apart from the rest: they include nothing of torch, and nvcc takes none of g++'s options.
  file(GLOB_RECURSE kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cu)
  add_library(tutti_cuda_kernels STATIC ${kernels})
  target_include_directories(tutti_cuda_kernels PRIVATE ${PROJECT_SOURCE_DIR}/src)
  add_library(tutti-cuda MODULE ${sources})
  set_target_properties(tutti-cuda PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  target_compile_options(tutti-cuda PRIVATE ${TUTTI_WARNINGS})
  target_include_directories(tutti-cuda PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(tutti-cuda SYSTEM PRIVATE ${TUTTI_CUDA_HOME}/include)
  target_link_libraries(tutti-cuda PRIVATE tutti::base tutti_cuda_kernels)
  tutti_uses_torch(tutti-cuda PRIVATE)
  # Nothing names a symbol of libtorch_cuda: its kernels register themselves when it is loaded.
  target_link_libraries(tutti-cuda PRIVATE
    -Wl,--push-state,--no-as-needed ${TUTTI_LIBTORCH}/lib/libtorch_cuda.so -Wl,--pop-state ${TUTTI_LIBTORCH}/lib/libc10_cuda.so)
endfunction()

# tutti_loads_cuda(<program>): it finds libtutti-cuda.so beside itself, and has it built before itself.
function(tutti_loads_cuda program)
  set_property(TARGET ${program} APPEND PROPERTY BUILD_RPATH "$ORIGIN")
  if(TARGET tutti-cuda)
    add_dependencies(${program} tutti-cuda)
  endif()
endfunction()
