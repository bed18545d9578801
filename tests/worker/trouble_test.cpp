#include "worker/trouble.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <new>
#include <string>
#include <utility>

#include "model/step/kernels.h"

namespace tutti {
namespace {

template <class Exception>
Trouble trouble_of(const Exception& exception) {
  try {
    throw exception;
  } catch (...) {
    return current_trouble("decoding");
  }
}

Trouble said_by_torch(const std::string& text) {
  return trouble_of(c10::Error({}, text));
}

TEST(Trouble, AnErrorOfTheCardThatALibraryNoticesFirstIsFatal) {
  for (const auto* text : {"CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx`",
                           "CUDA error: CUBLAS_STATUS_INTERNAL_ERROR when calling `cublasSgemm`",
                           "cuDNN error: CUDNN_STATUS_EXECUTION_FAILED_CUBLAS"}) {
    const auto trouble = said_by_torch(text);
    EXPECT_TRUE(trouble.fatal) << text;
    EXPECT_FALSE(trouble.out_of_memory) << text;
    EXPECT_EQ(trouble.error.fault, Fault::device) << text;
  }
}

TEST(Trouble, ALibraryThatFindsNoMemoryIsMetWithLess) {
  for (const auto* text : {"CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
                           "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
                           "[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory"}) {
    const auto trouble = said_by_torch(text);
    EXPECT_TRUE(trouble.out_of_memory) << text;
    EXPECT_FALSE(trouble.fatal) << text;
    EXPECT_EQ(trouble.error.fault, Fault::exhausted) << text;
  }
}

TEST(Trouble, WhatALibraryDoesNotSupportLeavesTheCardSound) {
  for (const auto* text :
       {"CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasLtMatmul`",
        "cuDNN error: CUDNN_STATUS_NOT_SUPPORTED. This error may appear if you passed in a non-contiguous input.",
        "mat1 and mat2 shapes cannot be multiplied"}) {
    const auto trouble = said_by_torch(text);
    EXPECT_FALSE(trouble.fatal) << text;
    EXPECT_FALSE(trouble.out_of_memory) << text;
  }
}

TEST(Trouble, AKernelThatIsNotInThisBuildLeavesTheCardSound) {
  for (const auto& [code, said] : {std::pair(209, "no kernel image"), std::pair(98, "invalid device function")}) {
    const auto trouble = trouble_of(KernelError(code, said));
    EXPECT_FALSE(trouble.fatal) << said;
    EXPECT_NE(trouble.error.what.find("CMAKE_CUDA_ARCHITECTURES"), std::string::npos) << trouble.error.what;
  }
  EXPECT_TRUE(trouble_of(KernelError(700, "an illegal memory access")).fatal);
  EXPECT_TRUE(trouble_of(std::bad_alloc()).out_of_memory);
}

TEST(Trouble, IsToldInTheFirstLineBehindWhatWasDone) {
  EXPECT_EQ(said_by_torch("one line\nanother").error.what, "decoding: one line");
}

}  // namespace
}  // namespace tutti
