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
if(TUTTI_NVCC)
  set(cuda_default ON)
else()
  set(cuda_default OFF)
endif()
option(TUTTI_CUDA "Link libtorch's CUDA half and build the CUDA kernels" ${cuda_default})

add_library(tutti_torch INTERFACE)
target_include_directories(tutti_torch SYSTEM INTERFACE
  ${TUTTI_LIBTORCH}/include ${TUTTI_LIBTORCH}/include/torch/csrc/api/include)
target_compile_definitions(tutti_torch INTERFACE _GLIBCXX_USE_CXX11_ABI=1)
target_link_directories(tutti_torch INTERFACE ${TUTTI_LIBTORCH}/lib)
# --disable-new-dtags: RPATH, unlike RUNPATH, also serves what libtorch itself loads (libcudart, libcupti, ...).
target_link_options(tutti_torch INTERFACE
  -Wl,--disable-new-dtags,-rpath,${TUTTI_LIBTORCH}/lib,-rpath,${TUTTI_CUDA_HOME}/lib64,-rpath-link,${TUTTI_LIBTORCH}/lib,-rpath-link,${TUTTI_CUDA_HOME}/lib64)
target_link_libraries(tutti_torch INTERFACE torch_cpu c10)

if(TUTTI_CUDA)
  # torch_cuda registers itself with torch_cpu when it is loaded, and no symbol of ours asks for it: hence --no-as-needed.
  # Measured on a machine without a GPU: start-up 0.3-0.4 s with it, 0.2 s without.
  target_link_libraries(tutti_torch INTERFACE -Wl,--no-as-needed torch_cuda c10_cuda -Wl,--as-needed)
  target_include_directories(tutti_torch SYSTEM INTERFACE ${TUTTI_CUDA_HOME}/include)
endif()

# The headers every room below the torch line needs, parsed once (ATen/ATen.h costs 15 s a file).
file(WRITE ${PROJECT_BINARY_DIR}/torch_headers.cpp "")
add_library(tutti_torch_headers OBJECT ${PROJECT_BINARY_DIR}/torch_headers.cpp)
target_compile_options(tutti_torch_headers PRIVATE ${TUTTI_WARNINGS})
target_link_libraries(tutti_torch_headers PRIVATE tutti_torch)
target_compile_options(tutti_torch INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # ccache asks for it
target_precompile_headers(tutti_torch_headers PRIVATE <ATen/ATen.h> <c10/core/InferenceMode.h>)

# tutti_uses_torch(<target> <scope>): libtorch and the precompiled headers, which are there whether included or not:
# sources still include what they use.
function(tutti_uses_torch target scope)
  target_link_libraries(${target} ${scope} tutti_torch)
  target_precompile_headers(${target} REUSE_FROM tutti_torch_headers)
  target_compile_options(${target} PRIVATE -fPIC)  # as the headers were compiled; CMake gives executables -fPIE
endfunction()
