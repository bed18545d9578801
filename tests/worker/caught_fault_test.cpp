#include "worker/caught_fault.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <new>
#include <string>
#include <utility>

#include "model/decoder_step/kernels.h"

namespace tutti {
namespace {

template <class Exception>
CaughtFault fault_of(const Exception& exception) {
  try {
    throw exception;
  } catch (...) {
    return caught_fault("decoding");
  }
}

CaughtFault written_by_torch(const std::string& text) {
  return fault_of(c10::Error({}, text));
}

TEST(CaughtFault, AnErrorOfTheCardThatALibraryNoticesFirstIsFatal) {
  for (const auto* text : {"CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx`",
                           "CUDA error: CUBLAS_STATUS_INTERNAL_ERROR when calling `cublasSgemm`",
                           "cuDNN error: CUDNN_STATUS_EXECUTION_FAILED_CUBLAS"}) {
    const auto fault = written_by_torch(text);
    EXPECT_TRUE(fault.fatal) << text;
    EXPECT_FALSE(fault.out_of_memory) << text;
    EXPECT_EQ(fault.error.fault, Fault::device) << text;
  }
}

TEST(CaughtFault, ALibraryThatFindsNoMemoryIsMetWithLess) {
  for (const auto* text : {"CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
                           "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
                           "[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory"}) {
    const auto fault = written_by_torch(text);
    EXPECT_TRUE(fault.out_of_memory) << text;
    EXPECT_FALSE(fault.fatal) << text;
    EXPECT_EQ(fault.error.fault, Fault::exhausted) << text;
  }
}

TEST(CaughtFault, UnsupportedOperationIsNotFatal) {
  for (const auto* text :
       {"CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasLtMatmul`",
        "cuDNN error: CUDNN_STATUS_NOT_SUPPORTED. This error may appear if you passed in a non-contiguous input.",
        "mat1 and mat2 shapes cannot be multiplied"}) {
    const auto fault = written_by_torch(text);
    EXPECT_FALSE(fault.fatal) << text;
    EXPECT_FALSE(fault.out_of_memory) << text;
  }
}

TEST(CaughtFault, MissingKernelIsNotFatalAndNamesTheBuildOption) {
  for (const auto& [code, output] : {std::pair(209, "no kernel image"), std::pair(98, "invalid device function")}) {
    const auto fault = fault_of(KernelError(code, output));
    EXPECT_FALSE(fault.fatal) << output;
    EXPECT_NE(fault.error.what.find("CMAKE_CUDA_ARCHITECTURES"), std::string::npos) << fault.error.what;
  }
  EXPECT_TRUE(fault_of(KernelError(700, "an illegal memory access")).fatal);
  EXPECT_TRUE(fault_of(std::bad_alloc()).out_of_memory);
}

TEST(CaughtFault, IsDescribedByActivityAndFirstLine) {
  EXPECT_EQ(written_by_torch("one line\nanother").error.what, "decoding: one line");
}

}  // namespace
}  // namespace tutti
