#include "transcribe/batch/batch_pool.h"

#include <gtest/gtest.h>

#include "hub/memory_plan.h"
#include "jobs/open_store.h"
#include "support/environment.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

constexpr const char* kNano = TUTTI_SOURCE_DIR "/models/nano";

/// What a card is believed to keep of memory for every window in flight.
Bytes window_memory(const std::string& compute_type) {
  const ScopedVariable engine("TUTTI_ENGINE", "/proc/self/exe");  // it is only named here, not started
  const TempFolder folder;
  const auto store = open_store({.folder = folder / "state"}).value();
  BatchOptions options;
  options.run.model = kNano;
  options.run.compute_type = compute_type;
  options.devices = {
      {.id = "GPU-1",
       .device = {
           .kind = ResolvedDevice::Kind::cuda, .uuid = "GPU-1", .name = "a card", .memory = Bytes{16'000'000'000}}}};
  return pool_options(options, *store).value().devices.at(0).window_memory;
}

}  // namespace

TEST(BatchPool, ACardsWindowsTakeTheMemoryOfTheTypeThatTheCardWillTake) {
  const auto plan = memory_plan(*model_shape(kNano), *number_sizes("int8_float16"));
  EXPECT_EQ(window_memory("int8").value, plan.window.value + plan.sequence.value);
  EXPECT_EQ(window_memory("int8_float16").value, window_memory("int8").value);
  EXPECT_EQ(window_memory("auto").value, window_memory("float16").value);
  EXPECT_LT(window_memory("int8").value, window_memory("float16").value);
}
