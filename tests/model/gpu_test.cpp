#include "model/gpu.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <filesystem>

#include "model/gpu/gpu_uuid.h"
#include "model/gpu_part.h"

namespace tutti {
namespace {

TEST(Gpu, ADeviceThatIsNotThereIsAnErrorThatNamesIt) {
  const auto beyond = gpu::count();
  const auto facts = gpu::facts(beyond);
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().fault, Fault::missing);
  EXPECT_THAT(facts.error().what, testing::HasSubstr("cuda:" + std::to_string(beyond)));
  EXPECT_FALSE(gpu::memory(beyond));
  EXPECT_FALSE(gpu::memory(-1));
}

TEST(Gpu, TheCudaPartOfThisBuildCanBeLoadedWhateverThisMachineHas) {
  const std::filesystem::path library = TUTTI_BINARY_DIR "/bin/" + std::string(gpu::kLibrary);
  if (!std::filesystem::exists(library)) {
    EXPECT_EQ(gpu::count(), 0);
    GTEST_SKIP() << "this build has no CUDA part: " << library.string() << " is not there";
  }
  void* loaded = ::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  ASSERT_TRUE(loaded) << ::dlerror();
  auto* entry = reinterpret_cast<gpu::PartEntry*>(::dlsym(loaded, gpu::kPartEntry));
  ASSERT_TRUE(entry) << ::dlerror();
  EXPECT_EQ(entry()->count(), gpu::count());
  EXPECT_TRUE(c10::impl::hasDeviceGuardImpl(c10::DeviceType::CUDA)) << "libtorch's half did not come with it";
}

TEST(Gpu, AUuidIsWrittenAsTheDriversToolsDo) {
  std::array<std::byte, 16> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(0xf0 - 0x0f * i);
  EXPECT_EQ(gpu_uuid_text(bytes), "GPU-f0e1d2c3-b4a5-9687-7869-5a4b3c2d1e0f");
}

TEST(Gpu, EveryDeviceThatIsThereHasANameAUuidAndMemory) {
  for (int index = 0; index < gpu::count(); ++index) {
    const auto facts = gpu::facts(index);
    ASSERT_TRUE(facts) << facts.error().text();
    EXPECT_FALSE(facts->name.empty());
    EXPECT_THAT(facts->uuid, testing::MatchesRegex("GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"));
    const auto memory = gpu::memory(index);
    ASSERT_TRUE(memory) << memory.error().text();
    EXPECT_GT(memory->total.value, 0);
    EXPECT_LE(memory->free.value, memory->total.value);
    gpu::synchronize(index);
  }
  gpu::release_cached_memory();
}

}  // namespace
}  // namespace tutti
