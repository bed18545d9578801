#include "flow/failures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <stdexcept>

namespace {

thread_local bool has_no_memory = false;  // of this thread

}  // namespace

void* operator new(std::size_t size) {
  if (has_no_memory) throw std::bad_alloc();
  if (void* memory = std::malloc(std::max<std::size_t>(size, 1))) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace tutti {
namespace {

/// The error that a stage of that name reports for an exception, with or without memory for the text.
template <class Exception>
Error reported(const std::string& stage, const Exception& exception, bool has_memory) {
  try {
    throw exception;
  } catch (...) {
    has_no_memory = !has_memory;
    Error error = error_of_exception(stage);
    has_no_memory = false;
    return error;
  }
}

TEST(Failures, OutOfMemoryErrorNamesStageAndRemedy) {
  const auto error = reported("decode", std::bad_alloc(), true);
  EXPECT_EQ(error.fault, Fault::exhausted);
  EXPECT_EQ(error.what, "stage 'decode': memory ran out");
  EXPECT_NE(error.hint.find("ulimit -v"), std::string::npos);
}

TEST(Failures, OutOfMemoryIsReportedWithoutAllocating) {
  const auto error = reported("a stage of so long a name that it takes memory", std::bad_alloc(), false);
  EXPECT_EQ(error.fault, Fault::exhausted);
  EXPECT_EQ(error.what, "memory ran out");
}

TEST(Failures, AnotherExceptionIsABrokenPromiseOfOurs) {
  const auto error = reported("decode", std::runtime_error("a bug"), true);
  EXPECT_EQ(error.fault, Fault::internal);
  EXPECT_EQ(error.what, "stage 'decode' threw an exception: a bug");
}

}  // namespace
}  // namespace tutti
