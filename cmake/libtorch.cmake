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

# tutti_uses_torch(<target> <scope>): libtorch, and the precompiled headers (torch/torch.h costs 21 s a file without).
function(tutti_uses_torch target scope)
  target_link_libraries(${target} ${scope} tutti_torch)
endfunction()
